import type { StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Logger } from 'pino';
import type { CheckedDatabase } from '#control-plane/checked-database.ts';
import { openDisposableDatabase } from '#control-plane/disposable-database.ts';
import { type OwnerNote, controlTopic } from '#control-plane/message-codec.ts';
import { keysBelow } from '#control-plane/view-store.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Instant } from '#kernel/time.ts';

/** Raised when the tables change: the store is then rebuilt. */
export const controlStateVersion = 1;
const tables = `
  CREATE TABLE entities (
    key TEXT PRIMARY KEY, scope TEXT NOT NULL, state TEXT NOT NULL, due INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX entities_due ON entities (due) WHERE due IS NOT NULL;
  CREATE TABLE progress (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), next INTEGER NOT NULL, note TEXT NOT NULL,
    at_end INTEGER NOT NULL
  );
`;

export interface StoredEntity {
  readonly key: string;
  readonly scope: string;
  /** JSON. */
  readonly state: string;
}

/** The state that an owner keeps of an entity; null = gone. */
export interface EntityChange {
  readonly key: string;
  readonly scope: string;
  readonly state: string | null;
  readonly due: Instant | null;
}

export interface OwnerProgress {
  /** Offset of the control topic to continue from. */
  readonly next: number;
  readonly note: OwnerNote;
  /** When the store was last at the end of the control topic; 0 = never. */
  readonly atEnd: Instant;
}

export const freshProgress: OwnerProgress = {
  next: 0,
  note: { decision: 0, numbers: 0, nextCommand: 0, epoch: 0 },
  atEnd: 0,
};

/** The note as it is stored. */
interface CheckedNote extends OwnerNote {
  readonly checksum?: number;
}

const checksumOf = ({ next, note, atEnd }: OwnerProgress): number =>
  crc32(JSON.stringify([next, note, atEnd]));

/** The state of one partition of the control plane. */
export class ControlStateStore {
  readonly #database: CheckedDatabase;
  readonly #get: StatementSync;
  readonly #below: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #due: StatementSync;
  readonly #nextDue: StatementSync;
  readonly #putProgress: StatementSync;

  /** @param replaced called with why an earlier file was not used */
  constructor(file: string, replaced?: (reason: string) => void) {
    const layout = { tables, version: controlStateVersion };
    this.#database = openDisposableDatabase(file, layout, replaced);
    const prepare = (sql: string): StatementSync => this.#database.prepare(sql);
    this.#get = prepare('SELECT key, scope, state FROM entities WHERE key = ?');
    this.#below = prepare(
      'SELECT key, scope, state FROM entities WHERE key >= ? AND key < ? AND scope = ? ORDER BY key',
    );
    this.#put = prepare(
      'INSERT OR REPLACE INTO entities (key, scope, state, due) VALUES (?, ?, ?, ?)',
    );
    this.#remove = prepare('DELETE FROM entities WHERE key = ?');
    this.#due = prepare(
      'SELECT key, scope, state FROM entities WHERE due <= ? ORDER BY due LIMIT ?',
    );
    this.#nextDue = prepare('SELECT min(due) AS due FROM entities WHERE due IS NOT NULL');
    this.#putProgress = prepare('INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?)');
  }

  get(key: string): StoredEntity | null {
    const row = this.#get.get(key);
    return row === undefined ? null : toEntity(row);
  }

  /** Entities of the kind and scope below the prefix of their path, in key order. */
  below(kind: string, prefix: readonly string[], scope: string): StoredEntity[] {
    return this.#below.all(...keysBelow(kind, prefix), scope).map(toEntity);
  }

  due(at: Instant, limit: number): StoredEntity[] {
    return this.#due.all(at, limit).map(toEntity);
  }

  /** When the next entity is due; null = none is. */
  nextDue(): Instant | null {
    const due = this.#nextDue.get()?.['due'] ?? null;
    return due === null ? null : Number(due);
  }

  /** @throws Error when it is not what was saved: it would be taken for evidence against the log */
  progress(): OwnerProgress {
    const row = this.#database.prepare('SELECT next, note, at_end FROM progress').get();
    if (row === undefined) return freshProgress;
    const [next, atEnd] = [Number(row['next']), Number(row['at_end'])];
    const { checksum, ...note } = JSON.parse(String(row['note'])) as CheckedNote;
    // Earlier releases write none.
    if (checksum !== undefined && checksum !== checksumOf({ next, note, atEnd }))
      throw new Error('The progress of the state store is damaged.');
    return { next, note, atEnd };
  }

  /** Saves the changes and the progress atomically. */
  apply(changes: Iterable<EntityChange>, progress: OwnerProgress): void {
    const { next, note, atEnd } = progress;
    const checked: CheckedNote = { ...note, checksum: checksumOf(progress) };
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const { key, scope, state, due } of changes) {
        if (state === null) this.#remove.run(key);
        else this.#put.run(key, scope, state, due);
      }
      this.#putProgress.run(next, JSON.stringify(checked), atEnd);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#database.checkpointWhenDue();
  }

  clear(): void {
    this.#database.exec('BEGIN; DELETE FROM entities; DELETE FROM progress; COMMIT');
  }

  close(): void {
    this.#database.close();
  }
}

function toEntity(row: Record<string, unknown>): StoredEntity {
  return { key: String(row['key']), scope: String(row['scope']), state: String(row['state']) };
}

/**
 * Where the log is read on from; that of an emptied store where its own is corrupt.
 * @param end of the partition in the log, from which the former owner is fenced
 * @throws GatewayError `log_incomplete` when the store is ahead of the log, which has lost messages
 */
export function restoredProgress(
  store: ControlStateStore,
  end: number,
  { partition, logger }: { readonly partition: number; readonly logger: Logger },
): OwnerProgress {
  const progress = storedProgress(store, { partition, logger });
  if (progress.next <= end) return progress;
  const message = `The event log lacks ${progress.next - end} acknowledged messages, by offset: ${controlTopic}/${partition} ${end} to ${progress.next - 1}; a state store of the control plane on this node has them.`;
  throw new GatewayError('log_incomplete', { message });
}

function storedProgress(
  store: ControlStateStore,
  { partition, logger }: { readonly partition: number; readonly logger: Logger },
): OwnerProgress {
  try {
    return store.progress();
  } catch (err) {
    logger.warn({ err, partition }, 'a state store of the control plane is not used');
    store.clear();
    return freshProgress;
  }
}
