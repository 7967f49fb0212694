import {
  connectProjectionStore,
  type TableQuestions,
} from '#adapters/projection-store/store-rpc.ts';
import { trimWhenQuiet } from '#adapters/threads/trim-memory.ts';
import type { Config } from './config/config.ts';
import { mustBeFree } from './process/bind-address.ts';
import { foldersOf } from './process/folders.ts';
import { LogCorruption } from './process/log-corruption.ts';
import { watchLogLiveness, type LogLiveness } from './process/log-liveness.ts';
import { coordinationAccess, openCoordination } from './process/open-coordination.ts';
import type { MainLog, OpenedLog } from './process/open-log.ts';
import { openProcessContext, type ProcessContext } from './process/process-context.ts';
import type { OpenedRoles } from './roles/open-roles.ts';
import type { RunningThread } from './threads/start-thread.ts';
import { startThreads } from './threads/start-threads.ts';

/** The running service; parts are closed in reverse order. */
export interface RunningService extends AsyncDisposable, OpenedRoles {
  readonly log: OpenedLog['log'];
  readonly schemas: OpenedLog['schemas'];
  readonly maintenance: MainLog['maintenance'];
  /** For queries to the tables besides those of the API; null in an owner. */
  readonly tables: TableQuestions | null;
  /** Rejects when an essential part has ended. */
  readonly failed: Promise<never>;
}

/** Opens exactly what the roles of this process need. A failure closes what was opened. */
export async function compose(config: Config): Promise<RunningService> {
  const folders = foldersOf(config.dataDir);
  const corruption = new LogCorruption(folders);
  try {
    return await open(config, { folders, corruption });
  } catch (error) {
    throw config.logUrl.kind === 'embedded' ? corruption.causeOf(error) : error;
  }
}

async function open(
  config: Config,
  processParts: Pick<ProcessContext, 'folders' | 'corruption'>,
): Promise<RunningService> {
  // Mistakes in the overlay are found before anything is written.
  const providers =
    config.providers === null
      ? null
      : (await import('./roles/open-roles.ts')).loadProviders(config);
  await mustBeFree(config);
  // Nothing is written before this line: a start that fails because of its settings leaves nothing behind.
  await using stack = new AsyncDisposableStack();
  const context = await openProcessContext(stack, config, processParts);
  // Most of the code of this thread is loaded while the others start.
  const [threads, { openRoles }] = await Promise.all([
    startThreads(stack, context),
    import('./roles/open-roles.ts'),
  ]);
  const failed = Promise.race(threads.all.map((thread) => thread.failed));
  failed.catch(() => undefined);
  const coordination = await openCoordination(stack, coordinationAccess(config), context.logger);
  const liveness = stack.use(watchLogLiveness({ ...context, log: context.log.log, coordination }));
  const { reasons: readiness, started } = createReadiness(
    threads.all,
    liveness,
    processParts.corruption,
  );
  const opened = await openRoles(stack, context, threads, { coordination, readiness, providers });
  started();
  stack.use(trimWhenQuiet());
  const { projection } = threads;
  const { log, schemas, maintenance } = context.log;
  const running = stack.move();
  return {
    ...opened,
    log,
    schemas,
    maintenance,
    tables: projection === null ? null : connectProjectionStore(projection.peer),
    failed,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

interface Readiness {
  /**
   * Why this node is not ready: it is starting, a thread has ended or waits, the log is silent or corrupt. Empty =
   * ready.
   */
  readonly reasons: () => readonly string[];
  /** Call when the start has finished: from now on a request with a valid key succeeds. */
  readonly started: () => void;
}

/** A node that has not finished its start is not ready, although it already listens. */
const starting = 'the start has not finished: the API keys of the service are not known here yet';

function createReadiness(
  threads: readonly RunningThread[],
  liveness: Pick<LogLiveness, 'reasons'>,
  corruption: Pick<LogCorruption, 'reasons'>,
): Readiness {
  let isStarted = false;
  const ended: string[] = [];
  const waiting = new Map<RunningThread, string>();
  for (const thread of threads) {
    thread.failed.catch((error: unknown) =>
      ended.push(error instanceof Error ? error.message : 'ended'),
    );
    thread.onReadiness((reason) => {
      if (reason === null) waiting.delete(thread);
      else waiting.set(thread, reason);
    });
  }
  return {
    reasons: () => [
      ...(isStarted ? [] : [starting]),
      ...ended,
      ...waiting.values(),
      ...liveness.reasons(),
      ...corruption.reasons(),
    ],
    started: () => {
      isStarted = true;
    },
  };
}
