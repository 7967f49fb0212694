import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

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
 */
export function openDisposableDatabase(file: string, layout: Layout): DatabaseSync {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  try {
    return openChecked(file, layout);
  } catch {
    removeDisposableDatabase(file);
    return openChecked(file, layout);
  }
}

/** Removes a database that can be rebuilt from the log, with SQLite's side files. */
export function removeDisposableDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

/** Files up to this size are verified when opened; corruption of a larger one shows when a page is read. */
const readThroughBytes = 64 * 1024 ** 2;

/** @throws Error when the file is corrupt */
export function mustBeWhole(database: DatabaseSync, file: string): void {
  if (file === ':memory:') return;
  const { size } = statSync(file);
  // SQLite pads a truncated last page with zeros and reports no error.
  const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  if (size % pageBytes !== 0) throw new Error(`${file} is damaged: its last page is cut off`);
  if (size > readThroughBytes) return;
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  if (found !== 'ok') throw new Error(`${file} is damaged: ${found}`);
}

/** @throws Error when the file is corrupt or of another layout */
function openChecked(file: string, { tables, version }: Layout): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
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
