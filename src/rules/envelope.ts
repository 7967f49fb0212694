import { createPublicKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, CompactEncrypt, exportJWK } from 'jose';
import type { JsonObject } from '#kernel/stable-json.ts';

/** Who gets an export: the owner of the private key. */
export interface Recipient {
  /** JWK thumbprint (RFC 7638). */
  readonly keyId: string;
  /**
   * A compact JWE (RFC 7516) with A256GCM; `subject` names the entry whose fields it holds, so that it fits no other.
   */
  readonly seal: (subject: string, fields: JsonObject) => Promise<string>;
}

/** `cty` of the envelope is JSON. */
const contentEncryption = 'A256GCM';
const modulusBitsMin = 2048;
const modulusBitsMax = 8192;
const curves = ['P-256', 'P-384', 'P-521', 'X25519'];

/** @throws RangeError when the JWK is no public key that an export can be encrypted to */
export async function recipientOf(jwk: JsonObject): Promise<Recipient> {
  const key = publicKeyOf(jwk);
  const alg = algorithmOf(key, jwk);
  const keyId = await calculateJwkThumbprint(await exportJWK(key));
  return {
    keyId,
    seal: async (subject, fields) => {
      const header = { alg, enc: contentEncryption, cty: 'json', kid: keyId, sub: subject };
      const plain = Buffer.from(JSON.stringify(fields));
      return new CompactEncrypt(plain).setProtectedHeader(header).encrypt(key);
    },
  };
}

function publicKeyOf(jwk: JsonObject): KeyObject {
  if (jwk['d'] !== undefined || jwk['k'] !== undefined) {
    throw new RangeError('Send the public key only.');
  }
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new RangeError('Send a public key as JWK.');
  }
}

function algorithmOf(key: KeyObject, { crv }: JsonObject): 'RSA-OAEP-256' | 'ECDH-ES' {
  if (key.asymmetricKeyType === 'rsa') {
    const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    if (modulusLength >= modulusBitsMin && modulusLength <= modulusBitsMax) return 'RSA-OAEP-256';
    throw new RangeError(`An RSA key has ${modulusBitsMin} to ${modulusBitsMax} bits.`);
  }
  if (typeof crv === 'string' && curves.includes(crv)) return 'ECDH-ES';
  throw new RangeError(`Send an RSA key, or one of the curves ${curves.join(', ')}.`);
}
