import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { GatewayError } from '../../kernel/errors.ts';
import type { Cipher } from '../../ports/cipher.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM under one key of 32 bytes. Sealed bytes: nonce, ciphertext, tag. */
export function createAesGcm(key: Uint8Array): Cipher {
  return {
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      if (sealed.length < nonceBytes + tagBytes) throw new GatewayError('invalid_credentials');
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
      const body = sealed.subarray(nonceBytes, sealed.length - tagBytes);
      try {
        return Buffer.concat([decipher.update(body), decipher.final()]);
      } catch (error) {
        throw new GatewayError('invalid_credentials', {}, { cause: error });
      }
    },
  };
}
