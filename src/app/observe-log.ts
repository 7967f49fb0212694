import type { EventLog, TransactionalWriter } from '../ports/event-log.ts';
import type { Metrics } from '../ports/metrics.ts';

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
    commit: (...input) => timed(() => writer.commit(...input)),
    [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
  });
  return {
    erasureMs: log.erasureMs,
    identity: () => log.identity(),
    ensureTopics: (specs) => log.ensureTopics(specs),
    partitions: (topic) => log.partitions(topic),
    append: (...supplied) => timed(() => log.append(...supplied)),
    openWriter: async (name) => observed(await log.openWriter(name)),
    startOffset: (topic, partition) => log.startOffset(topic, partition),
    endOffset: (topic, partition) => log.endOffset(topic, partition),
    offsetAt: (topic, partition, timestamp) => log.offsetAt(topic, partition, timestamp),
    follow: (from, options) => log.follow(from, options),
    read: (from, options) => log.read(from, options),
    join: (group, topics, handler) => log.join(group, topics, handler),
    committed: (group, topic) => log.committed(group, topic),
    commit: (consumed) => log.commit(consumed),
    deleteBefore: (position) => log.deleteBefore(position),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
