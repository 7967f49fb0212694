import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AvroCodec, schemaText } from '#adapters/event-log/avro-codec.ts';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { migrate } from '#adapters/projection-store/migrate.ts';
import type { Clock } from '#kernel/time.ts';
import { systemClock } from '#kernel/time.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import { records } from '#modules/records/projection/definition.ts';
import type { Projector, ProjectorDeps } from '#modules/records/projection/projector.ts';
import { startProjector } from '#modules/records/projection/projector.ts';
import {
  type HighWatermarks,
  createHighWatermarks,
  RecentChanges,
} from '#modules/records/read/high-watermarks.ts';
import { createRecordReader } from '#modules/records/read/read-ahead.ts';
import type { RecordReader, RecordSource } from '#modules/records/read/reader.ts';
import type { SourceDeps } from '#modules/records/read/source.ts';
import { createRecordSource } from '#modules/records/read/source.ts';
import { recordTables } from '#modules/records/read/tables.ts';
import type { ProjectionStore, QueryableStore } from '#ports/projection-store.ts';
import { MemoryLog } from '../fakes/memory-log.ts';
import type { RecordModel } from '../judges/record-model.ts';

export const partitions = 4;
export const changeCodec = new AvroCodec<RecordChange>(schemaText('svc.records.v1'), 1, () => null);

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** ClickHouse in this process, in a folder that is gone when the test ends. One per process at a time. */
export async function openTestStore(): Promise<{ store: QueryableStore } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'svc-projection-'));
  const store = await openClickHouseStore({ url: `embedded:${path}` });
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await rm(path, { recursive: true, force: true });
    },
  };
}

type Options = Partial<
  Pick<ProjectorDeps, 'faultPoint' | 'cleanupMin' | 'store' | 'until' | 'queryClass'>
> &
  Pick<SourceDeps, 'isCurrent'> & {
    readonly clock?: Clock;
    readonly vault?: SourceDeps['vault'];
    /** The last changes are read from memory; otherwise all pages are read from the tables. */
    readonly isRecentKept?: boolean;
  };

export const noVault: SourceDeps['vault'] = {
  ready: () => Promise.reject(new Error('nothing is sealed here')),
  openBytes: () => {
    throw new Error('nothing is sealed here');
  },
};

/** The records projection over a log in memory: what the projection thread holds, and a reader. */
export class TestProjection implements AsyncDisposable {
  readonly log: MemoryLog;
  readonly store: ProjectionStore;
  readonly watermarks: HighWatermarks;
  readonly projector: Projector;
  readonly source: RecordSource;
  readonly reader: RecordReader;

  private constructor(
    log: MemoryLog,
    store: ProjectionStore,
    watermarks: HighWatermarks,
    projector: Projector,
    { clock = systemClock, vault = noVault, isCurrent }: Options,
  ) {
    this.log = log;
    this.store = store;
    this.watermarks = watermarks;
    this.projector = projector;
    this.source = createRecordSource({
      store,
      tables: recordTables(1),
      watermarks,
      published: (...args) => projector.published(...args),
      reached: () => Promise.reject(new Error('not used here')),
      isCurrent: isCurrent ?? ((partition) => projector.hasCaughtUp(partition)),
      vault,
      clock,
      partitions,
    });
    this.reader = createRecordReader(this.source, clock);
  }

  /** Over a log that may hold changes and tables that may hold rows already. */
  static async open(
    store: ProjectionStore,
    log = new MemoryLog(records.topic, partitions),
    options: Options = {},
  ): Promise<TestProjection> {
    const tables = records.tableSet(1);
    await migrate(store, tables.migrations);
    const watermarks = createHighWatermarks(
      new RecentChanges(options.isRecentKept === true ? 2000 : 0),
    );
    const projector = await startProjector({
      log,
      store: options.store ?? store,
      tables,
      codec: changeCodec,
      watermarks,
      clock: options.clock ?? systemClock,
      logger: silent,
      partitions,
      ...(options.faultPoint === undefined ? {} : { faultPoint: options.faultPoint }),
      ...(options.queryClass === undefined ? {} : { queryClass: options.queryClass }),
      ...(options.until === undefined ? {} : { until: options.until }),
      ...(options.cleanupMin === undefined ? {} : { cleanupMin: options.cleanupMin }),
    });
    return new TestProjection(log, store, watermarks, projector, options);
  }

  /** Appends the changes and waits until they can be read. */
  async publish(model: RecordModel, changes: readonly RecordChange[]): Promise<void> {
    await this.settled(model.partition(partitions), this.append(model, changes));
  }

  append(model: RecordModel, changes: readonly RecordChange[]): number {
    const messages = changes.map((change) => model.message(changeCodec, change));
    return this.log.append(model.partition(partitions), messages, Date.now());
  }

  settled(partition: number, offset: number): Promise<void> {
    return this.projector.published(partition, offset, AbortSignal.timeout(30_000));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.projector[Symbol.asyncDispose]();
  }
}

/** Removes all tables, so that the next projection starts with none. */
export async function dropTables(store: ProjectionStore): Promise<void> {
  const tables = await store.queryRows<{ name: string; engine: string }>(
    'SELECT name, engine FROM system.tables WHERE database = currentDatabase()',
  );
  const ordered = tables.sort((a) => (a.engine === 'MaterializedView' ? -1 : 1));
  for (const { name } of ordered) await store.drop(name);
}

export interface ReadRecord {
  readonly id: string;
  readonly _svc_metadata: {
    readonly first_seen_at: string;
    readonly last_modified_at: string;
    readonly last_action: string;
    readonly deleted_at: string | null;
    readonly pruned_at?: string;
    readonly cursor: string;
  };
  readonly [field: string]: unknown;
}

export function parsePage(body: Uint8Array): { records: ReadRecord[]; next_cursor: string | null } {
  return JSON.parse(Buffer.from(body).toString()) as ReturnType<typeof parsePage>;
}
