import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKeyInput,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { calculateJwkThumbprint, compactDecrypt, decodeProtectedHeader, exportJWK } from 'jose';
import { parseExactJson } from '#kernel/exact-json.ts';
import { textAt } from '#kernel/json-path.ts';
import { parsePrivateKey } from '#kernel/pem.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import { CommandFailure } from '../exit.ts';
import type { SectionName } from './mapping.ts';
import { idOf } from './read.ts';
import { SourceFailure } from './source.ts';

/**
 * Opens the sealed part of entries of `svc export`: fields as a compact JWE, bound to the name of the entry by `sub`.
 * @throws CommandFailure when the key cannot be read
 */
export async function openerOf(
  root: string,
  file: string | undefined,
): Promise<(kind: SectionName, entry: JsonObject) => Promise<JsonObject>> {
  const key = file === undefined ? null : readPrivateKey(resolve(root, file), file);
  const kid =
    key === null ? null : await calculateJwkThumbprint(await exportJWK(createPublicKey(key)));
  return async (kind, entry) => {
    const { sealed, ...plain } = entry;
    if (typeof sealed !== 'string') return entry;
    if (key === null) throw new CommandFailure('The file is encrypted: open it with --private-key');
    if (kidOf(sealed) !== kid)
      throw new CommandFailure(`${file} is not the key that opens the file`);
    return { ...plain, ...(await opened(sealed, key, subjectOf(kind, entry))) };
  };
}

/** The address of an endpoint is sealed itself. */
const subjectOf = (kind: SectionName, entry: JsonObject): string =>
  `${kind}/${kind === 'webhook_endpoints' ? (textAt(entry, 'id') ?? '') : idOf(kind, entry)}`;

function readPrivateKey(path: string, file: string): KeyObject {
  try {
    const text = readFileSync(path, 'utf8');
    return text.trimStart().startsWith('{')
      ? createPrivateKey({ key: JSON.parse(text) as JsonWebKeyInput['key'], format: 'jwk' })
      : parsePrivateKey(text);
  } catch (error) {
    // A parser's message may quote the key.
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing ? 'there is no such file' : 'it is no private key (PEM or JWK)';
    throw new CommandFailure(`Could not read ${file}: ${reason}`);
  }
}

function kidOf(sealed: string): string | undefined {
  try {
    return decodeProtectedHeader(sealed).kid;
  } catch {
    return undefined;
  }
}

async function opened(sealed: string, key: KeyObject, subject: string): Promise<JsonObject> {
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(sealed, key, {
      keyManagementAlgorithms: ['RSA-OAEP-256', 'ECDH-ES'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    const value: unknown = parseExactJson(Buffer.from(plaintext).toString());
    if (protectedHeader['sub'] === subject && isJsonObject(value)) return value;
  } catch {
    throw new SourceFailure('its sealed part was changed', null);
  }
  throw new SourceFailure('its sealed part belongs to another entry', null);
}
