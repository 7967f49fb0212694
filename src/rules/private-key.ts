import type { KeyObject } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { parsePrivateKey } from '#kernel/pem.ts';

/**
 * A private key in PEM, in any of the spellings that `restorePem` reads, or in base64.
 * @throws GatewayError `invalid_credentials`
 */
export function privateKeyOf(text: string): KeyObject {
  try {
    return parsePrivateKey(text);
  } catch (cause) {
    throw unusableKey(cause);
  }
}

export function unusableKey(cause: unknown): GatewayError {
  const message =
    'The key cannot sign: send the complete private key in PEM, or the secret as the provider shows it.';
  return new GatewayError('invalid_credentials', { message }, { cause });
}

export function isRsaPrivateKey(text: string): boolean {
  try {
    return parsePrivateKey(text).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
