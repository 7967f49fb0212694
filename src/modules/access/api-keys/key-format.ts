import { randomBytes } from 'node:crypto';

/** Prefix of a key, which names its kind. */
export const keyPrefixes = { environment: 'svc_env_', account: 'svc_acct_' } as const;
type KeyKind = keyof typeof keyPrefixes;

const secretBytes = 32;
const randomPart = /^[A-Za-z0-9_-]{43}$/;

/** Whether the text has the form of a key of the kind. */
export const isKeyOf = (kind: KeyKind, text: string): boolean =>
  text.startsWith(keyPrefixes[kind]) && randomPart.test(text.slice(keyPrefixes[kind].length));

/** Whether the text has the form of a key of any kind. */
export const isKeyFormat = (text: string): boolean =>
  isKeyOf('environment', text) || isKeyOf('account', text);

export const newSecret = (kind: KeyKind): string =>
  keyPrefixes[kind] + randomBytes(secretBytes).toString('base64url');
