import { createPrivateKey, type KeyObject } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';

/**
 * A PEM whose line breaks may have been lost.
 * @throws GatewayError `invalid_credentials`
 */
export function privateKeyOf(text: string): KeyObject {
  try {
    return createPrivateKey(text.replaceAll('\\n', '\n').trim());
  } catch (cause) {
    throw unusableKey(cause);
  }
}

export function unusableKey(cause: unknown): GatewayError {
  const message =
    'The key cannot sign: send the complete private key in PEM, or the secret as the provider shows it.';
  return new GatewayError('invalid_credentials', { message }, { cause });
}
