import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { readWebhookSecret } from '#kernel/webhook-secret.ts';

/** Headers of one attempt (docs/reference/webhooks-out.md#headers). */
export type SignedHeaders = Readonly<Record<string, string>>;

/** Each as text, or as `whsec_` and the base64 of the text. */
export interface SigningKeys {
  readonly current: string;
  /** Still signs the Standard Webhooks header for a day after a rotation. */
  readonly previous: string | null;
}

const hmac = (key: string) => createHmac('sha256', readWebhookSecret(key));

/** Lower-case hex HMAC-SHA256 of the body. */
export function hmacSignature(signingKey: string, body: Uint8Array): string {
  return hmac(signingKey).update(body).digest('hex');
}

/** Lower-case hex SHA-256 of the signing key followed by the body: for receivers that use the old scheme. */
export function legacySignature(signingKey: string, body: Uint8Array): string {
  return createHash('sha256').update(readWebhookSecret(signingKey)).update(body).digest('hex');
}

/** Signs the exact bytes that are sent. `at` is in ms; the header is in seconds. */
export function signDelivery(
  keys: SigningKeys,
  message: { readonly id: string; readonly body: Uint8Array; readonly at: number },
): SignedHeaders {
  const { id, body } = message;
  const seconds = String(Math.floor(message.at / 1000));
  const standard = (key: string): string =>
    `v1,${hmac(key).update(`${id}.${seconds}.`).update(body).digest('base64')}`;
  const all = keys.previous === null ? [keys.current] : [keys.current, keys.previous];
  return {
    'x-svc-hmac-sha256': hmacSignature(keys.current, body),
    'x-svc-signature': legacySignature(keys.current, body),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': all.map(standard).join(' '),
  };
}

/**
 * For receivers: whether `X-Svc-Hmac-Sha256` was made with the key over exactly these bytes. Constant time. A blank
 * key, for example from an unset variable, verifies nothing, because anyone can sign with it.
 */
export function verifyDelivery(
  signingKey: string,
  body: Uint8Array | string,
  signature: string | undefined,
): boolean {
  if (signingKey.trim() === '' || readWebhookSecret(signingKey).length === 0) return false;
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return timingSafeEqual(Buffer.from(hmacSignature(signingKey, bytes)), Buffer.from(signature));
}
