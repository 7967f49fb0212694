import { createHash, createHmac, createPublicKey, sign } from 'node:crypto';
import { isoMillis, type Instant } from '#kernel/time.ts';
import { canonicalPairs, type OutgoingCall } from './outgoing-call.ts';
import { privateKeyOf, unusableKey } from './private-key.ts';

interface FunctionValues {
  readonly now: Instant;
  readonly call?: OutgoingCall | undefined;
}

/** A function of templates (docs/reference/provider-format.md#templates). */
export interface TemplateFunction {
  /**
   * How the argument is split at its commas: not at all, at the last one (a message that may have commas, then a key),
   * or at each.
   */
  readonly split: 'whole' | 'last' | 'each';
  /**
   * Null: the value counts as unresolved.
   * @throws GatewayError `invalid_credentials`
   */
  apply(args: readonly string[], values: FunctionValues): string | null;
}

const whole = (apply: (text: string) => string): TemplateFunction => ({
  split: 'whole',
  apply: ([text = '']) => apply(text),
});
const keyed = (apply: (message: string, key: string) => string): TemplateFunction => ({
  split: 'last',
  apply: ([message = '', key = '']) => apply(message, key),
});
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data);

export const templateFunctions: Readonly<Record<string, TemplateFunction>> = {
  base64: whole((text) => Buffer.from(text).toString('base64')),
  sha256Hex: whole((text) => sha256(text).digest('hex')),
  sha256Base64: whole((text) => sha256(text).digest('base64')),
  hmacSha1Hex: keyed((message, key) => createHmac('sha1', key).update(message).digest('hex')),
  ed25519Sign: keyed(ed25519Signature),
  fingerprint: whole(publicKeyFingerprint),
  awsSigV4: { split: 'each', apply: awsAuthorization },
};

/** Base64 of the signature (RFC 8032). */
function ed25519Signature(message: string, pem: string): string {
  const key = privateKeyOf(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw unusableKey(new TypeError('no Ed25519 key'));
  return sign(null, Buffer.from(message), key).toString('base64');
}

/** `SHA256:` and base64 of the digest of the public key (SubjectPublicKeyInfo, DER) of a private key. */
function publicKeyFingerprint(pem: string): string {
  const publicKey = createPublicKey(privateKeyOf(pem)).export({ type: 'spki', format: 'der' });
  return `SHA256:${sha256(publicKey).digest('base64')}`;
}

const hmac = (key: string | Uint8Array, text: string) =>
  createHmac('sha256', key).update(text).digest();

/**
 * `Authorization` of AWS Signature Version 4 over host, `x-amz-date` and content type; the definition sends
 * `x-amz-date` itself as `${now:YYYYMMDDTHHmmss}Z`. The host is that of the call unless one is passed.
 */
function awsAuthorization(
  [id, secret, region, service, givenHost]: readonly string[],
  { now, call }: FunctionValues,
): string | null {
  if (call === undefined || service === undefined || region === undefined) return null;
  const time = `${isoMillis(now).slice(0, 19).replace(/[:-]/g, '')}Z`;
  const { contentType, method, url, body } = call;
  const headers: [string, string][] = [
    ...(contentType === '' ? [] : [['content-type', contentType] satisfies [string, string]]),
    ['host', givenHost ?? url.host],
    ['x-amz-date', time],
  ];
  const names = headers.map(([name]) => name).join(';');
  const request = [
    method,
    url.pathname,
    canonicalPairs([...url.searchParams]),
    ...headers.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    sha256(body).digest('hex'),
  ].join('\n');
  const scope = [time.slice(0, 8), region, service, 'aws4_request'];
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(request).digest('hex')];
  const key = scope.reduce<string | Uint8Array>(hmac, `AWS4${secret ?? ''}`);
  const signature = createHmac('sha256', key).update(text.join('\n')).digest('hex');
  return `AWS4-HMAC-SHA256 Credential=${id ?? ''}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`;
}
