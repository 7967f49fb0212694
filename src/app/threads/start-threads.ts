import { UnendedThread } from '#kernel/thread-failure.ts';
import type { Config } from '../config/config.ts';
import { coordinationAccess } from '../process/open-coordination.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { startThread, type RunningThread } from './start-thread.ts';
import type { ProjectedPartitions, ThreadData } from './thread-context.ts';
import { lowerPoolPriority } from './thread-priority.ts';

/** Steps of niceness. Acknowledged commands wait for the owners; decided changes wait for the tables. */
const ownersStepsBack = 5;
const tablesStepsBack = 10;

/** The worker threads of this process; null if no role needs one. */
export interface Threads {
  readonly owners: RunningThread | null;
  /** The tables and their projectors. */
  readonly projection: RunningThread | null;
  readonly all: readonly RunningThread[];
}

export async function startThreads(
  stack: AsyncDisposableStack,
  context: ProcessContext,
): Promise<Threads> {
  const { config, folders, corruption, rootKeys, log, node, tracing } = context;
  const { partitions, logLevel, faultPoint, clickhouseUrl, clickhouseCluster: cluster } = config;
  const isInProcess = clickhouseUrl.kind === 'embedded';
  const url = isInProcess ? `embedded:${folders.tables}` : clickhouseUrl.url;
  const clickhouse = { url, cluster };
  const projecting = projectingOf(config);
  const common = {
    node,
    coordination: coordinationAccess(config),
    folders,
    rootKeys,
    partitions,
    logLevel,
    tracing,
    faultPoint,
    clickhouse,
    projecting,
    snapshotDir: config.snapshotDir,
    isStandby: config.standby === 'yes',
  };
  // A start that waits ends when the other one has failed.
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  const start = (name: ThreadData['name'], stepsBack: number, prepare = nothingToPrepare) =>
    startThread(
      { ...common, name, stepsBack, log: log.access() },
      {
        failed,
        prepare,
        onCorruption: (message) => corruption.found(message),
        onIncomplete: ({ part, message }) => corruption.missing(part, message),
      },
    );
  const prepareTables = isInProcess ? prepareEngine : nothingToPrepare;
  const starting = [
    config.roles.has('owner') ? start('owners', ownersStepsBack) : Promise.resolve(null),
    usesTables(config)
      ? start('projection', tablesStepsBack, prepareTables)
      : Promise.resolve(null),
  ] as const;
  for (const one of starting) one.catch(fail);
  for (const one of await Promise.allSettled(starting)) {
    if (one.status === 'fulfilled') stack.use(one.value);
    else if (one.reason instanceof UnendedThread) throw one.reason;
  }
  const [owners, projection] = await Promise.all(starting);
  return { owners, projection, all: [owners, projection].filter((thread) => thread !== null) };
}

const nothingToPrepare = () => Promise.resolve();

async function prepareEngine(): Promise<void> {
  await holdEngine();
  await lowerPoolPriority(tablesStepsBack);
}

/** Every role except the owner reads what is projected, or projects it. */
const usesTables = ({ roles }: Config): boolean => [...roles].some((role) => role !== 'owner');

/** Tables in this process are filled by it; those of a server by the role projector. */
function projectingOf({ clickhouseUrl, roles }: Config): ProjectedPartitions {
  if (clickhouseUrl.kind === 'embedded') return 'all';
  return roles.has('projector') ? 'shared' : 'none';
}

/**
 * Loads the in-process engine into the calling thread, without opening it. Call it in the main thread before a
 * worker thread opens the engine: a library that only a worker has loaded is unmapped when the worker ends, while
 * the engine's own threads still run, and the process crashes.
 */
async function holdEngine(): Promise<void> {
  await import('chdb');
}
