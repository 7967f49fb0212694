/** Before the base64 of a key, as https://www.standardwebhooks.com writes keys. */
export const webhookSecretPrefix = 'whsec_';

/** The form in which the libraries of Standard Webhooks take a key. */
export const formatWebhookSecret = (key: Uint8Array): string =>
  `${webhookSecretPrefix}${Buffer.from(key).toString('base64')}`;

/**
 * The key that is written as `whsec_` and base64, or without the prefix in the encoding. Empty when the base64 holds
 * nothing.
 */
export const readWebhookSecret = (secret: string, encoding: BufferEncoding = 'utf8'): Buffer =>
  secret.startsWith(webhookSecretPrefix)
    ? Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64')
    : Buffer.from(secret, encoding);
