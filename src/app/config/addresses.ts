import { parseServerAddress } from '#adapters/projection-store/server-address.ts';
import { isLoopbackHost } from '#http/same-origin.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';

/** Whether a part of the service is in this process or on servers, as the URL of its setting says. */
const embedded = { kind: 'embedded' } as const;
type EmbeddedAddress = typeof embedded;

type Server = { readonly kind: 'server'; readonly url: string };
export type ServerAddress = EmbeddedAddress | Server;

export interface KafkaAccess {
  readonly kind: 'kafka';
  /** `host:port` of each. */
  readonly brokers: readonly string[];
  readonly isTls: boolean;
  readonly sasl: Sasl | null;
}
/** Address and user, as clients of Kafka take them. */
export const kafkaAccessOptions = ({ brokers, isTls, sasl }: Omit<KafkaAccess, 'kind'>) => ({
  brokers,
  ...(isTls ? { ssl: true } : {}),
  ...(sasl === null ? {} : { sasl }),
});

export type LogAddress = EmbeddedAddress | KafkaAccess;

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

interface Sasl {
  readonly mechanism: (typeof mechanisms)[number];
  readonly username: string;
  readonly password: string;
}

/** `embedded:`, or a URL of one of the schemes. */
export function server(...schemes: readonly string[]) {
  const expected = ['embedded:', ...schemes.map((name) => `${name}://host:port`)].join(' or ');
  return (text: string): ServerAddress => {
    if (text === 'embedded:') return embedded;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !schemes.includes(url.protocol.slice(0, -1)) || url.hostname === '') {
      throw new Error(`expected ${expected}, got "${maskedUrl(text)}"`);
    }
    decoded(url.username);
    decoded(url.password);
    return { kind: 'server', url: text };
  };
}

const kafkaUrl =
  /^kafka(?<tls>\+ssl)?:\/\/(?:(?<user>[^:@/?]+):(?<password>[^@/?]+)@)?(?<brokers>[^@/?]+)\/?(?:\?(?<query>.*))?$/;
const broker = /^(?:[\w.-]+|\[[\da-fA-F:]+\]):(?<port>\d{1,5})$/;
const portMax = 65_535;

function isBroker(text: string): boolean {
  const port = Number(broker.exec(text)?.groups?.['port'] ?? 0);
  return port > 0 && port <= portMax;
}

/** `embedded:`, `kafka://host:port,…` or `kafka+ssl://user:password@host:port,…?sasl=scram-sha-512`. */
export function logAddress(text: string): LogAddress {
  if (text === 'embedded:') return embedded;
  const parts = kafkaUrl.exec(text)?.groups;
  const brokers = (parts?.['brokers'] ?? '').split(',').map((name) => name.trim());
  if (parts === undefined || !brokers.every(isBroker)) {
    throw new Error(
      'expected embedded:, kafka://host:port,host:port or ' +
        `kafka+ssl://user:password@host:port, got "${maskedUrl(text)}"`,
    );
  }
  const isTls = parts['tls'] !== undefined;
  return { kind: 'kafka', brokers, isTls, sasl: saslOf(parts, isTls) };
}

type Parts = Readonly<Record<string, string | undefined>>;

function saslOf({ user, password, query }: Parts, isTls: boolean): Sasl | null {
  const params = new URLSearchParams(query ?? '');
  const unknown = [...params.keys()].find((name) => name !== 'sasl');
  if (unknown !== undefined) throw new Error(`"${unknown}" is no parameter of a Kafka URL`);
  const name = params.get('sasl');
  if (user === undefined || password === undefined) {
    if (name !== null) throw new Error('sasl= needs user:password@ before the brokers');
    return null;
  }
  const mechanism = mechanisms.find((one) => one === (name ?? 'scram-sha-512'));
  if (mechanism === undefined) {
    throw new Error(`expected sasl=${mechanisms.join(' or sasl=')}, got "${name}"`);
  }
  if (mechanism === 'plain' && !isTls) {
    throw new Error('sasl=plain would show the password to the network: use kafka+ssl://');
  }
  return { mechanism, username: decoded(user), password: decoded(password) };
}

/** @throws Error without the text, which may contain a password */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new Error('write each "%" of a user or password as "%25"', { cause });
  }
}

/** `embedded:`, or the URL of a ClickHouse server with its database. */
export function tablesAddress(text: string): ServerAddress {
  const address = server('http', 'https')(text);
  if (address.kind === 'server') parseServerAddress(address.url);
  return address;
}

/** An http(s) URL to which paths are appended, without a trailing slash. */
export function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isWeb && url.username + url.password + url.search + url.hash === '') {
    return withoutTrailingSlashes(text);
  }
  throw new Error(
    `expected http://host or https://host, with a port and a path at most, got "${maskedUrl(text)}"`,
  );
}

/** An https URL, or one of http on loopback, exactly as the provider writes it. */
export function issuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.username + url.password + url.search + url.hash === '';
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.host));
  if (isPlain && isSafe) return text;
  throw new Error(`expected https://host, with a path at most, got "${maskedUrl(text)}"`);
}

const origin = /^https?:\/\/(\*\.)?[a-z0-9][a-z0-9.-]*(:\d{1,5})?$/i;

/** `smtp://` or `smtps://` with a host. */
export function mailServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isMail = url?.protocol === 'smtp:' || url?.protocol === 'smtps:';
  if (isMail && url.hostname !== '') return text;
  throw new Error(`expected smtp://user:password@host:port or smtps://…, got "${maskedUrl(text)}"`);
}

/** A comma-separated list of origins whose first label may be `*`; or `*` alone. */
export function origins(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const wrong = names.find((name) => name !== '*' && !origin.test(name));
  if (wrong === undefined) return names;
  throw new Error(`expected origins such as https://app.example.com, got "${maskedUrl(wrong)}"`);
}

/** The text without passwords in URLs, before the host and in the query; works for any text. */
export function maskedUrl(text: string): string {
  const host = text.lastIndexOf('@') + 1;
  const scheme = text.lastIndexOf('//', host);
  const user = scheme < 0 ? 0 : scheme + 2;
  const colon = text.indexOf(':', user);
  const credentials =
    colon >= 0 && colon < host ? `${text.slice(user, colon)}:***@` : text.slice(user, host);
  const rest = text
    .slice(host)
    .replace(/([?&][^=&?]*=)[^&]+/g, (pair, name: string) =>
      name.slice(1) === 'sasl=' ? pair : `${name}***`,
    );
  return text.slice(0, user) + credentials + rest;
}
