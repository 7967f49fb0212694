import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CheckedDatabase } from './checked-database.ts';

export interface Layout {
  /** SQL that creates the tables. */
  readonly tables: string;
  /** Other than 0; a file of another version is replaced. */
  readonly version: number;
}

/**
 * Opens or creates a database that is derived from the log. A corrupt one, or one of another layout, is deleted and
 * recreated. Writes are not synced to disk: after a power loss the content is read from the log again.
 * @param file its path, whose folder is created too; `:memory:` keeps it in memory
 * @param replaced called with why an earlier file was not used
 */
export function openDisposableDatabase(
  file: string,
  layout: Layout,
  replaced?: (reason: string) => void,
): CheckedDatabase {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  try {
    return openChecked(file, layout);
  } catch (error) {
    removeDisposableDatabase(file);
    const database = openChecked(file, layout);
    replaced?.(error instanceof Error ? error.message : String(error));
    return database;
  }
}

/** Removes a database that can be rebuilt from the log, with SQLite's side files. */
export function removeDisposableDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-crc']) rmSync(`${file}${suffix}`, { force: true });
}

/** Files of earlier releases, without checksums of their pages, are verified up to this size. */
const readThroughBytes = 64 * 1024 ** 2;

/** @throws Error when the file is corrupt */
export function mustBeWhole(database: CheckedDatabase, file: string): void {
  if (file === ':memory:' || database.wasCompared) return;
  if (statSync(file).size > readThroughBytes) return;
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  if (found !== 'ok') throw new Error(`${file} is damaged: ${found}`);
}

/** Of the write-ahead file, as SQLite's default. */
const checkpointPages = 1000;

/** @throws Error when the file is corrupt or of another layout */
function openChecked(file: string, { tables, version }: Layout): CheckedDatabase {
  const database = new CheckedDatabase(file, 'PRAGMA synchronous = NORMAL', checkpointPages);
  try {
    const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (found === version) {
      mustBeWhole(database, file);
      return database;
    }
    if (found !== 0) throw new Error(`The file has the layout ${found} instead of ${version}.`);
    database.exec(tables);
    database.exec(`PRAGMA user_version = ${version}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
