import { createHash, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CannotStart } from '../../kernel/cannot-start.ts';

const keyBytes = 32;

/** A key that wraps data keys; `id` names it without giving it away. */
export interface RootKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * The root keys: those of the setting (base64, comma list; the first seals, all open), or else those in
 * the file, which is made with one and mode 0600 when it is missing.
 * @throws CannotStart when a key is not 32 bytes of base64
 */
export function loadRootKeys(from: {
  readonly setting: string | null;
  readonly file: string;
}): readonly RootKey[] {
  if (from.setting !== null && from.setting !== '') {
    return parseList(from.setting, 'SVC_ENCRYPTION_KEY');
  }
  makeIfMissing(from.file);
  return parseList(readFileSync(from.file, 'utf8'), `The key file ${from.file}`);
}

function parseList(list: string, source: string): readonly RootKey[] {
  return list.split(',').map((text, index) => parse(text.trim(), `${source}, entry ${index + 1},`));
}

function parse(text: string, source: string): RootKey {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== keyBytes || bytes.toString('base64') !== text) {
    throw new CannotStart(
      `${source} must be ${keyBytes} bytes in base64 (openssl rand -base64 32).`,
    );
  }
  const id = createHash('sha256').update('svc root key').update(bytes).digest('hex').slice(0, 16);
  return { id, bytes };
}

/** Linked into place when whole, so that of two first starts both read the same key. */
function makeIfMissing(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    readFileSync(file);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  writeFileSync(draft, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
