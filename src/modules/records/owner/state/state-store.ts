import type { StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { CheckedDatabase } from '#control-plane/checked-database.ts';
import { mustBeWhole } from '#control-plane/disposable-database.ts';
import type { RecordState } from '../../model/decider.ts';
import type { AtRestEncryption, KeptPayload } from '../encryption.ts';
import { blockTables } from './payload-blocks.ts';
import { Payloads, type PayloadPosition } from './payloads.ts';
import { arrayStatements, RecordStates, stateTable } from './record-states.ts';

/** Progress of the store; the log has all of it, so that the store may be lost. */
export interface Progress {
  /** Next offsets to read of `svc.records.v1` and `svc.internal.streams.v1`. */
  readonly changes: number;
  readonly heads: number;
  /** The last decided command; -1 for none. */
  readonly command: number;
  /** The newest owner in each topic: a store that was read beside an owner may have one topic further. */
  readonly changesEpoch: number;
  readonly headsEpoch: number;
  readonly lastModifiedAt: number;
  /** The time at which these offsets were the ends (ms since the epoch). */
  readonly atEndAt: number;
}

/** Of the row of progress, in the order in which it is read. */
type Columns = [number, number, number, number, number, number, number];

const crcOf = (row: Columns): number => crc32(row.join());

export interface StoredHead {
  readonly no: number;
  readonly key: string;
  readonly head: Uint8Array;
}

/** Raised when the stored form changes: the store is then rebuilt. */
export const stateStoreVersion = 4;

const tables = `
  CREATE TABLE IF NOT EXISTS progress (
    id INTEGER PRIMARY KEY CHECK (id = 1), changes INTEGER, heads INTEGER, command INTEGER,
    changes_epoch INTEGER, heads_epoch INTEGER, last_modified_at INTEGER, at_end_at INTEGER);
  CREATE TABLE IF NOT EXISTS progress_checksum (id INTEGER PRIMARY KEY CHECK (id = 1), crc INTEGER);
  CREATE TABLE IF NOT EXISTS origin (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS streams (no INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, head BLOB);
  ${stateTable}
  ${blockTables}`;

const settings = `PRAGMA page_size=16384; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-49152;
  PRAGMA temp_store=MEMORY; PRAGMA secure_delete=FAST`;
/** Of the write-ahead file. */
const checkpointPages = 4000;

/**
 * The state of one partition in SQLite. A transaction is always open: `commit` keeps its writes, `close` without it
 * drops them. `synchronous=NORMAL`, because the log restores it.
 */
export class StateStore implements Disposable {
  readonly file: string;
  readonly #database: CheckedDatabase;
  readonly #statement: (sql: string) => StatementSync;
  readonly #records: RecordStates;
  readonly #payloads: Payloads;
  /** A part in progress: its writes are in memory only, or (of streams) under a savepoint as well. */
  #part: 'held' | 'saved' | null = null;
  #isErasing = false;

  /**
   * `origin` names the source of the store and is saved in the file.
   * @throws Error when the file was made by another version, or from another source
   */
  constructor(file: string, origin: string, sealing: AtRestEncryption) {
    this.file = file;
    const db = new CheckedDatabase(file, settings, checkpointPages);
    this.#database = db;
    this.#statement = arrayStatements(db);
    try {
      mustBeWhole(db, file);
      this.#checkForm();
      db.exec(tables);
      this.#checkOrigin(origin);
      db.exec('BEGIN IMMEDIATE');
      this.#records = new RecordStates(db);
      this.#payloads = new Payloads(db, sealing);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** @throws Error when it is not what was committed: it would be taken for evidence against the log */
  progress(): Progress | null {
    const row = this.#statement(
      `SELECT changes, heads, command, changes_epoch, heads_epoch, last_modified_at, at_end_at
       FROM progress`,
    ).get() as Columns | undefined;
    if (row === undefined) return null;
    const checksum = this.#statement('SELECT crc FROM progress_checksum').get() as
      | [number]
      | undefined;
    // Earlier releases write none.
    if (checksum !== undefined && checksum[0] !== crcOf(row))
      throw new Error('The progress of the state store is damaged.');
    const [changes, heads, command, changesEpoch, headsEpoch, lastModifiedAt, atEndAt] = row;
    return { changes, heads, command, changesEpoch, headsEpoch, lastModifiedAt, atEndAt };
  }

  /** Commits all writes, durable against a crash of the process. */
  commit(progress: Progress): void {
    const { changes, heads, command, changesEpoch, headsEpoch, lastModifiedAt, atEndAt } = progress;
    this.#records.write();
    this.#payloads.write();
    // oxfmt-ignore
    const row: Columns = [changes, heads, command, changesEpoch, headsEpoch, lastModifiedAt, atEndAt];
    this.#statement('INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?, ?, ?, ?)').run(...row);
    this.#statement('INSERT OR REPLACE INTO progress_checksum VALUES (1, ?)').run(crcOf(row));
    this.#database.exec('COMMIT');
    this.#database.checkpointWhenDue();
    this.#database.exec('BEGIN IMMEDIATE');
    if (this.#isErasing) this.#database.exec('PRAGMA secure_delete=FAST');
    this.#isErasing = false;
  }

  /** Frees the pages that SQLite keeps in memory, up to 48 MB. */
  shrink(): void {
    this.#database.exec('PRAGMA shrink_memory');
  }

  /** Data removed until the next commit is overwritten in the file, also whole pages, which writes more. */
  erase(): void {
    if (!this.#isErasing) this.#database.exec('PRAGMA secure_delete=ON');
    this.#isErasing = true;
  }

  /**
   * Begins a part that `undo` reverts; `keep` ends it. Records and payloads are pending in memory: under a savepoint
   * SQLite copies each changed page, which with ids in random order costs more than the change.
   */
  savepoint(): void {
    this.#records.begin();
    this.#payloads.begin();
    this.#part = 'held';
  }
  keep(): void {
    if (this.#part === 'saved') this.#statement('RELEASE part').run();
    this.#records.keep();
    this.#payloads.keep();
    this.#part = null;
  }
  undo(): void {
    this.#records.undo();
    this.#payloads.undo();
    if (this.#part === 'saved') this.#database.exec('ROLLBACK TO part; RELEASE part');
    this.#part = null;
  }

  stream(key: string): { readonly no: number; readonly head: Uint8Array | null } | null {
    const row = this.#statement('SELECT no, head FROM streams WHERE key = ?').get(key) as
      | [number, Uint8Array | null]
      | undefined;
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

  /** Streams that begin with the prefix, in the order of their numbers, after the given one. */
  headsAfter(after: number, limit: number, prefix = ''): StoredHead[] {
    const rows = this.#statement(
      `SELECT no, key, head FROM streams
       WHERE no > ? AND head IS NOT NULL AND substr(key, 1, ?) = ? ORDER BY no LIMIT ?`,
    ).all(after, prefix.length, prefix, limit) as unknown as [number, string, Uint8Array][];
    return rows.map(([no, key, head]) => ({ no, key, head }));
  }

  /** Records of the stream; only those with a payload that were modified at the time (µs) or before, when given. */
  count(stream: number, modifiedUntil: number | null): number {
    return this.#records.count(stream, modifiedUntil);
  }

  /** The states of the known ones among the ids. */
  states(stream: number, ids: readonly string[]): Map<string, RecordState> {
    return this.#records.read(stream, ids);
  }

  /** Payloads by position. */
  payloads(stream: number, positions: readonly number[]): Map<number, KeptPayload> {
    return this.#payloads.read(stream, positions);
  }

  /** Records by position, both ends inclusive. */
  placed(stream: number, from: number, through: number, limit: number): PayloadPosition[] {
    return this.#payloads.placed(stream, from, through, limit, false);
  }

  /** The same without those whose payload is gone. */
  placedWithPayload(
    stream: number,
    from: number,
    through: number,
    limit: number,
  ): PayloadPosition[] {
    return this.#payloads.placed(stream, from, through, limit, true);
  }

  put(stream: number, id: string, state: RecordState): void {
    this.#records.put(stream, id, state);
  }

  putPayload(stream: number, position: number, id: string, payload: KeptPayload): void {
    this.#payloads.put(stream, { position, id, payload });
  }

  removePayload(stream: number, position: number): void {
    this.#payloads.remove(stream, position);
  }

  remove(stream: number, id: string): void {
    this.#records.put(stream, id, null);
  }

  /** Called before the first write of a part that goes to SQLite while the part can still be undone. */
  #protect(): void {
    if (this.#part !== 'held') return;
    this.#part = 'saved';
    this.#statement('SAVEPOINT part').run();
  }

  /** Drops uncommitted writes. */
  [Symbol.dispose](): void {
    this.#database.close();
  }

  #checkOrigin(origin: string): void {
    this.#database.prepare('INSERT OR IGNORE INTO origin VALUES (1, ?)').run(origin);
    const row = this.#database.prepare('SELECT name FROM origin').get() as { name: string };
    if (row.name !== origin) throw new Error('The state store is of another log or partition.');
  }

  #checkForm(): void {
    const row = this.#database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (row.user_version === 0) this.#database.exec(`PRAGMA user_version=${stateStoreVersion}`);
    else if (row.user_version !== stateStoreVersion)
      throw new Error('The state store has another form.');
  }
}
