import { setImmediate as yieldToOthers, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { GatewayError } from '../../src/kernel/errors.ts';
import type { Clock } from '../../src/kernel/time.ts';
import type { RecordChange } from '../../src/modules/records/events.ts';
import type { StreamHeads } from '../../src/modules/records/heads.ts';
import { recordTables } from '../../src/modules/records/tables.ts';
import type { EventLog, Batch as LogBatch } from '../../src/ports/event-log.ts';
import type { ProjectionStore } from '../../src/ports/projection-store.ts';
import { TabWriter } from '../../src/ports/rows.ts';
import type { Codec } from '../../src/ports/schemas.ts';
import type { Entry } from './batch.ts';
import { Batch } from './batch.ts';
import type { Cleanup } from './cleanup.ts';
import { createCleanup } from './cleanup.ts';
import type { TableSet } from './define.ts';
import { Intake } from './intake.ts';
import type { StoredPosition } from './positions.ts';
import { Positions, startPositions } from './positions.ts';
import type { Publication } from './publication.ts';
import { createPublication } from './publication.ts';
import { records, writeMarked } from './records.ts';
import { buryTombstones } from './tombstones.ts';

/** One insert: 20,000 changes write up to 40,000 rows. Above the bytes the engine might cut it in two. */
const changesMax = 20_000;
const bytesMax = 32 * 1024 ** 2;
/** With fewer changes than this waiting, an insert waits a little for more. */
const lingerBelowChanges = 1_000;
const lingerMs = 3;
/**
 * With more, changes come faster than single inserts pay for: an insert has a fixed cost, and so has each part
 * that it leaves to be merged. Waiting that long makes inserts of thousands.
 */
const gatherMs = 250;
/** The thread also answers pages: no longer stretch of work than about 2 ms. */
const messagesPerStretch = 256;
/** A position that is written later than its rows only costs reading them again. */
const positionEveryMs = 250;
const positionIdleMs = 3_600_000;
const retryFirstMs = 100;
const retryMaxMs = 5_000;

export interface ProjectorDeps {
  readonly log: Pick<EventLog, 'follow' | 'startOffset' | 'endOffset'>;
  readonly store: ProjectionStore;
  readonly tables: TableSet;
  readonly codec: Pick<Codec<RecordChange>, 'decode'>;
  readonly heads: StreamHeads;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** SVC_PARTITIONS. */
  readonly partitions: number;
  readonly faultPoint?: (name: string) => void | Promise<void>;
  /** Superseded rows of a partition after which a cleanup is considered. */
  readonly cleanupMin?: number;
}

export interface Projector extends AsyncDisposable {
  /** As `RecordReader.published`. */
  published(partition: number, offset: number, signal: AbortSignal): Promise<void>;
  /** Settles when the projector has stopped; rejects when it could not go on. */
  readonly stopped: Promise<void>;
}

/**
 * Starts to write `svc.records.v1` into the tables, from the stored positions on. It parks nothing: a
 * change that cannot be written is written without its payload and with a mark.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`
 */
export async function startProjector(deps: ProjectorDeps): Promise<Projector> {
  const positions = new Positions(deps.store, deps.tables.name);
  const start = await startPositions(deps, records.topic, deps.tables, positions);
  if (start.rebuilt.length > 0) {
    deps.logger.info({ partitions: start.rebuilt }, 'rebuilding the records projection');
    deps.heads.drop('all');
  }
  return new RunningProjector(deps, positions, start.positions);
}

class RunningProjector implements Projector {
  readonly stopped: Promise<void>;
  readonly #deps: ProjectorDeps;
  readonly #positions: Positions;
  /** Of each partition: as it will be stored once its rows are. */
  readonly #reached = new Map<number, StoredPosition>();
  readonly #publication: Publication = createPublication();
  readonly #intake: Intake;
  readonly #cleanup: Cleanup;
  readonly #stop = new AbortController();
  readonly #marked = new TabWriter(64 * 1024);
  /** Filled by the reading side while the other one is inserted. */
  #open = new Batch();
  #spare = new Batch();
  #opened = Promise.withResolvers<undefined>();
  #taken = Promise.withResolvers<undefined>();
  #isSaved = true;
  #isInserting = false;
  #savedAt = 0;

  constructor(deps: ProjectorDeps, positions: Positions, start: readonly StoredPosition[]) {
    this.#deps = deps;
    this.#positions = positions;
    const epochs = start.map(({ partition, ownerEpoch }) => [partition, ownerEpoch] as const);
    this.#intake = new Intake(deps, new Map(epochs));
    this.#cleanup = createCleanup({
      store: deps.store,
      tables: deps.tables,
      logger: deps.logger,
      isSafe: () => this.#isSaved && !this.#isInserting,
      ...(deps.cleanupMin === undefined ? {} : { supersededMin: deps.cleanupMin }),
    });
    for (const position of start) {
      this.#reached.set(position.partition, position);
      this.#publication.advance(position.partition, position.next);
    }
    this.stopped = this.#run();
    // Whoever cares awaits `stopped`; until then a failure must not end the process.
    this.stopped.catch(() => undefined);
  }

  published(partition: number, offset: number, signal: AbortSignal): Promise<void> {
    return this.#publication.published(partition, offset, signal);
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

  /** The reading side: log to open batch. */
  async #read(): Promise<void> {
    const { signal } = this.#stop;
    const next = new Map([...this.#reached].map(([at, position]) => [at, position.next]));
    let waitMs = retryFirstMs;
    while (!this.#isStopped()) {
      try {
        const from = [...next].map(([partition, offset]) => ({
          topic: records.topic,
          partition,
          offset,
        }));
        for await (const batch of this.#deps.log.follow(from, { signal, maxBytes: 1024 ** 2 })) {
          await this.#take(batch);
          next.set(batch.partition, batch.next);
          waitMs = retryFirstMs;
        }
      } catch (error) {
        if (this.#isStopped()) return;
        if (!isRetryable(error)) throw error;
        this.#deps.logger.warn({ err: error }, 'the log cannot be read; trying again');
        await pause(waitMs, signal);
        waitMs = Math.min(2 * waitMs, retryMaxMs);
      }
    }
  }

  async #take({ partition, messages, next }: LogBatch): Promise<void> {
    let stretch = 0;
    for (const message of messages) {
      await this.#room();
      this.#intake.add(this.#open, partition, message);
      if (++stretch % messagesPerStretch === 0) {
        this.#opened.resolve(undefined);
        await yieldToOthers();
      }
    }
    this.#open.reachNext(partition, next);
    this.#opened.resolve(undefined);
  }

  /** Waits while the open batch is full. */
  async #room(): Promise<void> {
    while (this.#open.entries.length >= changesMax || this.#open.rows.bytes >= bytesMax) {
      this.#opened.resolve(undefined);
      await this.#taken.promise;
    }
  }

  /** The writing side: full batch to tables, one after the other. */
  async #write(): Promise<void> {
    const { signal } = this.#stop;
    while (!this.#isStopped()) {
      if (this.#open.isEmpty) await this.#idle();
      if (this.#isStopped()) break;
      if (this.#open.entries.length < lingerBelowChanges) await pause(lingerMs, signal);
      else await this.#gather();
      const batch = this.#swap();
      await this.#publish(batch);
      batch.clear();
      this.#spare = batch;
    }
    // What was inserted is not read again after an orderly stop.
    if (!this.#isSaved) await this.#save().catch(() => undefined);
  }

  /** Until the open batch is full, or for as long as waiting pays. */
  async #gather(): Promise<void> {
    const { signal } = this.#stop;
    const stepMs = 25;
    for (let waited = 0; waited < gatherMs && !this.#isStopped(); waited += stepMs) {
      if (this.#open.entries.length >= changesMax || this.#open.rows.bytes >= bytesMax) return;
      await pause(stepMs, signal);
    }
  }

  #swap(): Batch {
    const batch = this.#open;
    this.#open = this.#spare;
    this.#opened = Promise.withResolvers();
    this.#taken.resolve(undefined);
    this.#taken = Promise.withResolvers();
    return batch;
  }

  /** Until there is something to write; meanwhile positions are kept fresh. */
  async #idle(): Promise<void> {
    const { signal } = this.#stop;
    if (!this.#isSaved) await this.#save();
    while (this.#open.isEmpty && !this.#isStopped()) {
      const waited = new AbortController();
      const ended = AbortSignal.any([signal, waited.signal]);
      const isOpened = await Promise.race([
        this.#opened.promise.then(() => true),
        pause(positionIdleMs, ended).then(() => false),
      ]);
      waited.abort();
      if (!isOpened && !this.#isStopped()) await this.#confirmEnd();
    }
  }

  /** An idle log leaves the positions at its end: says so, so that they can be resumed later. */
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
      const names = recordTables(tables.generation);
      await this.#retrying(() => buryTombstones(store, batch, names));
    }
    if (batch.rows.rows > 0) {
      await this.#fault('projector:before-insert');
      this.#isInserting = true;
      this.#isSaved = false;
      await this.#insert(batch);
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
      this.#cleanup.note(partition, range.superseded);
      this.#publication.advance(partition, range.next);
    }
    this.#isSaved = false;
    if (this.#deps.clock.now() - this.#savedAt >= positionEveryMs) await this.#save();
  }

  async #save(): Promise<void> {
    await this.#retrying(() => this.#positions.save([...this.#reached.values()]));
    this.#isSaved = true;
    this.#savedAt = this.#deps.clock.now();
    await this.#fault('projector:after-position');
    this.#cleanup.consider();
  }

  async #insert(batch: Batch): Promise<void> {
    const token = batch.token(records.topic);
    try {
      await this.#insertRows(batch.rows.text(), token);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.#insertParts(batch.entries, token);
    }
  }

  /** Finds the changes that the table refuses by halving, and writes them without their payload. */
  async #insertParts(entries: readonly Entry[], token: string): Promise<void> {
    if (entries.length > 1) {
      const middle = entries.length >> 1;
      await this.#insertPart(entries.slice(0, middle), `${token}/0`);
      await this.#insertPart(entries.slice(middle), `${token}/1`);
      return;
    }
    for (const { change, place } of entries) {
      const { event_id: eventId } = change;
      this.#marked.clear();
      writeMarked(this.#marked, change, place, 'refused');
      this.#deps.logger.error({ eventId }, 'the table refused a change; written without payload');
      await this.#insertRows(this.#marked.text(), `${token}/marked`);
    }
  }

  async #insertPart(entries: readonly Entry[], token: string): Promise<void> {
    this.#marked.clear();
    for (const { change, place } of entries) records.write(this.#marked, change, place);
    try {
      await this.#insertRows(this.#marked.text(), token);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.#insertParts(entries, token);
    }
  }

  /** A failed insert may have been written: the same rows under the same token until it succeeds. */
  async #insertRows(rows: Uint8Array, deduplicationToken: string): Promise<void> {
    const { columns } = records;
    const [table] = this.#deps.tables.tables;
    await this.#retrying(() =>
      this.#deps.store.insert({ table, columns, rows, deduplicationToken }),
    );
  }

  async #retrying<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#stop;
    for (let waitMs = retryFirstMs; ; waitMs = Math.min(2 * waitMs, retryMaxMs)) {
      try {
        return await work();
      } catch (error) {
        if (this.#isStopped() || !isRetryable(error)) throw error;
        this.#deps.logger.warn({ err: error }, 'the projection store failed; trying again');
        await pause(waitMs, signal);
      }
    }
  }

  /** A call, because the answer changes while others are awaited. */
  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #fault(name: string): Promise<void> {
    await this.#deps.faultPoint?.(name);
  }
}

function isRetryable(error: unknown): boolean {
  return (
    error instanceof GatewayError &&
    (error.code === 'projection_unavailable' || error.code === 'log_unavailable')
  );
}

function isRefusal(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'projection_refused';
}

/** Ends early, without an error, when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
