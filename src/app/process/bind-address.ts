import { once } from 'node:events';
import { createServer } from 'node:net';
import { hostAndPort } from '#http/host-and-port.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import type { Config } from '../config/config.ts';

/**
 * Checks that the address is free before anything is opened.
 * @throws CannotStart
 */
export async function mustBeFree(address: Pick<Config, 'host' | 'port'>): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw addressProblem(error, address) ?? error;
  }
  server.close();
  await once(server, 'close');
}

/** Why the server cannot listen on the address, for the operator; null: the error has another cause. */
export function addressProblem(
  cause: unknown,
  { host, port }: Pick<Config, 'host' | 'port'>,
): CannotStart | null {
  if (!(cause instanceof Error) || !('syscall' in cause) || !('code' in cause)) return null;
  if (cause.syscall !== 'listen' && cause.syscall !== 'getaddrinfo') return null;
  const code = String(cause.code);
  return new CannotStart(bindErrorText(code, host, hostAndPort(host, port)), { cause });
}

function bindErrorText(code: string, host: string, address: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `SVC_PORT: ${address} is taken by another process; stop it or choose another port (0 = any that is free).`;
    case 'EACCES':
      return `SVC_PORT: this user may not listen on ${address}; choose a port above 1023.`;
    default:
      return `SVC_HOST: ${host} cannot be listened on (${code}); name an address of this machine.`;
  }
}
