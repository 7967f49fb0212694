import { createHmac } from 'node:crypto';
import { canonicalPairs } from '#rules/outgoing-call.ts';
import { percentEncoded as encode } from '#rules/url.ts';

export interface Oauth1Signing {
  readonly method: string;
  readonly url: URL;
  /** Pairs of a form body; they are signed with the query. */
  readonly form: readonly (readonly [string, string])[];
  readonly consumerKey: string;
  readonly consumerSecret: string;
  readonly token?: string | undefined;
  readonly tokenSecret?: string | undefined;
  readonly algorithm: 'HMAC-SHA1' | 'HMAC-SHA256' | 'PLAINTEXT';
  readonly realm?: string | undefined;
  /** Further protocol parameters: `oauth_callback`, `oauth_verifier`. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly nonce: string;
}

/** The `Authorization` header of a signed request (RFC 5849 section 3). */
export function oauth1Header(signing: Oauth1Signing): string {
  const parameters: Record<string, string> = {
    oauth_consumer_key: signing.consumerKey,
    ...(signing.token === undefined ? {} : { oauth_token: signing.token }),
    oauth_signature_method: signing.algorithm,
    oauth_timestamp: String(signing.timestamp),
    oauth_nonce: signing.nonce,
    oauth_version: '1.0',
    ...signing.extra,
  };
  const all = { ...parameters, oauth_signature: signatureOf(signing, parameters) };
  const realm = signing.realm === undefined ? [] : [`realm="${encode(signing.realm)}"`];
  const pairs = Object.entries(all).map(([name, value]) => `${encode(name)}="${encode(value)}"`);
  return `OAuth ${[...realm, ...pairs].join(', ')}`;
}

function signatureOf(signing: Oauth1Signing, parameters: Record<string, string>): string {
  const { consumerSecret, tokenSecret = '', algorithm } = signing;
  const key = `${encode(consumerSecret)}&${encode(tokenSecret)}`;
  if (algorithm === 'PLAINTEXT') return key;
  const digest = algorithm === 'HMAC-SHA1' ? 'sha1' : 'sha256';
  return createHmac(digest, key).update(baseString(signing, parameters)).digest('base64');
}

/** Section 3.4.1: method, address without query, and every parameter in order. */
export function baseString(
  { method, url, form }: Pick<Oauth1Signing, 'method' | 'url' | 'form'>,
  parameters: Readonly<Record<string, string>>,
): string {
  const pairs = canonicalPairs([...url.searchParams, ...form, ...Object.entries(parameters)]);
  const address = `${url.origin}${url.pathname}`;
  return [method.toUpperCase(), encode(address), encode(pairs)].join('&');
}
