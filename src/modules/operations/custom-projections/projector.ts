import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { isOutage } from '#kernel/errors.ts';
import { pause, retrying } from '#kernel/retry.ts';
import { recordsTopic, type RecordChange } from '#modules/records/model/events.ts';
import { Places } from '#modules/records/projection/batch.ts';
import { ChangeDecoder } from '#modules/records/projection/row-builder.ts';
import type { Batch as LogBatch, EventLog } from '#ports/event-log.ts';
import type { ChangeMapper } from '#ports/sandbox.ts';
import type { Codec } from '#ports/schemas.ts';
import { Positions, startPositions, type Start } from '#streams/projector/positions.ts';
import {
  insertByHalves,
  TableProjector,
  type TableProjectorDeps,
} from '#streams/projector/table-projector.ts';
import { TabWriter } from '#tables/rows.ts';
import { Batch, ChangeSelection, writeRow, type Entry, type MapRun, type Range } from './batch.ts';
import type { CustomProjection } from './custom-projection.ts';
import { isMapperBusy, mapChanges, type MappedRows } from './map-changes.ts';
import { insertedColumns, type CustomTableSet } from './tables.ts';

/** One insert. */
const largest = { changesMax: 20_000, bytesMax: 16 * 1024 ** 2 };
/** For tables without readers: no read waits for an insert, and fewer parts are merged. */
const largestBuilding = { changesMax: 60_000, bytesMax: 48 * 1024 ** 2 };
/** Runs of the mapping at a time: a second process takes the rest of the processor. */
const lanes = 2;
/** The thread also answers pages: no uninterrupted work longer than about 2 ms. */
const messagesPerStretch = 256;
/** A reader waits so long for what comes alone. */
const lingerMs = 100;
/** While many come, so that inserts become large. */
const rushChanges = 1_000;
const gatherMs = 500;
const gatherStepMs = 25;
const positionEveryMs = 1_000;
/** What was removed for good leaves the files after this time without further inserts, at the earliest. */
const mergeAfterMs = 5_000;

export interface CustomProjectorDeps extends TableProjectorDeps {
  readonly log: Pick<EventLog, 'follow' | 'read' | 'startOffset' | 'endOffset'>;
  readonly tables: CustomTableSet;
  readonly custom: CustomProjection;
  readonly codec: Codec<RecordChange>;
  readonly mapper: Pick<ChangeMapper, 'map'>;
  /** Whether its tables have no readers yet. */
  readonly isBuilding: () => boolean;
  readonly faultPoint: (name: string) => void | Promise<void>;
}

/**
 * Starts to write the mapped rows of records into the table, from the stored positions on. A change that cannot be mapped
 * or read is a row with an error and without values.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`
 */
export async function startCustomProjector(deps: CustomProjectorDeps): Promise<CustomProjector> {
  const positions = new Positions(deps.store, deps.tables.name);
  const start = await startPositions(deps, recordsTopic, deps.tables, positions);
  return new CustomProjector(deps, positions, start).begin();
}

class CustomProjector extends TableProjector<Range, Batch, CustomProjectorDeps> {
  readonly #selection: ChangeSelection;
  readonly #writer = new TabWriter(64 * 1024);
  readonly #removed = new Set<number>();
  readonly #lanes: Promise<void>[] = [];
  #runs = 0;
  #merging: NodeJS.Timeout | null = null;

  constructor(deps: CustomProjectorDeps, positions: Positions, start: Start) {
    super(deps, positions, start, {
      topic: recordsTopic,
      makeBatch: () => new Batch(),
      positionEveryMs,
      saveIdleAfterMs: () => (deps.isBuilding() ? 0 : positionEveryMs),
    });
    this.#selection = new ChangeSelection(deps.custom, deps.tables.version, {
      decoder: new ChangeDecoder(deps.codec),
      places: new Places(deps.partitions),
      epochs: new Map(start.positions.map((one) => [one.partition, one.ownerEpoch] as const)),
    });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.#merging !== null) clearTimeout(this.#merging);
    await super[Symbol.asyncDispose]();
  }

  /** Tables without readers are filled one partition after the other: each insert leaves a part for each partition. */
  protected override async *batchesFrom(
    next: ReadonlyMap<number, number>,
  ): AsyncGenerator<LogBatch> {
    if (this.deps.isBuilding()) {
      const options = { signal: this.stop.signal, maxBytes: 1024 ** 2 };
      for (const [partition, offset] of next)
        yield* this.deps.log.read({ topic: recordsTopic, partition, offset }, options);
    }
    yield* super.batchesFrom(next);
  }

  protected async take({ partition, messages, next }: LogBatch): Promise<void> {
    let stretch = 0;
    for (const message of messages) {
      await this.room();
      if (this.isStopped()) return;
      const { open } = this.batches;
      const range = open.reach(partition, message.offset, message.offset + 1, message.timestamp);
      try {
        const entry = this.#selection.entryOf(range, partition, message);
        if (entry !== null) open.add(entry, this.#map);
      } catch (err) {
        const { offset } = message;
        this.deps.logger.error({ err, partition, offset }, 'a change cannot be projected');
      }
      if (++stretch % messagesPerStretch === 0) {
        this.batches.noteFilled();
        await yieldToOthers();
      }
    }
    this.batches.open.reach(partition, next, next, 0);
    this.batches.noteFilled();
  }

  protected isFull(): boolean {
    const { entries, bytes } = this.batches.open;
    const { changesMax, bytesMax } = this.deps.isBuilding() ? largestBuilding : largest;
    return entries.length >= changesMax || bytes >= bytesMax;
  }

  protected async gather(): Promise<void> {
    const { entries } = this.batches.open;
    for (let waitedMs = 0; waitedMs < gatherMs && !this.isFull(); waitedMs += gatherStepMs) {
      if (waitedMs >= lingerMs && entries.length < rushChanges) return;
      if (this.isStopped()) return;
      await pause(gatherStepMs, this.stop.signal);
    }
  }

  protected async insert(batch: Batch): Promise<void> {
    if (batch.entries.length === 0) return;
    const { logger } = this.deps;
    const mapped = await batch.mapped(this.#map);
    await this.deps.faultPoint('custom-projector:before-insert');
    await insertByHalves(
      batch.entries,
      batch.token,
      (entries, token) => this.#insertRows(entries, mapped, token),
      async (entry, token, err) => {
        const { partition, offset } = entry;
        logger.error({ err, partition, offset }, 'the table refused the rows of a change');
        const refused = new Map([[entry, { error: 'The table refused the rows.' }]]);
        await this.#insertRows([entry], refused, `${token}/refused`);
      },
    );
    await this.deps.faultPoint('custom-projector:after-insert');
  }

  #insertRows(
    entries: readonly Entry[],
    mapped: ReadonlyMap<Entry, MappedRows>,
    deduplicationToken: string,
  ): Promise<void> {
    const { store, tables, isBuilding } = this.deps;
    this.#writer.clear();
    for (const entry of entries) writeRow(this.#writer, entry, mapped.get(entry) ?? null);
    return this.retrying(() =>
      store.insert({
        table: tables.name,
        columns: insertedColumns,
        rows: this.#writer.text(),
        deduplicationToken,
        queryClass: isBuilding() ? 'build' : 'insert',
      }),
    );
  }

  /** After the run before it in its lane. */
  readonly #map: MapRun = (changes) => {
    const at = this.#runs++ % lanes;
    const before = this.#lanes[at] ?? Promise.resolve();
    const mapped = before.then(() => this.#mapRun(changes));
    this.#lanes[at] = mapped.then(
      () => undefined,
      () => undefined,
    );
    return mapped;
  };

  #mapRun(changes: readonly string[]): Promise<readonly MappedRows[]> {
    const { mapper, tables, custom, logger } = this.deps;
    const code = { bundle: tables.version.bundle, fileName: `${custom.name}.cjs` };
    return retrying(() => mapChanges(mapper, code, changes, this.stop.signal), {
      signal: this.stop.signal,
      isRetryable: (error) => isOutage(error) || isMapperBusy(error),
      failed: (err) => logger.warn({ err, projection: custom.projection }, 'a mapping waits'),
    });
  }

  protected override publishRange(partition: number, range: Range): void {
    super.publishRange(partition, range);
    if (!range.hasRemoved) return;
    this.#removed.add(partition);
    this.#mergeLater();
  }

  /** Merges replace rows at some time, or never: what was removed for good must leave the files soon. */
  #mergeLater(): void {
    this.#merging ??= setTimeout(() => {
      this.#merging = null;
      void this.#merge();
    }, mergeAfterMs).unref();
  }

  async #merge(): Promise<void> {
    const { store, tables, logger } = this.deps;
    const [partition] = this.#removed;
    if (partition === undefined || this.isStopped()) return;
    this.#removed.delete(partition);
    try {
      const sql = `OPTIMIZE TABLE ${tables.name} PARTITION ${partition} FINAL`;
      await store.command(sql, { queryClass: 'cleanup' });
    } catch (err) {
      if (this.isStopped()) return;
      logger.warn({ err, table: tables.name, partition }, 'removed rows could not be merged away');
    }
    if (this.#removed.size > 0) this.#mergeLater();
  }
}
