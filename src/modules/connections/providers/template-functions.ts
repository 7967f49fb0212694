import { createHash, createHmac, createPublicKey, sign } from 'node:crypto';
import aws4 from 'aws4';
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

/**
 * `Authorization` of AWS Signature Version 4 over host, content type and the `x-amz-` headers. The definition sends
 * `x-amz-date` itself as `${now:YYYYMMDDTHHmmss}Z`, and for `s3` the digest of the body as `x-amz-content-sha256`. The
 * host is that of the call unless one is passed.
 */
function awsAuthorization(
  [id, secret, region, service, givenHost]: readonly string[],
  { now, call }: FunctionValues,
): string | null {
  if (call === undefined || service === undefined || region === undefined) return null;
  const time = `${isoMillis(now).slice(0, 19).replace(/[:-]/g, '')}Z`;
  const { contentType, method, url } = call;
  const body = typeof call.body === 'string' ? call.body : Buffer.from(call.body);
  const headers = {
    ...Object.fromEntries(
      Object.entries(call.headers).filter(([name]) => name.startsWith('x-amz-')),
    ),
    ...(contentType === '' ? {} : { 'content-type': contentType }),
    ...(service === 's3' ? { 'x-amz-content-sha256': sha256(body).digest('hex') } : {}),
    host: givenHost ?? url.host,
    'x-amz-date': time,
  };
  const signer = new aws4.RequestSigner(
    {
      method,
      path: awsPath(url, service),
      headers,
      body,
      service,
      region,
      doNotModifyHeaders: true,
      doNotEncodePath: true,
    },
    { accessKeyId: id ?? '', secretAccessKey: secret ?? '' },
  );
  // Otherwise that of a `date` header or of the clock.
  signer.datetime = time;
  return String(signer.sign().headers?.['Authorization']);
}

/**
 * Path and query as the signer keeps them: it decodes the path once and encodes it, which leaves a path that was
 * encoded here as it is sent, encoded once more; for `s3` as it is sent. A character beyond its own set makes the signer
 * encode the whole address again.
 */
function awsPath({ pathname, searchParams }: URL, service: string): string {
  const path =
    service === 's3'
      ? pathname.replace(/[^\w;,/:@&=+$.!~*'()%-]/g, encodeURIComponent)
      : pathname.split('/').map(encodeURIComponent).join('/');
  const query = canonicalPairs([...searchParams]);
  return query === '' ? path : `${path}?${query}`;
}
