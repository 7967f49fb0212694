import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { joinKey } from '../kernel/ids.ts';
import type { Connection } from '../modules/connections/connections/state.ts';
import { openDisposableDatabase } from './disposable-database.ts';
import type { EntityRef } from './entity.ts';
import { indexes } from './indexes.ts';

const tables = `
  CREATE TABLE entities (
    key TEXT PRIMARY KEY, scope TEXT NOT NULL, state TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE entity_index (
    kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (kind, name, value, key)
  ) WITHOUT ROWID;
  CREATE INDEX entity_index_key ON entity_index (key);
  CREATE TABLE connections (
    key TEXT PRIMARY KEY, environment_uid TEXT NOT NULL, integration_key TEXT NOT NULL,
    connection_id TEXT NOT NULL, created_at INTEGER NOT NULL, id INTEGER NOT NULL, search TEXT NOT NULL,
    end_user_id TEXT, organization_id TEXT, tags TEXT NOT NULL
  ) WITHOUT ROWID;
  -- The order of GET /connections.
  CREATE INDEX connections_order ON connections (environment_uid, created_at DESC, id DESC);
  CREATE TABLE partitions (
    partition INTEGER PRIMARY KEY, next INTEGER NOT NULL, decision INTEGER NOT NULL, epoch INTEGER NOT NULL
  );
  CREATE TABLE at_end (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), at INTEGER NOT NULL);
`;

/** Another layout or another set of indexes is another version: the view is then built anew. */
const version = createHash('sha256')
  .update(tables)
  .update(JSON.stringify(Object.entries(indexes).map(([kind, ref]) => [kind, Object.keys(ref)])))
  .digest()
  .readInt32BE(0);

export interface PartitionProgress {
  readonly partition: number;
  /** Offset to go on from. */
  readonly next: number;
  /** Number of the last decision applied. */
  readonly decision: number;
  readonly epoch: number;
}

/** The tables of a view. */
export class ViewStore {
  readonly database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #scopeOf: StatementSync;
  readonly #remove: StatementSync;
  readonly #putIndex: StatementSync;
  readonly #removeIndex: StatementSync;
  readonly #putConnection: StatementSync;
  readonly #removeConnection: StatementSync;
  readonly #putPartition: StatementSync;
  readonly #putAtEnd: StatementSync;

  constructor(file: string) {
    this.database = openDisposableDatabase(file, { tables, version });
    const prepare = (sql: string): StatementSync => this.database.prepare(sql);
    this.#put = prepare(`INSERT INTO entities (key, scope, state) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET scope = excluded.scope, state = excluded.state`);
    this.#scopeOf = prepare('SELECT scope FROM entities WHERE key = ?');
    this.#remove = prepare('DELETE FROM entities WHERE key = ?');
    this.#putIndex = prepare(
      'INSERT OR IGNORE INTO entity_index (kind, name, value, key) VALUES (?, ?, ?, ?)',
    );
    this.#removeIndex = prepare('DELETE FROM entity_index WHERE key = ?');
    this.#putConnection = prepare(
      `INSERT OR REPLACE INTO connections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#removeConnection = prepare('DELETE FROM connections WHERE key = ?');
    this.#putPartition = prepare('INSERT OR REPLACE INTO partitions VALUES (?, ?, ?, ?)');
    this.#putAtEnd = prepare('INSERT OR REPLACE INTO at_end VALUES (1, ?)');
  }

  /** All or nothing. */
  transaction(task: () => void): void {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      task();
      this.database.exec('COMMIT');
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }

  put(key: string, ref: EntityRef, state: string): void {
    this.#put.run(key, ref.scope, state);
    const existing = indexes[ref.kind];
    const isListed = ref.kind === 'connection';
    if (existing === undefined && !isListed) return;
    const parsed = JSON.parse(state) as never;
    if (existing !== undefined) {
      this.#removeIndex.run(key);
      for (const [name, valueOf] of Object.entries(existing)) {
        const value = valueOf(parsed);
        if (value !== null) this.#putIndex.run(ref.kind, name, value, key);
      }
    }
    if (isListed) this.#list(key, parsed);
  }

  /** The scope of what was removed; null when there was nothing. */
  remove(key: string): string | null {
    const row = this.#scopeOf.get(key);
    if (row === undefined) return null;
    this.#remove.run(key);
    this.#removeIndex.run(key);
    this.#removeConnection.run(key);
    return String(row['scope']);
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
    const names = ['entities', 'entity_index', 'connections', 'partitions', 'at_end'];
    this.transaction(() => {
      for (const name of names) this.database.exec(`DELETE FROM ${name}`);
    });
  }

  close(): void {
    this.database.close();
  }

  #list(key: string, state: Connection): void {
    if (state.isDeleting) {
      this.#removeConnection.run(key);
      return;
    }
    const { environmentUid, integrationKey, connectionId, createdAt, id, endUser, tags } = state;
    const parts = [connectionId, endUser?.displayName ?? '', endUser?.email ?? ''];
    // A separator that no part can hold: a search never matches across two of them.
    const search = parts.join('\u0000').toLowerCase();
    const ref = [endUser?.id ?? null, endUser?.organization?.id ?? null, JSON.stringify(tags)];
    const position = [key, environmentUid, integrationKey, connectionId];
    this.#putConnection.run(...position, createdAt, id, search, ...ref);
  }
}

/** Bounds of the keys below a prefix: `/` ends a part and `0` is the character after it. */
export function keysBelow(kind: string, prefix: readonly string[]): [from: string, to: string] {
  const start = joinKey(kind, ...prefix);
  return [`${start}/`, `${start}0`];
}
