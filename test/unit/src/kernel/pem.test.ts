import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parsePrivateKey, parsePublicKey, restorePem } from '#kernel/pem.ts';

/** How a PEM arrives from forms, environment variables, JSON in JSON and editors. */
const spellings: Readonly<Record<string, (pem: string) => string>> = {
  'as it was written': (pem) => pem,
  'with CRLF': (pem) => pem.replaceAll('\n', '\r\n'),
  'with CR': (pem) => pem.replaceAll('\n', '\r'),
  'with literal \\n': (pem) => pem.replaceAll('\n', '\\n'),
  'with literal \\r\\n': (pem) => pem.replaceAll('\n', '\\r\\n'),
  'escaped twice': (pem) => pem.replaceAll('\n', '\\\\n'),
  'on one line with spaces': (pem) => pem.replaceAll('\n', ' '),
  'on one line': (pem) => pem.replaceAll('\n', ''),
  'in quotes': (pem) => JSON.stringify(pem),
  'with a byte order mark and space around': (pem) => `\ufeff \n${pem}\n\n `,
  'with indented lines': (pem) => pem.replaceAll('\n', '\n    '),
  'with lines of 76 characters': (pem) => {
    const lines = pem.trim().split('\n');
    const body = lines.slice(1, -1).join('');
    return [lines[0], ...(body.match(/.{1,76}/g) ?? []), lines.at(-1)].join('\n');
  },
  'without armor': bare,
  'without armor on one line': (pem) => bare(pem).replaceAll('\n', ''),
  'without armor, url-safe': (pem) => bare(pem).replaceAll('+', '-').replaceAll('/', '_'),
};

function bare(pem: string): string {
  return pem.trim().split('\n').slice(1, -1).join('\n');
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');
const pemOf = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1' | 'spki'): string =>
  key.export({ format: 'pem', type }).toString();

describe.each(Object.entries(spellings))('a key in PEM %s', (_, spell) => {
  it.each([
    ['RSA, PKCS 8', rsa.privateKey, 'pkcs8'],
    ['RSA, PKCS 1', rsa.privateKey, 'pkcs1'],
    ['EC, PKCS 8', ec.privateKey, 'pkcs8'],
    ['EC, SEC 1', ec.privateKey, 'sec1'],
    ['Ed25519', ed25519.privateKey, 'pkcs8'],
  ] as const)('is read as a private key (%s)', (__, key, type) => {
    expect(parsePrivateKey(spell(pemOf(key, type))).equals(key)).toBe(true);
  });

  it.each([
    ['RSA, SPKI', rsa.publicKey, 'spki'],
    ['RSA, PKCS 1', rsa.publicKey, 'pkcs1'],
    ['EC', ec.publicKey, 'spki'],
  ] as const)('is read as a public key (%s)', (__, key, type) => {
    expect(parsePublicKey(spell(pemOf(key, type))).equals(key)).toBe(true);
  });
});

describe('restored PEM', () => {
  it('keeps every block of a chain, and a block with headers unchanged', () => {
    const block = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(restorePem(`${block}${block}`.replaceAll('\n', ' '))).toBe(`${block}\n${block}`);
    const locked = rsa.privateKey
      .export({ format: 'pem', type: 'pkcs1', cipher: 'aes-256-cbc', passphrase: 'p' })
      .toString();
    expect(restorePem(locked)).toBe(locked.trim());
  });

  it.each(['', 'no key', '-----BEGIN PRIVATE KEY-----', 'AAAA'])('of %j is no key', (text) => {
    expect(() => parsePrivateKey(text)).toThrow();
    expect(() => parsePublicKey(text)).toThrow();
  });

  it('takes a private key for the public key that belongs to it only in PEM', () => {
    const pem = pemOf(rsa.privateKey, 'pkcs8').replaceAll('\n', ' ');
    expect(parsePublicKey(pem).equals(createPublicKey(rsa.privateKey))).toBe(true);
  });
});
