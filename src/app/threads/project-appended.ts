import { migrate } from '#adapters/projection-store/migrate.ts';
import { openCommandSender } from '#control-plane/command-sender.ts';
import type { Ports } from '#control-plane/ports.ts';
import { projectionRef } from '#modules/operations/projections/entity.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import {
  startAppendedProjector,
  type AppendedProjectorDeps,
  verifyAppended,
} from '#streams/projector/appended-projector.ts';
import type { AnyAppendedProjection } from '#streams/projector/appended.ts';
import { followProjection } from '#streams/projector/consume-projections.ts';
import type { TableFeed, FeedOptions } from '#streams/projector/generation-feed.ts';
import { startGenerations, type ActiveGeneration } from '#streams/projector/generations.ts';
import { projectorGroup, startSharedProjector } from '#streams/projector/shared-projector.ts';
import { createSharedPublication } from '#streams/projector/shared-publication.ts';
import { appendedProjections } from '../process/projections.ts';
import { counted, nothingFed, reachOfOwn } from './project-records.ts';
import type { ThreadData } from './thread-context.ts';
import type { CorruptionWatch } from './watch-corruption.ts';

interface ProjectionPorts extends Ports {
  readonly store: ProjectionStore;
  readonly metrics: Metrics;
  readonly corruption: Pick<CorruptionWatch, 'follow'>;
}

/** Feeds the generations of every projection with one row per message, on `stack`. */
export async function projectAllAppended(
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
  if (projecting === 'shared') {
    return startSharedProjector({
      ...deps,
      topic: projection.topic,
      group: projectorGroup(projection, tables),
      prepare,
      begin: (held, guarded) => begin({ store: guarded, held }),
      forget: () => undefined,
    });
  }
  await prepare();
  const projector = await begin({ store });
  return {
    holds: () => true,
    readable: () => Promise.resolve(),
    stopped: projector.stopped,
    [Symbol.asyncDispose]: () => projector[Symbol.asyncDispose](),
  };
}

/** Readers get the active generation from their view of the control plane. */
const readByName: ActiveGeneration<null> = {
  switchTo: () => undefined,
  watch: () => undefined,
  leave: () => undefined,
};
