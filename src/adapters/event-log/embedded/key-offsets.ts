import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

/**
 * The newest offset of each key during the compaction of a partition. Beyond 16 MiB in a scratch file, so that
 * memory does not limit the number of keys.
 */
export class KeyOffsets {
  private readonly file: string;
  private readonly db: DatabaseSync;
  private readonly put: StatementSync;
  private readonly find: StatementSync;

  constructor(directory: string) {
    this.file = join(directory, 'compaction.sqlite');
    rmSync(this.file, { force: true });
    this.db = new DatabaseSync(this.file);
    this.db.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA cache_size = -16384;
      CREATE TABLE keys (key TEXT PRIMARY KEY, newest INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      BEGIN;`);
    this.put = this.db.prepare(`INSERT INTO keys VALUES (?, ?)
      ON CONFLICT (key) DO UPDATE SET newest = excluded.newest`);
    this.find = this.db.prepare('SELECT newest FROM keys WHERE key = ?');
    this.find.setReturnArrays(true);
  }

  set(key: string, offset: number): void {
    this.put.run(key, offset);
  }

  get(key: string): number | undefined {
    const row = this.find.get(key) as unknown as [number] | undefined;
    return row?.[0];
  }

  [Symbol.dispose](): void {
    this.db.close();
    rmSync(this.file, { force: true });
  }
}
