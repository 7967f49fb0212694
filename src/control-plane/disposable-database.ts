import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

interface Layout {
  /** SQL that makes the tables. */
  readonly tables: string;
  /** Other than 0; a file of another version is rebuilt. */
  readonly version: number;
}

/**
 * Opens a database that is derived from the log, or makes it: one that is damaged or of another layout is
 * thrown away. Nothing waits for the disk, since what a power cut takes away is read again.
 * @param file its path, whose folder is made too; `:memory:` keeps it in memory
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

/** Removes a database that is made of the log again, with what SQLite keeps beside it. */
export function removeDisposableDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

/** Up to this size a file is read through when it is opened; damage in a larger one shows when it is met. */
const readThroughBytes = 64 * 1024 ** 2;

/** @throws Error when the file is not as it was written */
export function mustBeWhole(database: DatabaseSync, file: string): void {
  if (file === ':memory:') return;
  const { size } = statSync(file);
  // SQLite fills a last page that is cut off with zeros, and finds nothing wrong.
  const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  if (size % pageBytes !== 0) throw new Error(`${file} is damaged: its last page is cut off`);
  if (size > readThroughBytes) return;
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  if (found !== 'ok') throw new Error(`${file} is damaged: ${found}`);
}

/** @throws Error when the file is damaged or of another layout */
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
