import type { Logger } from 'pino';
import { GatewayError } from '../../src/kernel/errors.ts';
import type { Clock, Instant } from '../../src/kernel/time.ts';
import type { EventLog, Batch as LogBatch } from '../../src/ports/event-log.ts';
import type { ProjectionStore } from '../../src/ports/projection-store.ts';
import type { Codec } from '../../src/ports/schemas.ts';
import type { AnyAppendedProjection } from './appended.ts';
import { BatchPair } from './batch-pair.ts';
import type { TableSet } from './define.ts';
import { isOutage, pause, throttle, retrying } from './throttle.ts';
import { Positions, startPositions, type StoredPosition } from './positions.ts';
import { TabWriter } from '../../src/ports/rows.ts';

/** Rows of one insert. */
const rowsMax = 20_000;
const bytesMax = 16 * 1024 ** 2;
/** Rows of this period are inserted together: no reader waits for them, and each insert has a fixed cost. */
const gatherMs = 400;
/**
 * This many rows at that time are a burst, of which more are inserted together: an insert costs by its partitions,
 * hardly by row.
 */
const rushRows = 400;
const rushGatherMs = 2_000;
/** Not that of the records: readers wait for those. */
const queryClass = 'build';
/** A position that is saved later than its rows only costs reading them again. */
const positionEveryMs = 2_000;

export interface AppendedProjectorDeps {
  readonly log: Pick<EventLog, 'follow' | 'startOffset' | 'endOffset'>;
  readonly store: ProjectionStore;
  readonly projection: AnyAppendedProjection;
  readonly tables: TableSet;
  readonly codec: Codec<unknown>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Partitions of the topic. */
  readonly partitions: number;
  /** Numbers of the partitions to project; default: all. */
  readonly held?: readonly number[];
  /** Called with the offset up to which a partition can be read, each time that it grows. */
  readonly advanced: (partition: number, next: number) => void;
  /** Share of the time that its inserts may take, in percent, evaluated after each. */
  readonly pacePercent: () => number;
}

interface AppendedProjector extends AsyncDisposable {
  /** Rejects when the projector cannot continue. */
  readonly stopped: Promise<void>;
}

/**
 * Starts to write the messages of the topic into the table, from the stored positions on. A message that cannot be
 * read or that the table refuses is skipped and logged.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`
 */
export async function startAppendedProjector(
  deps: AppendedProjectorDeps,
): Promise<AppendedProjector> {
  const positions = new Positions(deps.store, deps.tables.name);
  const start = await startPositions(deps, deps.projection.topic, deps.tables, positions);
  return new RunningAppended(deps, positions, start.positions);
}

class RunningAppended implements AppendedProjector {
  readonly stopped: Promise<void>;
  readonly #deps: AppendedProjectorDeps;
  readonly #positions: Positions;
  readonly #reached = new Map<number, StoredPosition>();
  readonly #stop = new AbortController();
  readonly #batches: BatchPair<AppendedBatch>;
  #isSaved = true;
  #savedAt = 0;

  constructor(deps: AppendedProjectorDeps, positions: Positions, start: readonly StoredPosition[]) {
    this.#deps = deps;
    this.#positions = positions;
    this.#batches = new BatchPair(() => new AppendedBatch(deps.projection));
    for (const position of start) {
      this.#reached.set(position.partition, position);
      deps.advanced(position.partition, position.next);
    }
    this.stopped = this.#run();
    // The caller awaits `stopped`; until then a failure must not end the process.
    this.stopped.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.stopped.catch(() => undefined);
  }

  async #run(): Promise<void> {
    try {
      await Promise.all([this.#read(), this.#write()]);
    } catch (error) {
      if (this.#isStopped()) return;
      this.#stop.abort(error);
      const { name } = this.#deps.projection;
      this.#deps.logger.error({ err: error, projection: name }, 'a projector stopped');
      throw error;
    }
  }

  /** The reading side: log to open batch. */
  async #read(): Promise<void> {
    const { signal } = this.#stop;
    const { topic } = this.#deps.projection;
    const next = new Map([...this.#reached].map(([at, position]) => [at, position.next]));
    const follow = async (): Promise<void> => {
      const from = [...next].map(([partition, offset]) => ({ topic, partition, offset }));
      for await (const batch of this.#deps.log.follow(from, { signal, maxBytes: 1024 ** 2 })) {
        await this.#room();
        if (this.#isStopped()) return;
        this.#take(batch, next.get(batch.partition) ?? 0);
        next.set(batch.partition, batch.next);
      }
    };
    try {
      while (!this.#isStopped()) await this.#retrying(follow);
    } catch (error) {
      if (!this.#isStopped()) throw error;
    }
  }

  #take({ partition, messages, next }: LogBatch, first: number): void {
    const { codec, logger, projection } = this.#deps;
    for (const { value, offset } of messages) {
      if (value === null) continue;
      try {
        this.#batches.open.add({ partition, offset, event: codec.decode(value) });
      } catch (error) {
        logger.error(
          { err: error, topic: projection.topic, partition, offset },
          'a message could not be projected',
        );
      }
    }
    this.#batches.open.reach(partition, first, next, messages.at(-1)?.timestamp ?? 0);
    this.#batches.noteFilled();
  }

  /** Waits while the open batch is full, but not after the stop: then it is never emptied. */
  async #room(): Promise<void> {
    while (this.#isFull() && !this.#isStopped()) await this.#batches.swapped;
  }

  #isFull(): boolean {
    const { entries, bytes } = this.#batches.open;
    return entries.length >= rowsMax || bytes >= bytesMax;
  }

  /** The writing side: gathered batch to table, sequentially. */
  async #write(): Promise<void> {
    const { signal } = this.#stop;
    signal.addEventListener('abort', () => this.#batches.wake(), { once: true });
    while (!this.#isStopped()) {
      if (!this.#isSaved)
        await Promise.race([this.#batches.filled, pause(positionEveryMs, signal)]);
      if (this.#batches.open.ranges.size === 0 && !this.#isSaved) await this.#save();
      await this.#batches.filled;
      await this.#gather();
      if (this.#isStopped()) break;
      const batch = this.#batches.swap();
      const startedAt = performance.now();
      await this.#publish(batch);
      this.#batches.giveBack(batch);
      await throttle(performance.now() - startedAt, this.#deps.pacePercent(), signal);
    }
    // Inserted messages are not read again after a graceful stop.
    if (!this.#isSaved) await this.#save().catch(() => undefined);
  }

  /** Resolves when the open batch is worth an insert. */
  async #gather(): Promise<void> {
    for (let waitedMs = 0; waitedMs < rushGatherMs; waitedMs += gatherMs) {
      await pause(gatherMs, this.#stop.signal);
      const isRush = this.#batches.open.entries.length >= rushRows;
      if (!isRush || this.#isFull() || this.#isStopped()) return;
    }
  }

  async #publish(batch: AppendedBatch): Promise<void> {
    if (batch.entries.length > 0) {
      this.#isSaved = false;
      await this.#insert(batch.rows, batch.entries, batch.token);
    }
    for (const [partition, range] of batch.ranges) {
      const before = this.#reached.get(partition);
      const atEndAt = Math.max(before?.atEndAt ?? 0, range.lastAt);
      this.#reached.set(partition, { partition, next: range.next, ownerEpoch: 0, atEndAt });
      this.#deps.advanced(partition, range.next);
    }
    this.#isSaved = false;
    if (this.#deps.clock.now() - this.#savedAt >= positionEveryMs) await this.#save();
  }

  /** A failed insert may have been written: it is repeated with the same rows and token until it succeeds. */
  async #insert(rows: Uint8Array, entries: readonly Entry[], token: string): Promise<void> {
    const { store, tables, projection } = this.#deps;
    const [table] = tables.tables;
    const { columns } = projection;
    try {
      await this.#retrying(() =>
        store.insert({ table, columns, rows, deduplicationToken: token, queryClass }),
      );
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.#insertParts(entries, token, error);
    }
  }

  /** Finds the messages that the table refuses by bisection, and skips them. */
  async #insertParts(entries: readonly Entry[], token: string, refusal: unknown): Promise<void> {
    const { logger, projection } = this.#deps;
    const [first] = entries;
    if (first === undefined) return;
    if (entries.length === 1) {
      const { partition, offset } = first;
      const { topic } = projection;
      logger.error({ err: refusal, topic, partition, offset }, 'the table refused a message');
      return;
    }
    const middle = entries.length >> 1;
    for (const [at, part] of [entries.slice(0, middle), entries.slice(middle)].entries()) {
      const batch = new AppendedBatch(projection);
      for (const entry of part) batch.add(entry);
      await this.#insert(batch.rows, part, `${token}/${at}`);
    }
  }

  async #save(): Promise<void> {
    await this.#retrying(() => this.#positions.save([...this.#reached.values()]));
    this.#isSaved = true;
    this.#savedAt = this.#deps.clock.now();
  }

  #retrying(task: () => Promise<void>): Promise<void> {
    return retrying(task, {
      signal: this.#stop.signal,
      isRetryable: isOutage,
      failed: (err) => this.#deps.logger.warn({ err }, 'log or tables failed; retrying'),
    });
  }

  /** A function, because the value changes during an await. */
  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'projection_refused';

/** The range of one partition in a batch. */
interface Range {
  readonly first: number;
  last: number;
  /** The offset to continue from. */
  next: number;
  /** Time of the last message, ms. */
  lastAt: Instant;
}

/** A message that becomes a row. */
interface Entry {
  readonly partition: number;
  readonly offset: number;
  readonly event: unknown;
}

/** Messages of any partitions, inserted into the table at once. */
class AppendedBatch {
  readonly ranges = new Map<number, Range>();
  readonly entries: Entry[] = [];
  readonly #projection: AnyAppendedProjection;
  readonly #rows = new TabWriter(64 * 1024);

  constructor(projection: AnyAppendedProjection) {
    this.#projection = projection;
  }

  get rows(): Uint8Array {
    return this.#rows.text();
  }

  get bytes(): number {
    return this.#rows.bytes;
  }

  /** The same messages always give the same token. */
  get token(): string {
    const parts = [...this.ranges].map(([at, { first, last }]) => `${at}:${first}-${last}`);
    return `${this.#projection.topic}:${parts.join(',')}`;
  }

  /** Records that the partition was read up to the offset. */
  reach(partition: number, first: number, next: number, at: Instant): void {
    const range = this.ranges.get(partition);
    if (range === undefined) {
      this.ranges.set(partition, { first, last: next - 1, next, lastAt: at });
      return;
    }
    range.last = next - 1;
    range.next = next;
    range.lastAt = Math.max(range.lastAt, at);
  }

  /** @throws RangeError for an event with impossible numbers; the batch is unchanged. */
  add(entry: Entry): void {
    this.#rows.begin();
    try {
      this.#rows.uint(entry.partition);
      this.#rows.uint(entry.offset);
      this.#projection.write(this.#rows, entry.event);
      this.#rows.endRow();
    } catch (error) {
      this.#rows.undo();
      throw error;
    }
    this.entries.push(entry);
  }

  clear(): void {
    this.#rows.clear();
    this.ranges.clear();
    this.entries.length = 0;
  }
}
