import { workerData } from 'node:worker_threads';
import { settleStatements } from '#adapters/projection-store/statements.ts';
import { connect, type Methods, type Peer } from '#adapters/threads/rpc.ts';
import { trimWhenQuiet } from '#adapters/threads/trim-memory.ts';
import { systemClock } from '#kernel/time.ts';
import { createLogger } from '../process/logger.ts';
import { openThreadLog } from '../process/open-log.ts';
import { openTracing } from '../process/open-tracing.ts';
import { startOnLog } from '../process/start-on-log.ts';
import { openThreadContext, type ThreadContext, type ThreadData } from './thread-context.ts';
import { lowerThreadPriority } from './thread-priority.ts';

/**
 * The part of a role that runs in a thread: opens its resources on the stack and returns the methods that it
 * serves.
 */
export type ThreadWork = (
  context: ThreadContext,
  stack: AsyncDisposableStack,
  data: ThreadData,
  main: Peer,
) => Promise<Methods>;

/**
 * The main function of every worker thread: `open` starts its task, `close` ends it in reverse, `settle` makes it ready
 * to be terminated in the middle of `open`.
 */
export function serveThread(task: ThreadWork): void {
  const data = workerData as ThreadData;
  lowerThreadPriority(data.stepsBack);
  const stack = new AsyncDisposableStack();
  const served: Record<string, Methods[string]> = {
    open: async () => {
      const logger = createLogger(data.logLevel, data.name);
      stack.use(trimWhenQuiet());
      await openTracing(stack, data.tracing, { thread: data.name, logger });
      const onCorruption = (message: string) => main.emit('log damaged', message);
      const opened = await openThreadLog(stack, data.log, {
        clock: systemClock,
        logger,
        thread: data.name,
        onCorruption,
      });
      const start = startOnLog(opened, logger);
      await start.run(async () => {
        const context = await openThreadContext(data, stack, { start, logger });
        const metrics = { 'metrics.snapshot': () => context.metrics.snapshot() };
        Object.assign(served, metrics, await task(context, stack, data, main));
      });
    },
    close: () => stack.disposeAsync(),
    settle: settleStatements,
  };
  const main = connect(data.port, served);
  reportExit(main);
}

/**
 * The end of a thread in the middle of a statement of the tables waits for the statement: the main thread learns of it
 * at once. What the thread throws it learns by itself.
 */
function reportExit(main: Peer): void {
  let hasThrown = false;
  process.once('uncaughtExceptionMonitor', () => void (hasThrown = true));
  process.once('exit', (code) => {
    if (!hasThrown) main.emit('fatal', `it ended with code ${code}`);
  });
}
