import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DirectoryView } from '#adapters/event-log/embedded/row-format.ts';
import { isSealed, slotOf } from '#adapters/event-log/embedded/sealed-row.ts';

const keyBytes = 32;

/** Names of the files below the folder that hold the bytes. */
export async function filesWith(folder: string, bytes: Buffer): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
    if ((await readFile(join(parentPath, name))).includes(bytes)) found.push(name);
  }
  return found;
}

/** The keys of the sealed rows in a folder of an embedded log, by the message keys that the rows hold. */
export function rowKeysOf(directory: string): Map<string, Buffer> {
  const slots = readFileSync(join(directory, 'row-keys'));
  const keys = new Map<string, Buffer>();
  const db = new DatabaseSync(join(directory, 'log.sqlite'));
  for (const found of db.prepare('SELECT base, codec, directory, body FROM batches').iterate()) {
    const row = found as unknown as { base: number; codec: number } & Record<
      'directory' | 'body',
      Uint8Array
    >;
    if (!isSealed(row)) continue;
    const slot = slotOf(row.body);
    const key = slots.subarray(slot * keyBytes, (slot + 1) * keyBytes);
    const view = new DirectoryView(row);
    for (let i = 0; i < view.count; i++) keys.set(view.key(i), key);
  }
  db.close();
  return keys;
}

/** Every slot of the file of row keys, in order. */
export function slotsOf(directory: string): string[] {
  const slots = readFileSync(join(directory, 'row-keys'));
  return Array.from({ length: slots.length / keyBytes }, (_, slot) => {
    return slots.toString('hex', slot * keyBytes, (slot + 1) * keyBytes);
  });
}
