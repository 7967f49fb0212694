import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import type { Cipher } from '#ports/cipher.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const authTagLength = tagBytes;

/**
 * Random bytes are generated for this many nonces at once: a call for random bytes costs as much as sealing a
 * record.
 */
const nonces = Buffer.alloc(512 * nonceBytes);
let nextNonce = nonces.length;

function newNonce(): Buffer {
  if (nextNonce === nonces.length) {
    randomFillSync(nonces);
    nextNonce = 0;
  }
  nextNonce += nonceBytes;
  return nonces.subarray(nextNonce - nonceBytes, nextNonce);
}

/** AES-256-GCM under one key of 32 bytes. Sealed bytes: nonce, ciphertext, tag. */
export function createAesGcm(key: Uint8Array): Cipher {
  // The key object is created once; raw bytes would be imported with every call.
  const secret = createSecretKey(key);
  return {
    seal(plain, context) {
      const nonce = newNonce();
      const cipher = createCipheriv(algorithm, secret, nonce, { authTagLength });
      cipher.setAAD(Buffer.from(context));
      const sealed = Buffer.allocUnsafe(nonceBytes + plain.length + tagBytes);
      nonce.copy(sealed);
      // A stream mode: every byte comes out of `update`, none of `final`.
      cipher.update(plain).copy(sealed, nonceBytes);
      cipher.final();
      cipher.getAuthTag().copy(sealed, nonceBytes + plain.length);
      return sealed;
    },
    open(sealed, context) {
      if (sealed.length < nonceBytes + tagBytes) throw new GatewayError('invalid_credentials');
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, secret, nonce, { authTagLength });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
      try {
        const plain = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes));
        decipher.final();
        return plain;
      } catch (error) {
        throw new GatewayError('invalid_credentials', {}, { cause: error });
      }
    },
  };
}
