import { overridden } from '#kernel/overridden.ts';
import type { EventLog, TransactionalWriter } from '#ports/event-log.ts';
import type { Metrics } from '#ports/metrics.ts';

/** The log, with the duration of each successful append and commit observed. */
export function observeLog(log: EventLog, metrics: Metrics, thread: string): EventLog {
  const timed = async <T>(task: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const done = await task();
    const seconds = (performance.now() - startedAt) / 1e3;
    metrics.observe('svc_log_append_duration_seconds', [thread], seconds);
    return done;
  };
  const observed = (writer: TransactionalWriter): TransactionalWriter => ({
    commit: (...args) => timed(() => writer.commit(...args)),
    [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
  });
  return overridden(log, {
    append: (...supplied) => timed(() => log.append(...supplied)),
    openWriter: async (name) => observed(await log.openWriter(name)),
  });
}
