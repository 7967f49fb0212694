import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../../kernel/time.ts';
import type { RecordChange } from '../events.ts';
import type { HighWatermarks } from '../high-watermarks.ts';
import type { EventLog, Batch as LogBatch } from '../../../ports/event-log.ts';
import type { QueryClass, ProjectionStore } from '../../../ports/projection-store.ts';
import type { Codec } from '../../../ports/schemas.ts';
import { BatchPair } from '../../../../streams/projector/batch-pair.ts';
import { Batch } from './batch.ts';
import type { Cleanup } from './cleanup.ts';
import { createCleanup, purgedPartitions } from './cleanup.ts';
import { createInserter, type Inserter } from './inserter.ts';
import { RowBuilder } from './row-builder.ts';
import { isOutage, pause, throttle, retrying } from '../../../../streams/projector/throttle.ts';
import type { Start, StoredPosition } from '../../../../streams/projector/positions.ts';
import { Positions, startPositions } from '../../../../streams/projector/positions.ts';
import type { Publication } from '../../../../streams/projector/publication.ts';
import { createPublication } from '../../../../streams/projector/publication.ts';
import { records, type RecordTableSet } from './definition.ts';
import { buryTombstones } from './tombstones.ts';

/** One insert: 20,000 changes write up to 40,000 rows. Above the bytes the engine might cut it in two. */
const largest = { changesMax: 20_000, bytesMax: 32 * 1024 ** 2 };
/** For tables without readers: no read waits for an insert, and fewer parts are synced and merged. */
const largestBuilding = { changesMax: 60_000, bytesMax: 64 * 1024 ** 2 };
/** With fewer pending changes than this, an insert waits a little for more. */
const lingerBelowChanges = 1_000;
const lingerMs = 3;
/**
 * With more, changes come faster than single inserts can handle: an insert has a fixed cost, and so has each part that
 * it leaves to be merged. Waiting this long makes inserts of thousands.
 */
const gatherMs = 250;
/**
 * While tables without readers are filled from the log, inserts become as large as possible. After that, inserts are
 * delayed less: a projector that waits for each insert never catches up with the writers.
 */
const fillGatherMs = 2_000;
/** The thread also answers pages: no uninterrupted work longer than about 2 ms. */
const messagesPerStretch = 256;
/** A position stored later than its rows only costs reading them again. */
const positionEveryMs = 250;
const positionIdleMs = 3_600_000;
const retryFirstMs = 100;
const retryMaxMs = 5_000;

export interface ProjectorDeps {
  readonly log: Pick<EventLog, 'follow' | 'read' | 'startOffset' | 'endOffset'>;
  readonly store: ProjectionStore;
  readonly tables: RecordTableSet;
  readonly codec: Codec<RecordChange>;
  readonly heads: Pick<HighWatermarks, 'begin' | 'advance' | 'drop'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** SVC_PARTITIONS. */
  readonly partitions: number;
  /** Numbers of the partitions that it projects; all when absent. */
  readonly held?: readonly number[];
  readonly faultPoint?: (name: string) => void | Promise<void>;
  /** Superseded rows of a partition after which a cleanup is considered. */
  readonly cleanupMin?: number;
  /** A cleanup begins no sooner after the start: until then inserts of a former projector may come late. */
  readonly cleanupAfterMs?: number;
  /** Called with the position up to which changes of a partition are readable, each time that it grows. */
  readonly advanced?: (partition: number, next: number) => void;
  /** The lane of its inserts, asked before each; default `insert`. */
  readonly queryClass?: () => QueryClass;
  /** Share of the time that its inserts may take, in percent, asked after each; default 100. */
  readonly pacePercent?: () => number;
  /** Offsets to stop at, one for each partition; without them it never stops by itself. */
  readonly until?: ReadonlyMap<number, number>;
}

export interface Projector extends AsyncDisposable {
  /** As `RecordReader.published`. */
  published(partition: number, offset: number, signal: AbortSignal): Promise<void>;
  /**
   * Whether it has inserted everything of the partition that the log had at its start. Until then the tables may have
   * rows that it has not reached, also from late inserts of a former projector.
   */
  hasCaughtUp(partition: number): boolean;
  /** Whether the tables were emptied of the partition, and do not yet have everything that the log had then. */
  isRefilling(partition: number): boolean;
  /** Settles when the projector has stopped or reached its end; rejects when it cannot continue. */
  readonly stopped: Promise<void>;
}

/**
 * Starts to write `svc.records.v1` into the tables, from the stored positions on. It parks nothing: a change that
 * cannot be written is written without its payload and with a mark.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`
 */
export async function startProjector(deps: ProjectorDeps): Promise<Projector> {
  const positions = new Positions(deps.store, deps.tables.name);
  const start = await startPositions(deps, records.topic, deps.tables, positions);
  const { rebuilt, toRead } = start;
  if (rebuilt.length > 0) deps.heads.drop('all');
  if (toRead > 0) {
    deps.logger.info({ partitions: rebuilt, toRead }, 'rebuilding the records projection');
  }
  return new RunningProjector(deps, positions, start);
}

class RunningProjector implements Projector {
  readonly stopped: Promise<void>;
  readonly #deps: ProjectorDeps;
  readonly #positions: Positions;
  /** Of each partition: as it will be stored once its rows are. */
  readonly #reached = new Map<number, StoredPosition>();
  readonly #start: Start;
  readonly #publication: Publication = createPublication();
  readonly #intake: RowBuilder;
  readonly #cleanup: Cleanup;
  readonly #inserter: Inserter;
  readonly #stop = new AbortController();
  readonly #batches = new BatchPair(() => new Batch());
  #isSaved = true;
  #isInserting = false;
  #isRead = false;
  /** Whether it still reads the part of the log from before its start, for tables without readers. */
  #isFilling = false;
  #savedAt = 0;

  constructor(deps: ProjectorDeps, positions: Positions, start: Start) {
    this.#deps = deps;
    this.#positions = positions;
    this.#start = start;
    const epochs = start.positions.map(
      ({ partition, ownerEpoch }) => [partition, ownerEpoch] as const,
    );
    this.#intake = new RowBuilder(deps, new Map(epochs));
    this.#inserter = createInserter(deps, (task) => this.#retrying(task));
    const cleanupFrom = performance.now() + (deps.cleanupAfterMs ?? 0);
    this.#cleanup = createCleanup({
      store: deps.store,
      tables: deps.tables,
      clock: deps.clock,
      logger: deps.logger,
      isSafe: () => this.#isSaved && !this.#isInserting && performance.now() >= cleanupFrom,
      ...(deps.cleanupMin === undefined ? {} : { supersededMin: deps.cleanupMin }),
    });
    for (const position of start.positions) {
      this.#reached.set(position.partition, position);
      this.#advance(position.partition, position.next);
    }
    void this.#findPurged();
    this.stopped = this.#run();
    // Handled by the awaiter of `stopped`; until then a failure must not end the process.
    this.stopped.catch(() => undefined);
  }

  published(partition: number, offset: number, signal: AbortSignal): Promise<void> {
    return this.#publication.published(partition, offset, signal);
  }

  hasCaughtUp(partition: number): boolean {
    return this.#publication.next(partition) >= (this.#start.ends.get(partition) ?? Infinity);
  }

  isRefilling(partition: number): boolean {
    return this.#start.rebuilt.includes(partition) && !this.hasCaughtUp(partition);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.stopped.catch(() => undefined);
    await this.#cleanup.settled();
  }

  async #run(): Promise<void> {
    try {
      await Promise.all([this.#read(), this.#write()]);
    } catch (error) {
      if (this.#isStopped()) return;
      this.#stop.abort(error);
      this.#deps.logger.error({ err: error }, 'the records projector stopped');
      throw error;
    }
  }

  /** Data purged before this start is cleaned as well. */
  async #findPurged(): Promise<void> {
    const { store, tables, logger } = this.#deps;
    try {
      for (const partition of await purgedPartitions(store, tables)) {
        if (this.#reached.has(partition)) this.#cleanup.note(partition, 0, true);
      }
    } catch (err) {
      logger.warn({ err }, 'what was purged could not be looked for');
    }
  }

  /** The reading side: log to open batch. */
  async #read(): Promise<void> {
    const { signal } = this.#stop;
    const next = new Map([...this.#reached].map(([at, position]) => [at, position.next]));
    let waitMs = retryFirstMs;
    if (this.#noteRead(next)) return;
    while (!this.#isStopped()) {
      try {
        for await (const batch of this.#batchesFrom(next)) {
          await this.#take(batch);
          if (this.#isStopped()) return;
          next.set(batch.partition, batch.next);
          waitMs = retryFirstMs;
          if (this.#noteRead(next)) return;
        }
      } catch (error) {
        if (this.#isStopped()) return;
        if (!isOutage(error)) throw error;
        this.#deps.logger.warn({ err: error }, 'the log cannot be read; trying again');
        await pause(waitMs, signal);
        waitMs = Math.min(2 * waitMs, retryMaxMs);
      }
    }
  }

  /**
   * The messages after the positions, which the caller advances. Tables without readers are filled one partition after
   * the other: an insert leaves a part for each of its partitions, and each part has to be merged.
   */
  async *#batchesFrom(next: ReadonlyMap<number, number>): AsyncGenerator<LogBatch> {
    const { log } = this.#deps;
    const { topic } = records;
    const options = { signal: this.#stop.signal, maxBytes: 1024 ** 2 };
    if (this.#isBuilding()) {
      this.#isFilling = true;
      for (const [partition, offset] of next)
        yield* log.read({ topic, partition, offset }, options);
      this.#isFilling = false;
    }
    const from = [...next].map(([partition, offset]) => ({ topic, partition, offset }));
    yield* log.follow(from, options);
  }

  /** Whether everything before `until` was read. */
  #noteRead(next: ReadonlyMap<number, number>): boolean {
    const { until } = this.#deps;
    if (until === undefined) return false;
    this.#isRead = [...until].every(([partition, offset]) => (next.get(partition) ?? 0) >= offset);
    if (this.#isRead) this.#batches.noteFilled();
    return this.#isRead;
  }

  async #take({ partition, messages, next }: LogBatch): Promise<void> {
    const limit = this.#deps.until?.get(partition) ?? Infinity;
    let stretch = 0;
    for (const message of messages) {
      if (message.offset >= limit) break;
      await this.#room();
      if (this.#isStopped()) return;
      this.#intake.add(this.#batches.open, partition, message);
      if (++stretch % messagesPerStretch === 0) {
        this.#batches.noteFilled();
        await yieldToOthers();
      }
    }
    this.#batches.open.reachNext(partition, Math.min(next, limit));
    this.#batches.noteFilled();
  }

  /** Waits while the open batch is full; not beyond the stop, after which nobody empties it. */
  async #room(): Promise<void> {
    while (this.#isFull() && !this.#isStopped()) {
      this.#batches.noteFilled();
      await this.#batches.swapped;
    }
  }

  #isFull(): boolean {
    const { entries, rows } = this.#batches.open;
    const { changesMax, bytesMax } = this.#isBuilding() ? largestBuilding : largest;
    return entries.length >= changesMax || rows.bytes >= bytesMax;
  }

  /** The writing side: full batch to tables, one after the other. */
  async #write(): Promise<void> {
    const { signal } = this.#stop;
    signal.addEventListener('abort', () => this.#batches.wake(), { once: true });
    while (!this.#isStopped()) {
      if (this.#batches.open.isEmpty && !this.#isRead) await this.#idle();
      if (this.#isStopped() || (this.#batches.open.isEmpty && this.#isRead)) break;
      if (this.#batches.open.entries.length < lingerBelowChanges) await pause(lingerMs, signal);
      else await this.#gather();
      const batch = this.#batches.swap();
      const startedAt = performance.now();
      await this.#publish(batch);
      this.#batches.giveBack(batch);
      await throttle(performance.now() - startedAt, this.#deps.pacePercent?.() ?? 100, signal);
    }
    // Inserted rows are not read again after an orderly stop.
    if (!this.#isSaved) await this.#save().catch(() => undefined);
  }

  /** Until the open batch is full, or the wait is over. */
  async #gather(): Promise<void> {
    const { signal } = this.#stop;
    const stepMs = 25;
    const patienceMs = this.#isFilling ? fillGatherMs : gatherMs;
    for (let waited = 0; waited < patienceMs && !this.#isStopped(); waited += stepMs) {
      if (this.#isFull()) return;
      await pause(stepMs, signal);
    }
  }

  /** These tables have no readers yet. */
  #isBuilding(): boolean {
    return this.#deps.queryClass?.() === 'build';
  }

  /** Until there is something to write; meanwhile stored positions are refreshed. */
  async #idle(): Promise<void> {
    const { signal } = this.#stop;
    if (!this.#isSaved) await this.#save();
    while (this.#batches.open.isEmpty && !this.#isRead && !this.#isStopped()) {
      const waited = new AbortController();
      const ended = AbortSignal.any([signal, waited.signal]);
      const isOpened = await Promise.race([
        this.#batches.filled.then(() => true),
        pause(positionIdleMs, ended).then(() => false),
      ]);
      waited.abort();
      if (!isOpened && !this.#isStopped()) await this.#confirmEnd();
    }
  }

  /** An idle log leaves the positions at its end: recorded, so that they can be resumed later. */
  async #confirmEnd(): Promise<void> {
    for (const [partition, position] of this.#reached) {
      const end = await this.#retrying(() => this.#deps.log.endOffset(records.topic, partition));
      if (position.next < end) continue;
      this.#reached.set(partition, { ...position, atEndAt: this.#deps.clock.now() });
    }
    await this.#save();
  }

  async #publish(batch: Batch): Promise<void> {
    if (batch.tombstones.length > 0) {
      const { store, tables } = this.#deps;
      await this.#retrying(() => buryTombstones(store, batch, tables.names));
    }
    if (batch.rows.rows > 0) {
      await this.#fault('projector:before-insert');
      this.#deps.heads.begin(batch.heads.keys());
      this.#isInserting = true;
      this.#isSaved = false;
      await this.#inserter.insert(batch);
      this.#isInserting = false;
      await this.#fault('projector:after-insert');
    }
    for (const [stream, head] of batch.heads) this.#deps.heads.advance(stream, head);
    if (batch.dropped.size > 0) this.#deps.heads.drop([...batch.dropped]);
    for (const [partition, range] of batch.ranges) {
      const before = this.#reached.get(partition);
      this.#reached.set(partition, {
        partition,
        next: range.next,
        ownerEpoch: Math.max(before?.ownerEpoch ?? 0, range.epoch),
        atEndAt: Math.max(before?.atEndAt ?? 0, range.lastAt),
      });
      this.#cleanup.note(partition, range.superseded, range.hasEmptied);
      this.#advance(partition, range.next);
    }
    this.#isSaved = false;
    if (this.#deps.clock.now() - this.#savedAt >= positionEveryMs) await this.#save();
  }

  #advance(partition: number, next: number): void {
    this.#publication.advance(partition, next);
    this.#deps.advanced?.(partition, next);
  }

  async #save(): Promise<void> {
    await this.#retrying(() => this.#positions.save([...this.#reached.values()]));
    this.#isSaved = true;
    this.#savedAt = this.#deps.clock.now();
    await this.#fault('projector:after-position');
    this.#cleanup.consider();
  }

  #retrying<T>(task: () => Promise<T>): Promise<T> {
    return retrying(task, {
      signal: this.#stop.signal,
      isRetryable: isOutage,
      failed: (err) => this.#deps.logger.warn({ err }, 'the projection store failed; trying again'),
    });
  }

  /** A function, because the value changes during awaits. */
  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #fault(name: string): Promise<void> {
    await this.#deps.faultPoint?.(name);
  }
}
