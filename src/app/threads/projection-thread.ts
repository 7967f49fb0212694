import type { Logger } from 'pino';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { migrate, migrationsTable } from '#adapters/projection-store/migrate.ts';
import { UnusableFolder } from '#adapters/projection-store/open-folder.ts';
import { recordSourceMethods, announceDropped } from '#adapters/projection-store/reader-rpc.ts';
import { UnusableServer } from '#adapters/projection-store/server-address.ts';
import { projectionStoreMethods } from '#adapters/projection-store/store-rpc.ts';
import type { Peer } from '#adapters/threads/rpc.ts';
import { openCommandSender } from '#control-plane/command-sender.ts';
import type { Ports } from '#control-plane/ports.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { projectionRef } from '#modules/operations/projections/entity.ts';
import {
  headsTopic,
  type RecordChange,
  type StreamHeadValue,
} from '#modules/records/model/events.ts';
import { records, type RecordTableSet } from '#modules/records/projection/definition.ts';
import { startRecordGenerations } from '#modules/records/projection/generations.ts';
import { fillStreamNames } from '#modules/records/projection/stream-names.ts';
import { verifyGeneration } from '#modules/records/projection/verify.ts';
import { openProjectionNotifications } from '#modules/records/read/projection-notifications.ts';
import { createRecordSource } from '#modules/records/read/source.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { DamagedPart, ProjectionStore, QueryableStore } from '#ports/projection-store.ts';
import type { Schemas } from '#ports/schemas.ts';
import {
  startAppendedProjector,
  type AppendedProjectorDeps,
  verifyAppended,
} from '#streams/projector/appended-projector.ts';
import type { AnyAppendedProjection } from '#streams/projector/appended.ts';
import { followProjection } from '#streams/projector/consume-projections.ts';
import { positionsTable } from '#streams/projector/define.ts';
import type { TableFeed, FeedOptions } from '#streams/projector/generation-feed.ts';
import { startGenerations } from '#streams/projector/generations.ts';
import { serializeInserts, projectorGroup } from '#streams/projector/shared-projector.ts';
import { createSharedPublication } from '#streams/projector/shared-publication.ts';
import { openCoordination } from '../process/open-coordination.ts';
import { appendedProjections } from '../process/projections.ts';
import { projectCustom } from './project-custom.ts';
import { projectRecords, counted, nothingFed, reachOfOwn } from './project-records.ts';
import { readByName } from './read-by-name.ts';
import { serveThread } from './serve-thread.ts';
import { startFeed } from './start-feed.ts';
import type { ThreadData } from './thread-context.ts';
import {
  watchCorruption,
  type CorruptionWatch,
  type CorruptionWatchDeps,
} from './watch-corruption.ts';
import { readableWhenPublished, watchTables } from './watch-tables.ts';

/** @throws CannotStart if the setting must be changed, or the folder cannot be used */
async function openTables(
  clickhouse: { readonly url: string; readonly cluster: string | null },
  logger: Pick<Logger, 'warn'>,
  onPartDamaged?: (damaged: DamagedPart) => void,
): Promise<QueryableStore> {
  const onDamaged = (corruption: object) =>
    logger.warn(corruption, 'the tables are corrupt: they are rebuilt from the log');
  try {
    return await openClickHouseStore({
      ...clickhouse,
      onDamaged,
      ...(onPartDamaged === undefined ? {} : { onPartDamaged }),
    });
  } catch (error) {
    if (error instanceof UnusableFolder) {
      throw new CannotStart(`SVC_DATA_DIR: ${error.message}`, { cause: error });
    }
    if (!(error instanceof UnusableServer)) throw error;
    throw new CannotStart(`SVC_CLICKHOUSE_URL cannot be used: ${error.message}`, { cause: error });
  }
}

/**
 * The tables, their reader, and the projectors of this process. One thread holds them because ClickHouse in process
 * requires it.
 */
serveThread(async (context, stack, data, main) => {
  const { log, schemas, vault, clock, logger, metrics } = context;
  const { clickhouse, partitions } = data;
  const { name } = records;
  let forget = (): void => undefined;
  const readiness = joined((reason) => main.emit('unready', reason));
  const notify = (reason: string | null): void => {
    readiness('tables', reason);
    // Pages that were read ahead must not outlive the server from which they came.
    if (reason !== null) forget();
  };
  const { store, corruption, isServer } = await openWatchedTables(stack, data, {
    logger,
    report: (reason) => readiness('damage', reason),
  });
  const watch = isServer ? stack.use(watchTables({ store, logger, report: notify })) : null;
  const projection = stack.use(await followProjection({ log, schemas, logger }, name));
  const reads = corruption.follow(records, projection);
  const report = await openCommandSender({ log, schemas, clock });
  const codec = await schemas.codec<RecordChange>(records.topic);
  const ports = { log, store, codec, clock, logger, partitions };
  const coordination = await openCoordination(stack, data.coordination, logger);
  const notifications = stack.use(
    await openProjectionNotifications({ coordination, node: data.node, logger }),
  );
  // Replicated tables take one insert at a time across all processes.
  const filled =
    clickhouse.cluster === null ? store : serializeInserts(store, { coordination, logger });
  const prepare = await preparing({ ...ports, schemas, store: filled });
  const generations = stack.use(
    await startRecordGenerations({
      ...ports,
      ...projectRecords({ ...ports, store: filled }, context, data, { prepare, notifications }),
      projection,
      reads,
      stalled: (reason) => readiness(name, reason),
      openSource: (source) =>
        createRecordSource({
          ...source,
          store,
          vault,
          clock,
          partitions,
          beforeReading: async (partition) => {
            watch?.refuseAway();
            await source.beforeReading(partition);
          },
        }),
      report: (fields) => report(projectionRef(name), { ...fields, name }, { actor: 'system' }),
      verify: (compared, signal) => verifyGeneration(ports, compared, signal),
    }),
  );
  forget = () => generations.forget();
  generations.stopped.catch((err: unknown) => endProcess(err, logger, main));
  await projectOthers(stack, { ...context, ...ports, metrics, corruption, store: filled }, data);
  corruption.check();
  announceDropped(generations.source, main);
  return {
    ...recordSourceMethods(readableWhenPublished(generations.source, watch)),
    ...projectionStoreMethods(store),
  };
});

/** Brings tables of records to their current form, also of what an earlier release filled. */
async function preparing(deps: {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly store: ProjectionStore;
  readonly partitions: number;
}): Promise<(tables: RecordTableSet) => Promise<void>> {
  const heads = await deps.schemas.codec<StreamHeadValue>(headsTopic);
  return async (tables) => {
    await migrate(deps.store, tables.migrations);
    await fillStreamNames({ ...deps, heads }, tables);
  };
}

function endProcess(err: unknown, logger: Pick<Logger, 'fatal'>, main: Pick<Peer, 'emit'>): void {
  const reason = 'the records projector cannot continue';
  logger.fatal({ err }, reason);
  main.emit('fatal', reason);
}

async function openWatchedTables(
  stack: AsyncDisposableStack,
  { clickhouse }: Pick<ThreadData, 'clickhouse'>,
  deps: Pick<CorruptionWatchDeps, 'logger' | 'report'>,
) {
  let corruption: CorruptionWatch | null = null;
  const found = (damaged: DamagedPart): void => corruption?.found(damaged);
  const store = stack.use(await openTables(clickhouse, deps.logger, found));
  const isServer = !clickhouse.url.startsWith('embedded:');
  const disposable = isServer ? [] : [positionsTable, migrationsTable];
  corruption = stack.use(watchCorruption({ ...deps, store, disposable, isServer }));
  return { store, corruption, isServer };
}

/** Why a thread is not ready, from several of its parts: null withdraws the part's reason. */
type ReadinessReasons = (part: string, reason: string | null) => void;

/** Reports the reasons of all parts as one; null when there is none. */
function joined(report: (reason: string | null) => void): ReadinessReasons {
  const reasons = new Map<string, string>();
  return (part, reason) => {
    if (reason === null) reasons.delete(part);
    else reasons.set(part, reason);
    report(reasons.size === 0 ? null : [...reasons.values()].join('; '));
  };
}

interface ProjectionPorts extends Ports {
  readonly store: ProjectionStore;
  readonly metrics: Metrics;
  readonly corruption: Pick<CorruptionWatch, 'follow'>;
}

/** Feeds the generations of every projection but the records, on `stack`. */
async function projectOthers(
  stack: AsyncDisposableStack,
  ports: ProjectionPorts & Omit<Parameters<typeof projectCustom>[0], 'projecting'>,
  data: Pick<ThreadData, 'projecting'>,
): Promise<void> {
  await projectAllAppended(stack, ports, data);
  const { projecting } = data;
  if (projecting !== 'none') stack.use(await projectCustom({ ...ports, projecting }));
}

/** Feeds the generations of every projection with one row per message, on `stack`. */
async function projectAllAppended(
  stack: AsyncDisposableStack,
  ports: ProjectionPorts,
  data: Pick<ThreadData, 'projecting'>,
): Promise<void> {
  for (const projection of appendedProjections) {
    await projectAppended(stack, ports, projection, data);
  }
}

async function projectAppended(
  stack: AsyncDisposableStack,
  ports: ProjectionPorts,
  projection: AnyAppendedProjection,
  { projecting }: Pick<ThreadData, 'projecting'>,
): Promise<void> {
  const { log, schemas, store, clock, logger } = ports;
  const { name, topic, tableSet } = projection;
  const decided = stack.use(await followProjection({ log, schemas, logger }, name));
  ports.corruption.follow(projection, decided);
  const report = await openCommandSender({ log, schemas, clock });
  const partitions = await log.partitions(topic);
  const codec = await schemas.codec(topic);
  const generations = stack.use(
    await startGenerations({
      log,
      store,
      clock,
      logger,
      partitions,
      topic,
      tableSet,
      projection: decided,
      openReach: (tables) =>
        projecting === 'all'
          ? reachOfOwn()
          : createSharedPublication({ store, name: tables.name, logger }),
      openFeed: (options) => feed({ ...ports, projection, codec, partitions }, options, projecting),
      openSource: () => null,
      openActive: () => readByName,
      // The decided one.
      reads: () => undefined,
      dropCopies: () => Promise.resolve(),
      isTableOf: (table, generation) => tableSet(generation).tables.includes(table),
      // Lag makes no answer wrong; the metrics report it.
      stalled: () => undefined,
      report: (fields) => report(projectionRef(name), { ...fields, name }, { actor: 'system' }),
      verify: (compared, signal) =>
        verifyAppended({ log, store, partitions }, projection, compared, signal),
    }),
  );
  generations.stopped.catch((err: unknown) => {
    logger.error({ err, projection: name }, 'a projection has stopped');
  });
}

type FeedPorts = ProjectionPorts &
  Pick<AppendedProjectorDeps, 'projection' | 'codec' | 'partitions'>;

async function feed(
  deps: FeedPorts,
  options: FeedOptions,
  projecting: ThreadData['projecting'],
): Promise<TableFeed> {
  const { store, projection } = deps;
  const { tables } = options;
  const prepare = () => migrate(store, tables.migrations);
  const begin = (into: Pick<AppendedProjectorDeps, 'store' | 'held'>) =>
    startAppendedProjector({
      ...deps,
      ...options,
      ...into,
      advanced: counted(options.advanced, deps.metrics, projection.name),
    });
  if (projecting === 'none') return nothingFed();
  const { log, logger } = deps;
  const group = projectorGroup(projection, tables);
  return startFeed({
    log,
    logger,
    store,
    projecting,
    topic: projection.topic,
    group,
    prepare,
    begin,
  });
}
