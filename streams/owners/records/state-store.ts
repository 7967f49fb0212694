import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { RecordState } from '../../../src/modules/records/state.ts';
import { createRows, type RowWriter } from './rows.ts';

/** How far the store has come; all of it is in the log, so that the store may be lost. */
export interface Progress {
  /** Next offsets to read of `svc.records.v1` and `svc.internal.streams.v1`. */
  readonly changes: number;
  readonly heads: number;
  /** The last decided command; -1 for none. */
  readonly command: number;
  readonly epoch: number;
  readonly lastModifiedAt: number;
  /** When these offsets were the ends (ms since the epoch). */
  readonly atEndAt: number;
}

export interface KeptPayload {
  /** Null once pruned. */
  readonly bytes: Uint8Array | null;
  readonly isSealed: boolean;
}

export interface StoredHead {
  readonly no: number;
  readonly key: string;
  readonly head: Uint8Array;
}

export interface Placed {
  readonly position: number;
  readonly id: string;
}

/** Ids or positions in one question; their order in memory makes neighbours cheap. */
const questionMax = 100;

/** Raised when what is kept has another form: the store is then rebuilt. */
const form = 1;

/**
 * State rows are small, for each save looks one up; payloads stand apart in the order of positions, which
 * is that of appending (measured.md section 5).
 */
const tables = `
  CREATE TABLE IF NOT EXISTS progress (
    id INTEGER PRIMARY KEY CHECK (id = 1), changes INTEGER, heads INTEGER, command INTEGER,
    epoch INTEGER, last_modified_at INTEGER, at_end_at INTEGER);
  CREATE TABLE IF NOT EXISTS streams (no INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, head BLOB);
  CREATE TABLE IF NOT EXISTS records (
    stream INTEGER, id TEXT, hash TEXT, position INTEGER, version INTEGER, first_seen_at INTEGER,
    modified_at INTEGER, deleted_at INTEGER, pruned_at INTEGER, PRIMARY KEY (stream, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS payloads (
    stream INTEGER, position INTEGER, id TEXT, is_sealed INTEGER, payload BLOB,
    PRIMARY KEY (stream, position)) WITHOUT ROWID;`;

type StateRow = [string, string, number, number, number, number, number | null, number | null];
type PayloadRow = [number, number, Uint8Array | null];

/**
 * The state of one partition in SQLite. A transaction is always open: what was written is kept by `commit`
 * and forgotten by `close` without it. `synchronous=NORMAL`, because the log restores it.
 */
export class StateStore implements Disposable {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #records: RowWriter;
  readonly #payloads: RowWriter;
  readonly #gone: RowWriter;
  /** A part under way: what it wrote is in memory only, or under a savepoint. */
  #part: 'held' | 'saved' | null = null;

  constructor(file: string) {
    const db = new DatabaseSync(file);
    this.#db = db;
    try {
      db.exec(
        `PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
         PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=4000; PRAGMA temp_store=MEMORY`,
      );
      this.#checkForm();
      db.exec(tables);
      db.exec('BEGIN IMMEDIATE');
      this.#records = createRows(db, 'INSERT OR REPLACE INTO records VALUES', 9);
      this.#payloads = createRows(db, 'INSERT OR REPLACE INTO payloads VALUES', 5);
      this.#gone = createRows(
        db,
        'DELETE FROM payloads WHERE (stream, position) IN (VALUES',
        2,
        ')',
      );
    } catch (error) {
      db.close();
      throw error;
    }
  }

  progress(): Progress | null {
    const row = this.#statement(
      'SELECT changes, heads, command, epoch, last_modified_at, at_end_at FROM progress',
    ).get() as number[] | undefined;
    if (row === undefined) return null;
    const [changes = 0, heads = 0, command = -1, epoch = 0, lastModifiedAt = 0, atEndAt = 0] = row;
    return { changes, heads, command, epoch, lastModifiedAt, atEndAt };
  }

  /** Keeps everything written so far, durable against a crash of the process. */
  commit(progress: Progress): void {
    const { changes, heads, command, epoch, lastModifiedAt, atEndAt } = progress;
    this.flush();
    this.#statement('INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?, ?, ?)').run(
      changes,
      heads,
      command,
      epoch,
      lastModifiedAt,
      atEndAt,
    );
    this.#db.exec('COMMIT; BEGIN IMMEDIATE');
  }

  /**
   * Begins a part that `undo` takes back; `keep` ends it. What the part writes is held in memory for as long
   * as it reads nothing: under a savepoint SQLite copies each page that is changed, which with ids in random
   * order costs more than the change.
   */
  savepoint(): void {
    this.flush();
    this.#part = 'held';
  }
  keep(): void {
    if (this.#part === 'saved') this.#statement('RELEASE part').run();
    this.#part = null;
  }
  undo(): void {
    this.#forget();
    if (this.#part === 'saved') this.#db.exec('ROLLBACK TO part; RELEASE part');
    this.#part = null;
  }

  stream(key: string): { readonly no: number; readonly head: Uint8Array | null } | null {
    const row = this.#statement('SELECT no, head FROM streams WHERE key = ?').get(key) as
      [number, Uint8Array | null] | undefined;
    return row === undefined ? null : { no: row[0], head: row[1] };
  }

  addStream(key: string): number {
    this.#protect();
    const made = this.#statement('INSERT INTO streams (key) VALUES (?)').run(key);
    return Number(made.lastInsertRowid);
  }

  putHead(no: number, head: Uint8Array | null): void {
    this.#protect();
    this.#statement('UPDATE streams SET head = ? WHERE no = ?').run(head, no);
  }

  heads(): Iterable<StoredHead> {
    const rows = this.#statement('SELECT no, key, head FROM streams WHERE head IS NOT NULL').all();
    return (rows as unknown as [number, string, Uint8Array][]).map(([no, key, head]) => {
      return { no, key, head };
    });
  }

  /** The states of the known ones among the ids. */
  states(stream: number, ids: readonly string[]): Map<string, RecordState> {
    this.flush();
    const found = new Map<string, RecordState>();
    for (let at = 0; at < ids.length; at += questionMax) {
      const some = ids.slice(at, at + questionMax);
      const rows = this.#statement(
        `SELECT id, hash, position, version, first_seen_at, modified_at, deleted_at, pruned_at
         FROM records WHERE stream = ? AND id IN (${marksFor(some.length)})`,
      ).all(stream, ...some) as unknown as StateRow[];
      for (const [
        id,
        hash,
        position,
        version,
        firstSeenAt,
        modifiedAt,
        deletedAt,
        prunedAt,
      ] of rows) {
        const times = { firstSeenAt, modifiedAt, deletedAt, prunedAt };
        found.set(id, { hash, position, version, ...times });
      }
    }
    return found;
  }

  /** Payloads by position. */
  payloads(stream: number, positions: readonly number[]): Map<number, KeptPayload> {
    this.flush();
    const found = new Map<number, KeptPayload>();
    for (let at = 0; at < positions.length; at += questionMax) {
      const some = positions.slice(at, at + questionMax);
      const rows = this.#statement(
        `SELECT position, is_sealed, payload FROM payloads
         WHERE stream = ? AND position IN (${marksFor(some.length)})`,
      ).all(stream, ...some) as unknown as PayloadRow[];
      for (const [position, isSealed, bytes] of rows) {
        found.set(position, { bytes, isSealed: isSealed === 1 });
      }
    }
    return found;
  }

  /** Records by position, both ends inclusive. */
  placed(stream: number, from: number, through: number, limit: number): Placed[] {
    return this.#placed('', stream, from, through, limit);
  }

  /** The same without those whose payload is gone. */
  placedWithPayload(stream: number, from: number, through: number, limit: number): Placed[] {
    return this.#placed('AND payload IS NOT NULL', stream, from, through, limit);
  }

  #placed(and: string, stream: number, from: number, through: number, limit: number): Placed[] {
    this.flush();
    const rows = this.#statement(
      `SELECT position, id FROM payloads WHERE stream = ? AND position BETWEEN ? AND ? ${and}
       ORDER BY position LIMIT ?`,
    ).all(stream, from, through, limit) as unknown as [number, string][];
    return rows.map(([position, id]) => ({ position, id }));
  }

  put(stream: number, id: string, state: RecordState): void {
    const { hash, position, version, firstSeenAt, modifiedAt, deletedAt, prunedAt } = state;
    this.#records.add(
      stream,
      id,
      hash,
      position,
      version,
      firstSeenAt,
      modifiedAt,
      deletedAt,
      prunedAt,
    );
  }

  putPayload(stream: number, position: number, id: string, payload: KeptPayload): void {
    this.#payloads.add(stream, position, id, payload.isSealed ? 1 : 0, payload.bytes);
  }

  removePayload(stream: number, position: number): void {
    this.#gone.add(stream, position);
  }

  remove(stream: number, id: string): void {
    this.flush();
    this.#protect();
    this.#statement('DELETE FROM records WHERE stream = ? AND id = ?').run(stream, id);
  }

  /** Writes what is held back for many rows at a time. Places are never taken again: removals come last. */
  flush(): void {
    if (this.#records.isEmpty && this.#payloads.isEmpty && this.#gone.isEmpty) return;
    this.#protect();
    this.#records.flush();
    this.#payloads.flush();
    this.#gone.flush();
  }

  /** Before the first write of a part that goes to SQLite while the part may still be taken back. */
  #protect(): void {
    if (this.#part !== 'held') return;
    this.#part = 'saved';
    this.#statement('SAVEPOINT part').run();
  }

  #forget(): void {
    this.#records.forget();
    this.#payloads.forget();
    this.#gone.forget();
  }

  /** Forgets what was not committed. */
  [Symbol.dispose](): void {
    this.#db.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** @throws Error when the file was made by another version */
  #checkForm(): void {
    const row = this.#db.prepare('PRAGMA user_version').get() as { user_version: number };
    if (row.user_version === 0) this.#db.exec(`PRAGMA user_version=${form}`);
    else if (row.user_version !== form) throw new Error('The state store has another form.');
  }
}

const listsOfMarks: string[] = [];

function marksFor(count: number): string {
  return (listsOfMarks[count] ??= Array<string>(count).fill('?').join(','));
}
