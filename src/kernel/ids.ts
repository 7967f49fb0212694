import { createHash, randomFillSync } from 'node:crypto';

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** Uid of an environment (uuid v4). Never reused. */
export type EnvironmentUid = Brand<string, 'EnvironmentUid'>;
/** Uid of a connection (uuid v4). Never reused: a connection recreated under the same id gets another. */
export type ConnectionUid = Brand<string, 'ConnectionUid'>;
/** Id that the application gave the connection. Unique within one integration, not across them. */
export type ConnectionId = Brand<string, 'ConnectionId'>;
/** The integration's unique key; `provider_config_key` on the wire. */
export type IntegrationKey = Brand<string, 'IntegrationKey'>;
/** The text of a record's id, checked by `recordIdText`. */
export type RecordId = Brand<string, 'RecordId'>;
/**
 * A T encrypted under the key of its connection or environment. Safe on a topic or in a table; only a Cipher opens
 * it.
 */
export type Sealed<T> = Brand<string, 'Sealed'> & { readonly __of?: T };

/**
 * Key of a message: parts percent-encoded and joined by `/` (docs/reference/topics.md#messages), so that the parts
 * are unambiguous.
 */
export function joinKey(...parts: readonly string[]): string {
  return parts.map(encodePart).join('/');
}

/** By ASCII code: whether the character is unreserved (RFC 3986 section 2.3). */
const unreserved = Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_.~-]/.test(String.fromCharCode(code)),
);

/** Percent-encoded. Most names need no encoding, and checking that is cheaper than encoding. */
export function encodePart(part: string): string {
  for (let at = 0; at < part.length; at += 1) {
    if (unreserved[part.charCodeAt(at)] !== true) return encodeURIComponent(part);
  }
  return part;
}

/** The parts that `joinKey` joined. */
export function splitKey(key: string): string[] {
  return key.split('/').map((part) => decodeURIComponent(part));
}

/** UUID version 5 (RFC 9562 section 5.5) of `name` within `namespace`, a uuid. */
export function uuidV5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const uuidChars = 36;
/** The content of each position: a random digit, the version, the variant, a hyphen. */
const uuidForm = 'rrrrrrrr-rrrr-vrrr-wrrr-rrrrrrrrrrrr';
const hexDigits = '0123456789abcdef';
/** How many are generated at once. */
const uuidsDrawn = 256;
/** Uuids one after the other. */
let drawn = '';
let used = 0;

function drawUuids(): string {
  const bytes = randomFillSync(Buffer.alloc(uuidsDrawn * uuidChars));
  const codes = Array.from(hexDigits, (digit) => digit.charCodeAt(0));
  for (let first = 0; first < bytes.length; first += uuidChars) {
    for (let position = 0; position < uuidChars; position += 1) {
      const half = (bytes[first + position] ?? 0) & 0x0f;
      const form = uuidForm[position];
      let digit = half;
      if (form === 'v') digit = 4;
      else if (form === 'w') digit = (half & 0x3) | 0x8;
      bytes[first + position] = form === '-' ? 0x2d : (codes[digit] ?? 0);
    }
  }
  return bytes.toString('latin1');
}

/** UUID version 4 (RFC 9562 section 5.4). For hot paths: uuids are generated in batches. */
export function uuidV4(): string {
  if (used === drawn.length) {
    drawn = drawUuids();
    used = 0;
  }
  used += uuidChars;
  return drawn.slice(used - uuidChars, used);
}

/** UUID version 7 (RFC 9562 section 5.7): sorts by the time, in milliseconds since the epoch. */
export function uuidV7(at: number): string {
  const time = at.toString(16).padStart(12, '0');
  // A random uuid has its variant and 74 random bits in the same positions, and is generated in batches.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuidV4().slice(15)}`;
}
