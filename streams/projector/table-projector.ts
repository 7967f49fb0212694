import type { Logger } from 'pino';
import { isSampled, isTracing, processing, startSpan, traceHeader } from '#control-plane/trace.ts';
import { GatewayError } from '#kernel/errors.ts';
import { pause, retrying } from '#kernel/retry.ts';
import type { Clock, Instant } from '#kernel/time.ts';
import type { EventLog, Batch as LogBatch, ReadMessage } from '#ports/event-log.ts';
import { damagedPartOf, type ProjectionStore } from '#ports/projection-store.ts';
import type { Span } from '#ports/tracer.ts';
import type { TopicName } from '../topics.ts';
import type { TableSet } from './define.ts';
import type { Positions, Start, StoredPosition } from './positions.ts';

/** Two alternating batches: the reading side of a projector fills one while the other one is inserted. */
export class BatchPair<B extends { readonly isEmpty: boolean; clear(): void }> {
  readonly #make: () => B;
  #open: B;
  #spare: B;
  #opened = Promise.withResolvers<undefined>();
  #taken = Promise.withResolvers<undefined>();

  constructor(make: () => B) {
    this.#make = make;
    this.#open = make();
    this.#spare = make();
  }

  /** The batch that is being filled. */
  get open(): B {
    return this.#open;
  }

  /** Resolves when the open batch is not empty: `noteFilled`. */
  get filled(): Promise<undefined> {
    return this.#opened.promise;
  }

  /** Resolves when the current open batch is swapped. */
  get swapped(): Promise<undefined> {
    return this.#taken.promise;
  }

  noteFilled(): void {
    this.#opened.resolve(undefined);
  }

  /** Returns the filled batch. Return it with `giveBack` before the next swap. */
  swap(): B {
    const batch = this.#open;
    this.#open = this.#spare;
    this.#opened = Promise.withResolvers();
    this.#taken.resolve(undefined);
    this.#taken = Promise.withResolvers();
    return batch;
  }

  giveBack(batch: B): void {
    batch.clear();
    this.#spare = batch;
  }

  /** Replaces both batches while they are empty: their buffers keep the size of the largest insert. */
  renew(): void {
    if (!this.#open.isEmpty) return;
    this.#open = this.#make();
    this.#spare = this.#make();
  }

  /** Ends all waits, so that waiters check whether they must stop. */
  wake(): void {
    this.#opened.resolve(undefined);
    this.#taken.resolve(undefined);
  }
}

const positionIdleMs = 3_600_000;

export interface TableProjectorDeps {
  readonly log: Pick<EventLog, 'follow' | 'startOffset' | 'endOffset'>;
  readonly store: ProjectionStore;
  readonly tables: TableSet;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Partitions of the topic. */
  readonly partitions: number;
  /** Numbers of the partitions to project; default: all. */
  readonly held?: readonly number[];
  /** Called when its start is about to empty tables. */
  readonly emptying?: () => void;
  /** Called with the offset up to which a partition can be read, each time that it grows. */
  readonly advanced?: (partition: number, next: number) => void;
  /** Share of the time that its inserts may take, in percent, evaluated after each; default 100. */
  readonly pacePercent?: () => number;
  /** Offsets to stop at, one for each partition; default: it never ends by itself. */
  readonly until?: ReadonlyMap<number, number>;
}

/** The range of one partition in a batch. */
export interface BatchRange {
  /** The offset to continue from. */
  readonly next: number;
  /** Time of the last message, ms. */
  readonly lastAt: Instant;
  /** The highest epoch of an owner up to here. */
  readonly epoch: number;
}

interface TableBatch<Range extends BatchRange> {
  readonly isEmpty: boolean;
  readonly ranges: ReadonlyMap<number, Range>;
  clear(): void;
}

/** What stays the same while a projector runs. */
interface Habits<B> {
  readonly topic: TopicName;
  readonly makeBatch: () => B;
  /** A position that is saved later than its rows only costs reading them again. */
  readonly positionEveryMs: number;
  /** How long an idle projector waits until it saves its positions. */
  readonly saveIdleAfterMs: () => number;
}

/**
 * Writes a topic into tables: the reading side fills a batch while the writing side inserts the one before. A
 * projection says how messages become rows, and when a batch is worth an insert.
 */
export abstract class TableProjector<
  Range extends BatchRange,
  B extends TableBatch<Range>,
  Deps extends TableProjectorDeps,
> implements AsyncDisposable {
  protected readonly deps: Deps;
  protected readonly stop = new AbortController();
  protected readonly batches: BatchPair<B>;
  protected readonly traces = new BatchTraces<B>();
  protected isSaved = true;
  readonly #habits: Habits<B>;
  readonly #positions: Positions;
  /** Of each partition: as it will be stored once its rows are. */
  protected readonly reached = new Map<number, StoredPosition>();
  #isRead = false;
  #savedAt = 0;
  #stopped: Promise<void> = Promise.resolve();

  constructor(deps: Deps, positions: Positions, start: Start, habits: Habits<B>) {
    this.deps = deps;
    this.#habits = habits;
    this.#positions = positions;
    this.batches = new BatchPair(habits.makeBatch);
    for (const position of start.positions) this.reached.set(position.partition, position);
  }

  /** Settles when the projector has stopped or reached its end; rejects when it cannot continue. */
  get stopped(): Promise<void> {
    return this.#stopped;
  }

  /** Takes the messages into the open batch; waits with `room`. */
  protected abstract take(batch: LogBatch): Promise<void>;
  /** Whether the open batch must be inserted. */
  protected abstract isFull(): boolean;
  /** Resolves when the open batch is worth an insert. */
  protected abstract gather(): Promise<void>;
  /** Durable when it resolves. */
  protected abstract insert(batch: B): Promise<void>;

  /** Called once; it begins at the stored positions. */
  begin(): this {
    for (const { partition, next } of this.reached.values()) this.advance(partition, next);
    this.#stopped = this.#run();
    // The caller awaits `stopped`; until then a failure must not end the process.
    this.#stopped.catch(() => undefined);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    await this.#stopped.catch(() => undefined);
  }

  /** What follows the positions, which the caller moves on. */
  protected batchesFrom(next: ReadonlyMap<number, number>): AsyncIterable<LogBatch> {
    const { topic } = this.#habits;
    const from = [...next].map(([partition, offset]) => ({ topic, partition, offset }));
    return this.deps.log.follow(from, { signal: this.stop.signal, maxBytes: 1024 ** 2 });
  }

  protected advance(partition: number, next: number): void {
    this.deps.advanced?.(partition, next);
  }

  /** The range is in the tables. */
  protected publishRange(partition: number, range: Range): void {
    const before = this.reached.get(partition);
    this.reached.set(partition, {
      partition,
      next: range.next,
      ownerEpoch: Math.max(before?.ownerEpoch ?? 0, range.epoch),
      atEndAt: Math.max(before?.atEndAt ?? 0, range.lastAt),
    });
    this.advance(partition, range.next);
  }

  /** Waits while the open batch is full, but not after the stop: then it is never emptied. */
  protected async room(): Promise<void> {
    while (this.isFull() && !this.isStopped()) {
      this.batches.noteFilled();
      await this.batches.swapped;
    }
  }

  protected async save(): Promise<void> {
    await this.retrying(() => this.#positions.save([...this.reached.values()]));
    this.isSaved = true;
    this.#savedAt = this.deps.clock.now();
  }

  protected retrying<T>(task: () => Promise<T>): Promise<T> {
    const { logger } = this.deps;
    const { topic } = this.#habits;
    return retrying(task, {
      signal: this.stop.signal,
      failed(err) {
        // Each damaged part is logged once, by the thread that has the tables.
        if (damagedPartOf(err) === null)
          logger.warn({ err, topic }, 'log or tables failed; trying again');
      },
    });
  }

  /** A function, because the value changes during an await. */
  protected isStopped(): boolean {
    return this.stop.signal.aborted;
  }

  async #run(): Promise<void> {
    try {
      await Promise.all([this.#read(), this.#write()]);
    } catch (error) {
      if (this.isStopped()) return;
      this.stop.abort(error);
      this.deps.logger.error({ err: error, topic: this.#habits.topic }, 'a projector stopped');
      throw error;
    }
  }

  /** The reading side: log to open batch. */
  async #read(): Promise<void> {
    const next = new Map([...this.reached].map(([at, position]) => [at, position.next]));
    if (this.#noteRead(next)) return;
    const take = async (): Promise<void> => {
      for await (const batch of this.batchesFrom(next)) {
        await this.take(batch);
        if (this.isStopped()) return;
        next.set(batch.partition, batch.next);
        if (this.#noteRead(next)) return;
      }
    };
    await this.retrying(take).catch((error: unknown) => {
      // The writing side still saves its positions.
      if (!this.isStopped()) throw error;
    });
  }

  /** Whether everything before `until` was read. */
  #noteRead(next: ReadonlyMap<number, number>): boolean {
    const { until } = this.deps;
    if (until === undefined) return false;
    this.#isRead = [...until].every(([partition, offset]) => (next.get(partition) ?? 0) >= offset);
    if (this.#isRead) this.batches.noteFilled();
    return this.#isRead;
  }

  /** The writing side: full batch to tables, sequentially. */
  async #write(): Promise<void> {
    const { signal } = this.stop;
    signal.addEventListener('abort', () => this.batches.wake(), { once: true });
    while (!this.isStopped()) {
      if (this.batches.open.isEmpty && !this.#isRead) await this.#idle();
      if (this.isStopped() || (this.batches.open.isEmpty && this.#isRead)) break;
      await this.gather();
      const batch = this.batches.swap();
      const startedAt = performance.now();
      await this.#publish(batch);
      this.batches.giveBack(batch);
      await this.#throttle(performance.now() - startedAt);
    }
    // Inserted messages are not read again after a graceful stop.
    if (!this.isSaved) await this.save().catch(() => undefined);
  }

  /** Pauses so that inserts take only their share of the time. */
  async #throttle(tookMs: number): Promise<void> {
    const percent = this.deps.pacePercent?.() ?? 100;
    if (percent < 100) await pause((tookMs * (100 - percent)) / percent, this.stop.signal);
  }

  /** Until there is something to write; meanwhile positions are kept fresh. */
  async #idle(): Promise<void> {
    const { signal } = this.stop;
    const saveIdleAfterMs = this.#habits.saveIdleAfterMs();
    if (!this.isSaved && saveIdleAfterMs > 0) {
      await Promise.race([this.batches.filled, pause(saveIdleAfterMs, signal)]);
    }
    if (!this.isSaved && this.batches.open.isEmpty) {
      await this.save();
      this.batches.renew();
    }
    while (this.batches.open.isEmpty && !this.#isRead && !this.isStopped()) {
      const waited = new AbortController();
      const ended = AbortSignal.any([signal, waited.signal]);
      const isOpened = await Promise.race([
        this.batches.filled.then(() => true),
        pause(positionIdleMs, ended).then(() => false),
      ]);
      waited.abort();
      if (!isOpened && !this.isStopped()) await this.#confirmEnd();
    }
  }

  /** An idle log leaves the positions at its end: notes that, so that they can be resumed later. */
  async #confirmEnd(): Promise<void> {
    const { log, clock } = this.deps;
    for (const [partition, position] of this.reached) {
      const end = await this.retrying(() => log.endOffset(this.#habits.topic, partition));
      if (position.next >= end) this.reached.set(partition, { ...position, atEndAt: clock.now() });
    }
    await this.save();
  }

  async #publish(batch: B): Promise<void> {
    this.isSaved = false;
    const spans = this.traces.begin(batch, this.#habits.topic);
    await this.insert(batch);
    for (const [partition, range] of batch.ranges) this.publishRange(partition, range);
    for (const span of spans) span.end();
    const { positionEveryMs } = this.#habits;
    if (this.deps.clock.now() - this.#savedAt >= positionEveryMs) await this.save();
  }
}

/**
 * Inserts the entries, with the same rows under the same token until it succeeds. Finds those that the table refuses
 * by bisection.
 */
export async function insertByHalves<Entry>(
  entries: readonly Entry[],
  token: string,
  insert: (entries: readonly Entry[], token: string) => Promise<void>,
  refused: (entry: Entry, token: string, error: unknown) => Promise<void> | void,
): Promise<void> {
  try {
    await insert(entries, token);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'projection_refused') throw error;
    const [first] = entries;
    if (first === undefined) return;
    if (entries.length === 1) {
      await refused(first, token, error);
      return;
    }
    const middle = entries.length >> 1;
    await insertByHalves(entries.slice(0, middle), `${token}/0`, insert, refused);
    await insertByHalves(entries.slice(middle), `${token}/1`, insert, refused);
  }
}

/** Spans of one insert: further messages are inserted without a span. */
const spansMax = 64;

/** Recorded traces of the messages in each open batch, so that their insert is a span of each trace. */
class BatchTraces<B extends object> {
  readonly #counts = new WeakMap<B, Map<string, number>>();

  /** Call it in the same turn in which the message is added to the batch. */
  note(batch: B, message: Pick<ReadMessage, 'headers'>): void {
    // Headers are decoded on access, which costs a third of decoding the change.
    if (!isTracing()) return;
    const { [traceHeader]: trace } = message.headers;
    if (trace === undefined || !isSampled(trace)) return;
    const counts = this.#counts.get(batch) ?? new Map<string, number>();
    this.#counts.set(batch, counts);
    if (counts.size < spansMax || counts.has(trace)) {
      counts.set(trace, (counts.get(trace) ?? 0) + 1);
    }
  }

  /** Starts a span for each trace of the batch; the caller ends them when the batch is in the tables. */
  begin(batch: B, topic: string): readonly Span[] {
    const counts = this.#counts.get(batch);
    if (counts === undefined) return [];
    this.#counts.delete(batch);
    const spans = [...counts].map(([parent, count]) => {
      const { attributes, ...common } = processing(topic);
      return startSpan(() => ({
        ...common,
        parent,
        attributes: { ...attributes, 'messaging.batch.message_count': count },
      }));
    });
    return spans.filter((span) => span !== null);
  }
}
