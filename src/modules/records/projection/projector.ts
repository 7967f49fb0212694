import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { pause } from '#kernel/retry.ts';
import type { EventLog, Batch as LogBatch } from '#ports/event-log.ts';
import type { QueryClass, ProjectionStore } from '#ports/projection-store.ts';
import type { Codec } from '#ports/schemas.ts';
import { type Start, Positions, startPositions } from '#streams/projector/positions.ts';
import { type Publication, createPublication } from '#streams/projector/publication.ts';
import { TableProjector, type TableProjectorDeps } from '#streams/projector/table-projector.ts';
import type { RecordChange } from '../model/events.ts';
import type { HighWatermarks } from '../read/high-watermarks.ts';
import type { RecordTables } from '../read/tables.ts';
import { Batch, type Range, type LooseTombstone, createInserter, type Inserter } from './batch.ts';
import { type Cleanup, createCleanup, purgedPartitions } from './cleanup.ts';
import { records, type RecordTableSet, type StreamPlace } from './definition.ts';
import { RowBuilder, placeholder } from './row-builder.ts';
import { StreamNames } from './stream-names.ts';

const tombstonesPerQuery = 500;

/**
 * Adds rows that cancel those of tombstones without their purge (the purge was compacted away, or read long before):
 * rare, so it may query the table.
 * @throws GatewayError `projection_unavailable`: the batch is unchanged
 */
async function buryTombstones(
  store: ProjectionStore,
  batch: Batch,
  { byId }: Pick<RecordTables, 'byId'>,
): Promise<void> {
  const byStream = Map.groupBy(batch.tombstones, ({ place: streamPlace }) => streamPlace.number);
  const found: { readonly place: StreamPlace; readonly rows: readonly LiveRow[] }[] = [];
  for (const tombstones of byStream.values()) {
    for (let at = 0; at < tombstones.length; at += tombstonesPerQuery) {
      found.push(await liveRows(store, byId, tombstones.slice(at, at + tombstonesPerQuery)));
    }
  }
  for (const { place, rows } of found) {
    for (const { record_id: recordId, position, version } of rows) {
      // Of the same version the row inserted last counts.
      const change = {
        ...placeholder({ recordId, model: '', variant: '' }, Number(version), 0),
        action: 'purged' as const,
        position: Number(position),
      };
      records.write(batch.writer, change, { place, offset: 0 });
    }
  }
}

interface LiveRow {
  readonly record_id: string;
  readonly position: string;
  readonly version: string;
}

async function liveRows(
  store: ProjectionStore,
  byId: string,
  tombstones: readonly LooseTombstone[],
): Promise<{ place: StreamPlace; rows: LiveRow[] }> {
  const streamPlace = tombstones[0]?.place ?? { partition: 0, number: '0' };
  const rows = await store.queryRows<LiveRow>(
    `SELECT record_id, position, version FROM ${byId} FINAL
     WHERE log_partition = {partition:UInt16} AND stream_id = {stream:UInt64}
       AND record_id IN {ids:Array(String)}`,
    {
      partition: streamPlace.partition,
      stream: streamPlace.number,
      ids: tombstones.map(({ recordId }) => recordId),
    },
  );
  return { place: streamPlace, rows };
}

/** With fewer changes than this, an insert waits only a moment for more. */
const lingerBelowChanges = 1_000;
/**
 * Changes within `rushMs` that come faster than single inserts can handle: an insert has a fixed cost, that of some
 * thousand rows, and so has each part that it leaves to be merged. Waiting for `gatherMs` makes inserts of thousands.
 */
const rushChanges = 400;
const rushMs = 250;
const gatherMs = 500;
/** When nothing more has come for this long, the rush is over: its readers wait no longer. */
const quietMs = 100;
/**
 * While tables without readers are filled from the log, inserts become as large as possible. After that, inserts are
 * delayed less: a projector that waits for each insert never catches up with the writers.
 */
const fillGatherMs = 2_000;

interface RecentInsert {
  /** When the insert began. */
  readonly at: number;
  readonly changes: number;
}

/**
 * Decides how long a batch waits for more changes before it is inserted. Times are milliseconds of a monotonic clock,
 * `changes` those of the open batch.
 */
export class Gathering {
  #recent: readonly RecentInsert[] = [];
  #begunAt = 0;
  #grewAt = 0;
  #changes = 0;

  /** Notes that an insert of so many changes begins. */
  inserting(at: number, changes: number): void {
    this.#recent = [...this.#since(at - rushMs), { at, changes }];
  }

  /** Begins to gather; false when the batch is worth an insert as it is: what comes alone is readable at once. */
  begin(at: number, changes: number): boolean {
    this.#begunAt = at;
    this.#grewAt = at;
    this.#changes = changes;
    if (changes >= lingerBelowChanges) return true;
    const before = this.#since(at - rushMs).reduce((sum, recent) => sum + recent.changes, 0);
    return before > 0 && before + changes >= rushChanges;
  }

  /** Whether the batch has waited long enough. */
  isOver(at: number, changes: number, isFilling: boolean): boolean {
    if (changes > this.#changes) this.#grewAt = at;
    this.#changes = changes;
    if (isFilling) return at - this.#begunAt >= fillGatherMs;
    return at - this.#begunAt >= gatherMs || at - this.#grewAt >= quietMs;
  }

  #since(at: number): readonly RecentInsert[] {
    return this.#recent.filter((recent) => recent.at > at);
  }
}

/** One insert: 20,000 changes write up to 40,000 rows. Above the bytes the engine might cut it in two. */
const largest = { changesMax: 20_000, bytesMax: 32 * 1024 ** 2 };
/** For tables without readers: no read waits for an insert, and fewer parts are synced and merged. */
const largestBuilding = { changesMax: 60_000, bytesMax: 64 * 1024 ** 2 };
/** How long an insert waits that does not gather. */
const lingerMs = 3;
const gatherStepMs = 25;
/** The thread also answers pages: no uninterrupted work longer than about 2 ms. */
const messagesPerStretch = 256;
/** A position stored later than its rows only costs reading them again; storing it is an insert, too. */
const positionEveryMs = 1_000;
const saveIdleAfterMs = 250;

export interface ProjectorDeps extends TableProjectorDeps {
  readonly log: Pick<EventLog, 'follow' | 'read' | 'startOffset' | 'endOffset'>;
  readonly tables: RecordTableSet;
  readonly codec: Codec<RecordChange>;
  readonly watermarks: Pick<HighWatermarks, 'begin' | 'advance' | 'drop' | 'recent'>;
  readonly faultPoint?: (name: string) => void | Promise<void>;
  /** Superseded rows of a partition after which a cleanup is considered. */
  readonly cleanupMin?: number;
  /** A cleanup begins no sooner after the start: until then inserts of a former projector may come late. */
  readonly cleanupAfterMs?: number;
  /** The class of its inserts, evaluated before each; default `insert`. */
  readonly queryClass?: () => QueryClass;
  /** As `Publication.isAwaited`, of readers that wait elsewhere than at the projector. */
  readonly isAwaited?: Publication['isAwaited'];
}

export interface Projector extends AsyncDisposable {
  /** As `RecordReader.published`. */
  published(partition: number, offset: number, signal: AbortSignal): Promise<void>;
  /**
   * Whether it has inserted everything of the partition that the log had at its start. Until then the tables may have
   * rows that it has not reached, also from late inserts of a former projector.
   */
  hasCaughtUp(partition: number): boolean;
  /**
   * Whether the tables were emptied of the partition, maybe before an earlier start, and do not yet have everything that
   * the log had at this one.
   */
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
  if (rebuilt.length > 0) deps.watermarks.drop('all');
  if (toRead > 0) {
    deps.logger.info({ partitions: rebuilt, toRead }, 'rebuilding the records projection');
  }
  return new RunningProjector(deps, positions, start).begin();
}

class RunningProjector extends TableProjector<Range, Batch, ProjectorDeps> implements Projector {
  readonly #start: Start;
  readonly #publication: Publication = createPublication();
  readonly #builder: RowBuilder;
  readonly #cleanup: Cleanup;
  readonly #inserter: Inserter;
  readonly #streamNames: StreamNames;
  #isInserting = false;
  /** Whether it still reads the part of the log from before its start, for tables without readers. */
  #isFilling = false;
  readonly #gathering = new Gathering();

  constructor(deps: ProjectorDeps, positions: Positions, start: Start) {
    super(deps, positions, start, {
      topic: records.topic,
      makeBatch: () => new Batch(),
      positionEveryMs,
      // Who has heard that the tables are complete looks at their position next.
      saveIdleAfterMs: () => (this.#isBuilding() ? 0 : saveIdleAfterMs),
    });
    this.#start = start;
    const epochs = start.positions.map(
      ({ partition, ownerEpoch }) => [partition, ownerEpoch] as const,
    );
    this.#builder = new RowBuilder(deps, new Map(epochs));
    this.#streamNames = new StreamNames(deps.store, deps.tables.names);
    this.#inserter = createInserter(deps, (task) => this.retrying(task));
    const cleanupFrom = performance.now() + (deps.cleanupAfterMs ?? 0);
    this.#cleanup = createCleanup({
      store: deps.store,
      tables: deps.tables,
      clock: deps.clock,
      logger: deps.logger,
      isSafe: () => this.isSaved && !this.#isInserting && performance.now() >= cleanupFrom,
      ...(deps.cleanupMin === undefined ? {} : { supersededMin: deps.cleanupMin }),
    });
    void this.#findPurged();
  }

  published(partition: number, offset: number, signal: AbortSignal): Promise<void> {
    return this.#publication.published(partition, offset, signal);
  }

  hasCaughtUp(partition: number): boolean {
    return this.#publication.next(partition) >= (this.#start.ends.get(partition) ?? Infinity);
  }

  isRefilling(partition: number): boolean {
    return this.#start.refilling.has(partition) && !this.hasCaughtUp(partition);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#cleanup.settled();
  }

  /** What was purged before this start is cleaned as well. */
  async #findPurged(): Promise<void> {
    const { store, tables, logger } = this.deps;
    try {
      for (const partition of await purgedPartitions(store, tables)) {
        if (this.reached.has(partition)) this.#cleanup.note(partition, 0, true);
      }
    } catch (err) {
      logger.warn({ err }, 'what was purged could not be looked for');
    }
  }

  /**
   * Tables that nobody reads yet are filled one partition after the other: an insert leaves a part for each partition
   * that it has rows of, and each part is to be merged.
   */
  protected override async *batchesFrom(
    next: ReadonlyMap<number, number>,
  ): AsyncGenerator<LogBatch> {
    const { topic } = records;
    if (this.#isBuilding()) {
      this.#isFilling = true;
      const options = { signal: this.stop.signal, maxBytes: 1024 ** 2 };
      for (const [partition, offset] of next)
        yield* this.deps.log.read({ topic, partition, offset }, options);
      this.#isFilling = false;
    }
    yield* super.batchesFrom(next);
  }

  protected async take({ partition, messages, next }: LogBatch): Promise<void> {
    const limit = this.deps.until?.get(partition) ?? Infinity;
    let stretch = 0;
    for (const message of messages) {
      if (message.offset >= limit) break;
      await this.room();
      if (this.isStopped()) return;
      this.#builder.add(this.batches.open, partition, message);
      this.traces.note(this.batches.open, message);
      if (++stretch % messagesPerStretch === 0) {
        this.batches.noteFilled();
        await yieldToOthers();
      }
    }
    this.batches.open.reachNext(partition, Math.min(next, limit));
    this.batches.noteFilled();
  }

  protected isFull(): boolean {
    const { entries, writer } = this.batches.open;
    const { changesMax, bytesMax } = this.#isBuilding() ? largestBuilding : largest;
    return entries.length >= changesMax || writer.bytes >= bytesMax;
  }

  /** Until the open batch is full or a caller waits for it, or for as long as waiting pays. */
  protected async gather(): Promise<void> {
    const { signal } = this.stop;
    const { entries } = this.batches.open;
    if (!this.#gathering.begin(performance.now(), entries.length)) {
      await pause(lingerMs, signal);
      return;
    }
    const isOver = (): boolean =>
      this.#gathering.isOver(performance.now(), entries.length, this.#isFilling);
    while (!this.isStopped() && !this.isFull() && !this.#isAwaited() && !isOver())
      await pause(gatherStepMs, signal);
  }

  /** Whether a caller waits for changes of the open batch. */
  #isAwaited(): boolean {
    const { isAwaited = () => false } = this.deps;
    return [...this.batches.open.ranges].some(
      ([partition, { next }]) =>
        isAwaited(partition, next) || this.#publication.isAwaited(partition, next),
    );
  }

  /** These tables have no readers yet. */
  #isBuilding(): boolean {
    return this.deps.queryClass?.() === 'build';
  }

  protected async insert(batch: Batch): Promise<void> {
    const { watermarks, store, tables } = this.deps;
    if (batch.tombstones.length > 0) {
      await this.retrying(() => buryTombstones(store, batch, tables.names));
    }
    await this.retrying(() => this.#streamNames.write(batch.streams.values()));
    if (batch.writer.rows > 0) {
      await this.#fault('projector:before-insert');
      watermarks.begin(batch.heads.keys());
      this.#gathering.inserting(performance.now(), batch.entries.length);
      this.#isInserting = true;
      const marked = await this.#inserter.insert(batch);
      this.#isInserting = false;
      await this.#fault('projector:after-insert');
      if (!this.#isBuilding()) watermarks.recent.add(batch.entries);
      for (const { place } of marked) watermarks.recent.drop(place.number);
    }
    for (const { place } of batch.tombstones) watermarks.recent.drop(place.number);
    for (const [stream, watermark] of batch.heads) watermarks.advance(stream, watermark);
    if (batch.dropped.size > 0) watermarks.drop([...batch.dropped]);
  }

  protected override publishRange(partition: number, range: Range): void {
    this.#cleanup.note(partition, range.superseded, range.hasEmptied);
    super.publishRange(partition, range);
  }

  protected override advance(partition: number, next: number): void {
    this.#publication.advance(partition, next);
    super.advance(partition, next);
  }

  protected override async save(): Promise<void> {
    await super.save();
    await this.#fault('projector:after-position');
    this.#cleanup.consider();
  }

  async #fault(name: string): Promise<void> {
    await this.deps.faultPoint?.(name);
  }
}
