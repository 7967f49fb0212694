import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

const block = /-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*)-----END [A-Z0-9 ]{1,40}-----/g;
const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * The PEM blocks of the text with the line breaks of RFC 7468, which forms, variables of an environment and JSON in JSON
 * replace by spaces or `\n`, or lose. Text without a block, and a block with headers, are returned unchanged.
 */
export function restorePem(text: string): string {
  const blocks = [...text.replace(/\\+[rn]/g, '\n').matchAll(block)].map(
    ([whole, label = '', body = '']) => {
      const packed = body.replace(/\s/g, '');
      if (!base64.test(packed)) return whole;
      const lines = packed.match(/.{1,64}/g) ?? [];
      return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
    },
  );
  return blocks.length === 0 ? text.trim() : blocks.join('\n');
}

/** The bytes of a key in base64 without its armor; null for other text. */
function bareBytes(text: string): Buffer | null {
  if (text.includes('-----')) return null;
  const packed = text.replace(/\\+[rn]|[\s"]/g, '');
  return base64.test(packed) ? Buffer.from(packed, 'base64') : null;
}

/**
 * A private key in PEM, or its bytes (PKCS 8, PKCS 1 or SEC 1) in base64.
 * @throws the error of the parser, which may quote the key
 */
export function parsePrivateKey(text: string): KeyObject {
  const bytes = bareBytes(text);
  if (bytes === null) return createPrivateKey(restorePem(text));
  return firstKey(['pkcs8', 'pkcs1', 'sec1'] as const, (type) =>
    createPrivateKey({ key: bytes, format: 'der', type }),
  );
}

/**
 * A public key or a certificate in PEM, or the bytes of a key (SPKI or PKCS 1) in base64.
 * @throws the error of the parser
 */
export function parsePublicKey(text: string): KeyObject {
  const bytes = bareBytes(text);
  if (bytes === null) return createPublicKey(restorePem(text));
  return firstKey(['spki', 'pkcs1'] as const, (type) =>
    createPublicKey({ key: bytes, format: 'der', type }),
  );
}

/** The key in the first format that it has: none of them is a valid other one. */
function firstKey<T>(types: readonly T[], parse: (type: T) => KeyObject): KeyObject {
  let failure: unknown;
  for (const type of types) {
    try {
      return parse(type);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
