import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

interface Layout {
  /** SQL that makes the tables. */
  readonly tables: string;
  /** Other than 0; a file of another version is made anew. */
  readonly version: number;
}

/**
 * Opens a database that is derived from the log, or makes it: one that is damaged or of another layout is
 * thrown away. Nothing waits for the disk, since what a power cut takes away is read again.
 * @param file its path, whose folder is made too; `:memory:` keeps it in memory
 */
export function openDerivedFile(file: string, layout: Layout): DatabaseSync {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  try {
    return openChecked(file, layout);
  } catch {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    return openChecked(file, layout);
  }
}

/** @throws Error when the file is damaged or of another layout */
function openChecked(file: string, { tables, version }: Layout): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (found === version) return database;
    if (found !== 0) throw new Error(`The file has the layout ${found} instead of ${version}.`);
    database.exec(tables);
    database.exec(`PRAGMA user_version = ${version}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
