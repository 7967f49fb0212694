import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import { records } from '#modules/records/projection/definition.ts';
import type {
  RecordFeedOptions as FeedOptions,
  RecordGenerationsDeps,
} from '#modules/records/projection/generations.ts';
import {
  startProjector,
  type Projector,
  type ProjectorDeps,
} from '#modules/records/projection/projector.ts';
import { createReadAtEnd } from '#modules/records/projection/read-at-end.ts';
import type { ProjectionNotifications } from '#modules/records/read/projection-notifications.ts';
import type { RecordReader } from '#modules/records/read/reader.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { TableFeed, Reach } from '#streams/projector/generation-feed.ts';
import { createPublication } from '#streams/projector/publication.ts';
import { projectorGroup, startSharedProjector } from '#streams/projector/shared-projector.ts';
import { createSharedPublication } from '#streams/projector/shared-publication.ts';
import type { ThreadContext, ThreadData } from './thread-context.ts';

type GenerationOpeners = Pick<RecordGenerationsDeps, 'openReach' | 'openFeed' | 'isReadElsewhere'>;

/** Inserts of a former projector may arrive within this time: requests time out after half of it. */
const cleanupAfterMs = 10 * 60_000;

interface RecordPorts extends Pick<
  ProjectorDeps,
  'store' | 'codec' | 'clock' | 'partitions' | 'faultPoint'
> {
  readonly log: EventLog;
  readonly logger: Logger;
}

/** Brings the tables to their current form. */
type Prepare = (tables: ProjectorDeps['tables']) => Promise<void>;

/** How this process projects the records, in any generation (see `Projecting` of thread-context.ts). */
export function projectRecords(
  input: Omit<RecordPorts, 'faultPoint'>,
  { faultPoint, metrics }: Pick<ThreadContext, 'faultPoint' | 'metrics'>,
  data: Pick<ThreadData, 'projecting' | 'log'>,
  {
    prepare,
    notifications,
  }: { readonly prepare: Prepare; readonly notifications: ProjectionNotifications },
): GenerationOpeners {
  const ports: RecordPorts = { ...input, faultPoint };
  if (data.projecting === 'all') return projectAll(ports, data, prepare, metrics);
  const { store, logger } = ports;
  return {
    isReadElsewhere: true,
    openReach({ name }) {
      const reach = createSharedPublication({ store, name, logger });
      const stop = notifications.subscribe(name, { published: reach.advance });
      return { ...reach, [Symbol.asyncDispose]: () => stopped(reach, stop) };
    },
    async openFeed(options) {
      const { tables, watermarks } = options;
      const stop = notifications.subscribe(tables.name, {
        dropped: (streams) => watermarks.drop(streams),
      });
      let projector: Projector | null = null;
      const feed =
        data.projecting === 'none'
          ? nothingFed()
          : await startSharedProjector({
              ...ports,
              topic: records.topic,
              group: projectorGroup(records, tables),
              prepare: () => prepare(tables),
              async begin(held, into) {
                projector = await startProjector({
                  ...ports,
                  ...notifying(steered(options, metrics), notifications),
                  cleanupAfterMs,
                  store: into,
                  held,
                });
                return projector;
              },
              forget: () =>
                notifying(steered(options, metrics), notifications).watermarks.drop('all'),
            });
      return {
        holds: (partition) => feed.holds(partition),
        isCurrent: (partition) =>
          feed.holds(partition) && projector?.hasCaughtUp(partition) === true,
        async readable(partition) {
          if (feed.holds(partition)) refuseUnfinished(projector, partition);
          await feed.readable(partition);
        },
        stopped: feed.stopped,
        [Symbol.asyncDispose]: () => stopped(feed, stop),
      };
    },
  };
}

async function stopped(opened: AsyncDisposable, stop: () => void): Promise<void> {
  stop();
  await opened[Symbol.asyncDispose]();
}

type ProjectorControls = Pick<
  ProjectorDeps,
  'tables' | 'watermarks' | 'isAwaited' | 'queryClass' | 'pacePercent'
> &
  Pick<FeedOptions, 'advanced' | 'emptying'>;

/** Counts what was read of each partition since the first report. */
export function counted(
  advanced: FeedOptions['advanced'],
  metrics: Metrics,
  projection: string,
): FeedOptions['advanced'] {
  const nexts = new Map<number, number>();
  return (partition, next) => {
    const read = next - (nexts.get(partition) ?? next);
    nexts.set(partition, next);
    if (read > 0) metrics.count('svc_projection_events_total', [projection, 'applied'], read);
    advanced(partition, next);
  };
}

/** Notifies readers of the same tables in other processes of changes. */
function notifying(
  options: ProjectorControls,
  notifications: ProjectionNotifications,
): ProjectorControls {
  const { watermarks, advanced, tables } = options;
  return {
    ...options,
    watermarks: {
      begin: (streams) => watermarks.begin(streams),
      advance: (stream, watermark) => watermarks.advance(stream, watermark),
      recent: watermarks.recent,
      drop(streams) {
        watermarks.drop(streams);
        notifications.notifyDropped(tables.name, streams);
      },
    },
    advanced(partition, next) {
      advanced(partition, next);
      notifications.notifyPublished(tables.name, partition, next);
    },
  };
}

/** Into tables of its own, which hold what this process has projected, independent of other processes. */
function projectAll(
  ports: RecordPorts,
  { log: access }: Pick<ThreadData, 'log'>,
  prepare: Prepare,
  metrics: Metrics,
): GenerationOpeners {
  const { log } = ports;
  return {
    isReadElsewhere: false,
    openReach: reachOfOwn,
    async openFeed(options) {
      await prepare(options.tables);
      const projector = await startProjector({ ...ports, ...steered(options, metrics) });
      const published: RecordReader['published'] = (...args) => projector.published(...args);
      // With Kafka, other processes accept writes that must be readable here too.
      const isAlone = access.kind === 'embedded';
      const atEnd = isAlone ? () => Promise.resolve() : createReadAtEnd({ log, published });
      return {
        holds: () => true,
        isCurrent: (partition) => projector.hasCaughtUp(partition),
        async readable(partition) {
          refuseUnfinished(projector, partition);
          await atEnd(partition);
        },
        stopped: projector.stopped,
        [Symbol.asyncDispose]: () => projector[Symbol.asyncDispose](),
      };
    },
  };
}

/**
 * A page of tables that are being refilled would end before records that were readable earlier.
 * @throws GatewayError `projection_unavailable`
 */
function refuseUnfinished(projector: Projector | null, partition: number): void {
  if (projector === null || !projector.isRefilling(partition)) return;
  throw new GatewayError('projection_unavailable', { retryAfterS: 1 });
}

function steered(options: FeedOptions, metrics: Metrics): ProjectorControls {
  const { tables, watermarks, emptying, isAwaited, isBuilding, pacePercent } = options;
  const advanced = counted(options.advanced, metrics, records.name);
  const queryClass = () => (isBuilding() ? ('build' as const) : ('insert' as const));
  return { tables, watermarks, emptying, isAwaited, advanced, queryClass, pacePercent };
}

/** How far tables can be read into which only this process projects. */
export function reachOfOwn(): Reach {
  return {
    ...createPublication(),
    refresh: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Other processes project, this one reads. */
export const nothingFed = (): TableFeed => ({
  holds: () => false,
  readable: () => Promise.resolve(),
  stopped: Promise.withResolvers<undefined>().promise,
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
