import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { joinKey, splitKey } from '#kernel/ids.ts';
import type { CheckedDatabase } from './checked-database.ts';
import type { ViewQuery } from './control-plane.ts';
import { openDisposableDatabase } from './disposable-database.ts';
import type { EntityDefinitions, EntityIndexes, EntityRef, SearchTable } from './entity.ts';
import { TextIndex, textIndexDdl } from './text-index.ts';
import type { Row } from './view-tables.ts';

const tables = `
  CREATE TABLE entities (
    key TEXT PRIMARY KEY, scope TEXT NOT NULL, state TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE entity_index (
    kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (kind, name, value, key)
  ) WITHOUT ROWID;
  CREATE INDEX entity_index_key ON entity_index (key);
  CREATE TABLE partitions (
    partition INTEGER PRIMARY KEY, next INTEGER NOT NULL, decision INTEGER NOT NULL, epoch INTEGER NOT NULL
  );
  CREATE TABLE at_end (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), at INTEGER NOT NULL);
`;

interface KindStore {
  readonly indexes: EntityIndexes<never>;
  readonly search: SearchStore | null;
}

/** Another layout or another set of indexes is another version: the view is rebuilt. */
export function viewVersion(definitions: EntityDefinitions): number {
  const indexed = Object.entries(definitions).map(([kind, { indexes = {} }]) => [
    kind,
    Object.keys(indexes),
  ]);
  return createHash('sha256')
    .update(tables + searchTablesOf(definitions).map(ddlOf).join(''))
    .update(JSON.stringify(indexed))
    .digest()
    .readInt32BE(0);
}

const searchTablesOf = (definitions: EntityDefinitions) =>
  Object.values(definitions).flatMap(({ searchTable }) => searchTable ?? []);

const ddlOf = ({ name, ddl, hasTexts }: SearchTable<never>): string =>
  hasTexts === true ? ddl + textIndexDdl(name) : ddl;

export interface PartitionProgress {
  readonly partition: number;
  /** Next offset to read. */
  readonly next: number;
  /** Number of the last decision applied. */
  readonly decision: number;
  readonly epoch: number;
}

/** The tables of a view. */
export class ViewStore {
  readonly database: CheckedDatabase;
  readonly #put: StatementSync;
  readonly #scopeOf: StatementSync;
  readonly #remove: StatementSync;
  readonly #putIndex: StatementSync;
  readonly #removeIndex: StatementSync;
  readonly #putPartition: StatementSync;
  readonly #putAtEnd: StatementSync;

  readonly #kinds = new Map<string, KindStore>();

  /** @param replaced called with why an earlier file was not used */
  constructor(file: string, definitions: EntityDefinitions, replaced?: (reason: string) => void) {
    const searches = searchTablesOf(definitions).map(ddlOf).join('');
    const version = viewVersion(definitions);
    this.database = openDisposableDatabase(file, { tables: tables + searches, version }, replaced);
    const prepare = (sql: string): StatementSync => this.database.prepare(sql);
    this.#put = prepare(`INSERT INTO entities (key, scope, state) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET scope = excluded.scope, state = excluded.state`);
    this.#scopeOf = prepare('SELECT scope FROM entities WHERE key = ?');
    this.#remove = prepare('DELETE FROM entities WHERE key = ?');
    this.#putIndex = prepare(
      'INSERT OR IGNORE INTO entity_index (kind, name, value, key) VALUES (?, ?, ?, ?)',
    );
    this.#removeIndex = prepare('DELETE FROM entity_index WHERE key = ?');
    for (const [kind, { indexes = {}, searchTable = null }] of Object.entries(definitions)) {
      this.#kinds.set(kind, {
        indexes,
        search: searchTable && new SearchStore(this.database, searchTable as SearchTable<never>),
      });
    }
    this.#putPartition = prepare('INSERT OR REPLACE INTO partitions VALUES (?, ?, ?, ?)');
    this.#putAtEnd = prepare('INSERT OR REPLACE INTO at_end VALUES (1, ?)');
  }

  /** Atomic. */
  transaction(task: () => void): void {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      task();
      this.database.exec('COMMIT');
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
    this.database.checkpointWhenDue();
  }

  put(key: string, ref: EntityRef, state: string): void {
    this.#put.run(key, ref.scope, state);
    const stored = this.#kinds.get(ref.kind);
    if (stored === undefined) return;
    const { indexes, search } = stored;
    const entries = Object.entries(indexes);
    if (entries.length === 0 && search === null) return;
    const parsed = JSON.parse(state) as never;
    if (entries.length > 0) this.#removeIndex.run(key);
    for (const [name, valueOf] of entries) {
      const value = valueOf(parsed);
      if (value !== null) this.#putIndex.run(ref.kind, name, value, key);
    }
    search?.put(key, parsed);
  }

  /** The scope of the removed entity; null when there was none. */
  remove(key: string): string | null {
    const row = this.#scopeOf.get(key);
    if (row === undefined) return null;
    this.#remove.run(key);
    this.#removeIndex.run(key);
    this.#kinds.get(splitKey(key)[0] ?? '')?.search?.put(key, null);
    return String(row['scope']);
  }

  /** @throws Error when the kind has no index of texts */
  search(kind: string, { sql, values, containing }: ViewQuery): Row[] {
    const query = this.database.prepare(sql);
    if (containing === undefined) return query.all(...values);
    const { environmentUid, text, upTo, limit, offset } = containing;
    const texts = this.#kinds.get(kind)?.search?.texts;
    if (texts == null) throw new Error(`the kind ${kind} has no index of texts`);
    const rows: Row[] = [];
    for (const position of texts.positions(environmentUid, text, upTo)) {
      rows.push(...query.all(position, ...values));
      if (rows.length >= offset + limit) break;
    }
    return rows.slice(offset, offset + limit);
  }

  putProgress({ partition, next, decision, epoch }: PartitionProgress): void {
    this.#putPartition.run(partition, next, decision, epoch);
  }

  progress(): PartitionProgress[] {
    const rows = this.database.prepare('SELECT * FROM partitions').all();
    return rows.map((row) => ({
      partition: Number(row['partition']),
      next: Number(row['next']),
      decision: Number(row['decision']),
      epoch: Number(row['epoch']),
    }));
  }

  /** When the view was last at the end of the log; 0 = never. */
  atEnd(): number {
    return Number(this.database.prepare('SELECT at FROM at_end').get()?.['at'] ?? 0);
  }

  putAtEnd(at: number): void {
    this.#putAtEnd.run(at);
  }

  clear(): void {
    this.transaction(() => {
      for (const name of ['entities', 'entity_index', 'partitions', 'at_end']) {
        this.database.exec(`DELETE FROM ${name}`);
      }
      for (const { search } of this.#kinds.values()) search?.clear();
    });
  }

  close(): void {
    this.database.close();
  }
}

/** A search table with its index of texts. */
class SearchStore {
  readonly texts: TextIndex | null;
  readonly #table: SearchTable<never>;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #clear: StatementSync;

  constructor(database: DatabaseSync, table: SearchTable<never>) {
    const { name, hasTexts = false } = table;
    const columns = database.prepare(`SELECT * FROM ${name}`).columns();
    const marks = columns.map(() => '?').join(', ');
    const sets = columns.map(({ name: column }) => `${column} = excluded.${column}`).join(', ');
    this.#table = table;
    // No `OR REPLACE`: it deletes rows without their triggers.
    this.#put = database.prepare(
      `INSERT INTO ${name} VALUES (${marks}) ON CONFLICT (key) DO UPDATE SET ${sets}`,
    );
    this.#remove = database.prepare(`DELETE FROM ${name} WHERE key = ?`);
    this.#clear = database.prepare(`DELETE FROM ${name}`);
    this.texts = hasTexts ? new TextIndex(database, name) : null;
  }

  /** Null: the entity is gone. */
  put(key: string, state: unknown): void {
    const row = state === null ? null : this.#table.row(state as never);
    const change = (): void => {
      if (row === null) this.#remove.run(key);
      else this.#put.run(key, ...row);
    };
    if (this.texts === null) change();
    else this.texts.during(key, change);
  }

  clear(): void {
    this.#clear.run();
    this.texts?.clear();
  }
}

/** Bounds of the keys below a prefix: `/` ends a part, and `0` is the character after `/`. */
export function keysBelow(kind: string, prefix: readonly string[]): [from: string, to: string] {
  const start = joinKey(kind, ...prefix);
  return [`${start}/`, `${start}0`];
}
