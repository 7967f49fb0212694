import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { GatewayError } from '#kernel/errors.ts';
import { partitionNumbers } from '#kernel/partition.ts';
import type { Micros } from '#kernel/time.ts';
import type { Batch, EventLog, Position } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import type { CheckedDatabase } from './checked-database.ts';
import { consume, firstMessage } from './consume.ts';
import { openDisposableDatabase, type Layout } from './disposable-database.ts';
import type { Ports } from './ports.ts';

/** Small batches, because applying one blocks the thread. */
const batchBytesMax = 256 * 1024;
const applyWithinMs = 10_000;

/** A local view of one topic: SQLite tables that are built from its messages. */
export interface TopicView<Value, Tables> extends AsyncDisposable {
  readonly tables: Tables;
  /** The value of the message; null after the log has deleted it. */
  valueAt(position: Omit<Position, 'topic'>): Promise<Value | null>;
  /** Whether the view has applied the partition up to the offset. */
  has(partition: number, offset: number): boolean;
  /** Resolves when the view has applied the partition up to the offset. @throws GatewayError `log_unavailable` */
  until(partition: number, offset: number): Promise<void>;
  /** Resolves when the view has what was on the topic at the call. @throws GatewayError `log_unavailable` */
  caughtUp(): Promise<void>;
  /** Called after each batch that the view has applied. Returns the function that removes the listener. */
  onChange(listener: () => void): () => void;
}

export interface TopicViewDeps extends Ports {
  /** `:memory:` keeps it in memory. */
  readonly file: string;
}

interface TopicTables<Value> {
  /** Applies a message, in one transaction with the position of its batch. */
  put(value: Value, partition: number, offset: number): void;
  /** Deletes rows that are older than the retention of the log. */
  forgetBefore(at: Micros): void;
}

interface TopicViewOptions<Tables> {
  readonly topic: string;
  /** The retention of the topic. */
  readonly keptMs: number;
  /** A file of another version is rebuilt. */
  readonly layout: Layout;
  open(database: DatabaseSync): Tables;
}

const ownTables = `
  CREATE TABLE view_position (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);
  CREATE TABLE view_of (log TEXT PRIMARY KEY);
`;

/** Opens the view and resolves when it has caught up. A view of another log is rebuilt. */
export async function openTopicView<Value, Tables extends TopicTables<Value>>(
  { log, schemas, clock, logger, file }: TopicViewDeps,
  options: TopicViewOptions<Tables>,
): Promise<TopicView<Value, Tables>> {
  const { topic, keptMs, layout } = options;
  const codec = await schemas.codec<Value>(topic);
  const replaced = (reason: string): void =>
    logger.warn({ topic, file, reason }, 'a view of a topic is made of the log again');
  const database = openDatabase(file, layout, await log.identity(), replaced);
  const partitions = await log.partitions(topic);
  const progress = new Progress(database, partitions);
  const view = options.open(database);
  const apply = ({ partition, messages }: Batch): void => {
    for (const { value, offset } of messages) {
      const readable = readableValue(codec, value);
      if (readable !== null) view.put(readable, partition, offset);
    }
    view.forgetBefore((clock.now() - keptMs) * 1000);
  };
  const ending = new AbortController();
  const { signal } = ending;
  const running = consume(log, progress.positions(topic), (batch) => progress.take(batch, apply), {
    signal,
    maxBytes: batchBytesMax,
    failed: (err) => logger.error({ err, topic }, 'consuming a topic failed'),
  });
  const close = async (): Promise<void> => {
    ending.abort();
    await running;
    database.close();
  };
  const caughtUp = async (): Promise<void> => {
    await Promise.all(
      partitionNumbers(partitions).map(async (partition) => {
        const end = await log.endOffset(topic, partition);
        const isEmpty = end <= (await log.startOffset(topic, partition));
        if (!isEmpty) await progress.until(partition, end);
      }),
    );
  };
  try {
    await caughtUp();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    tables: view,
    valueAt: (position) => valueAt(log, codec, { topic, ...position }),
    has: (partition, offset) => progress.has(partition, offset),
    until: (partition, offset) => progress.until(partition, offset),
    caughtUp,
    onChange: (listener) => progress.onChange(listener),
    [Symbol.asyncDispose]: close,
  };
}

/** A database of another log is replaced. */
function openDatabase(
  file: string,
  layout: Layout,
  log: string,
  replaced: (reason: string) => void,
): CheckedDatabase {
  const { version } = layout;
  const tables = `${ownTables}${layout.tables}`;
  let database = openDisposableDatabase(file, { version, tables }, replaced);
  const found = database.prepare('SELECT log FROM view_of').get()?.['log'];
  if (found !== undefined && found !== log) {
    database.exec('PRAGMA user_version = -1');
    database.close();
    database = openDisposableDatabase(file, { version, tables }, replaced);
  }
  database.prepare('INSERT OR IGNORE INTO view_of VALUES (?)').run(log);
  return database;
}

/**
 * The value of a message; null for a tombstone or an unreadable message, which the consumer parks and which must not
 * block a view.
 */
export function readableValue<Value>(codec: Codec<Value>, value: Uint8Array | null): Value | null {
  if (value === null) return null;
  try {
    return codec.decode(value);
  } catch {
    return null;
  }
}

async function valueAt<Value>(
  log: EventLog,
  codec: Codec<Value>,
  { topic, partition, offset }: Position,
): Promise<Value | null> {
  const first = await firstMessage(log, { topic, partition, offset });
  return first?.offset === offset && first.value !== null ? codec.decode(first.value) : null;
}

class Progress {
  readonly #database: CheckedDatabase;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #move: StatementSync;
  readonly #next: Map<number, number>;
  readonly #listeners = new Set<() => void>();

  constructor(database: CheckedDatabase, partitions: number) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#move = database.prepare('INSERT OR REPLACE INTO view_position VALUES (?, ?)');
    const rows = database.prepare('SELECT partition, next FROM view_position').all();
    const saved = new Map(rows.map((row) => [Number(row['partition']), Number(row['next'])]));
    this.#next = new Map(partitionNumbers(partitions).map((at) => [at, saved.get(at) ?? 0]));
  }

  positions(topic: string) {
    return [...this.#next].map(([partition, offset]) => ({ topic, partition, offset }));
  }

  take(batch: Batch, apply: (batch: Batch) => void): void {
    this.#begin.run();
    try {
      apply(batch);
      this.#move.run(batch.partition, batch.next);
      this.#commit.run();
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#database.checkpointWhenDue();
    this.#next.set(batch.partition, batch.next);
    for (const listener of [...this.#listeners]) listener();
  }

  has(partition: number, offset: number): boolean {
    return (this.#next.get(partition) ?? 0) >= offset;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async until(partition: number, offset: number): Promise<void> {
    if (this.has(partition, offset)) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const stop = this.onChange(() => {
      if (this.has(partition, offset)) resolve(undefined);
    });
    const timer = setTimeout(() => {
      const message = 'This node has not applied the requested position in time.';
      reject(new GatewayError('log_unavailable', { message }));
    }, applyWithinMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }
}
