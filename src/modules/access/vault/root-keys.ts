import { createHash, randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CannotStart } from '#kernel/cannot-start.ts';

const keyBytes = 32;

/** A key that wraps data keys; `id` does not reveal it. */
export interface RootKey {
  readonly id: string;
  readonly bytes: Buffer;
  /** The file that holds it; null: the setting. */
  readonly file: string | null;
}

/**
 * Root keys in base64, as a comma list: the first seals, all open.
 * @throws Error naming the entry that is not 32 bytes of base64, without its text
 */
export function parseRootKeys(list: string, file: string | null = null): readonly RootKey[] {
  return list.split(',').map((text, index) => ({ ...parse(text.trim(), index + 1), file }));
}

/** The root keys in the file. @throws CannotStart where it is missing or holds something else */
export function readRootKeys(file: string): readonly RootKey[] {
  try {
    return parseRootKeys(readFileSync(file, 'utf8'), file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The root key cannot be read from ${file}: ${reason}. ${restoreKey}`;
    throw new CannotStart(message, { cause });
  }
}

export const restoreKey =
  'Restore the file from its backup, or give the key in SVC_ENCRYPTION_KEY: nothing else opens what is sealed here.';

function parse(text: string, entry: number): Omit<RootKey, 'file'> {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== keyBytes || bytes.toString('base64') !== text) {
    throw new Error(
      `entry ${entry} must be ${keyBytes} bytes in base64 (openssl rand -base64 ${keyBytes})`,
    );
  }
  const id = createHash('sha256').update('svc root key').update(bytes).digest('hex').slice(0, 16);
  return { id, bytes };
}

/**
 * Creates the file with one key and mode 0600, unless it exists. The complete file is linked into place, so that two
 * concurrent first starts read the same key.
 */
export function makeRootKeyFile(file: string): void {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
