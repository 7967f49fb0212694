/** The parts of `http(s)://user:password@host:port/database`. */
export interface ServerAddress {
  /** Without credentials: for messages. */
  readonly origin: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** The server or its database cannot be used with its configuration: a retry does not help. */
export class UnusableServer extends Error {
  override readonly name = 'UnusableServer';
}

/** @throws UnusableServer */
export function parseServerAddress(url: string): ServerAddress {
  const { origin, username, password, pathname, search, hash } = new URL(url);
  const database = decode(pathname.slice(1)) || 'default';
  // It is used unescaped in statements, and names a folder of the server.
  if (!/^[A-Za-z_]\w*$/.test(database)) {
    throw new UnusableServer(
      `"${database}" is not a valid database name: use letters, digits and "_"`,
    );
  }
  if (search !== '' || hash !== '') {
    throw new UnusableServer(
      `nothing may follow the database; settings belong to the user's profile`,
    );
  }
  return {
    origin,
    user: decode(username) || 'default',
    password: decode(password),
    database,
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    const hint = 'write each "%" of a name or password as "%25"';
    throw new UnusableServer(`a part of it is not percent-encoded: ${hint}`, { cause });
  }
}
