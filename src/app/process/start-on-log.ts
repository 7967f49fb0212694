import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import type { OpenedLog, ServedLog, Servers } from './open-log.ts';
import { gaveUp, retryStartup, startWaitsMs } from './retry-startup.ts';

const lookEveryMs = 500;

/** The log for the start of a thread. */
export interface Start extends OpenedLog {
  /** @throws CannotStart when no broker responds for two minutes meanwhile */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/**
 * The log for a starting thread: until `run` has ended, calls that fail because a server is away are retried, and
 * `follow`, which retries by itself, fails after a limit.
 */
export function startOnLog(
  { log, schemas, servers }: ServedLog,
  logger: Pick<Logger, 'warn'>,
  withinMs: number = startWaitsMs,
): Start {
  if (servers === null) return { log, schemas, run: (task) => task() };
  const started = new AbortController();
  const { signal } = started;
  const asking = (server: string) => {
    return <T>(question: () => Promise<T>): Promise<T> =>
      signal.aborted ? question() : retryStartup(server, question, { logger, withinMs, signal });
  };
  return {
    log: patientLog(log, asking(servers.kafka)),
    schemas: patientSchemas(schemas, asking(servers.registry)),
    async run(work) {
      try {
        return await Promise.race([work(), lost(servers, withinMs, signal)]);
      } finally {
        started.abort();
      }
    },
  };
}

type Execute = <T>(question: () => Promise<T>) => Promise<T>;

/** Appends are not repeated: they may have been written. */
function patientLog(log: EventLog, execute: Execute): EventLog {
  return {
    erasureMs: log.erasureMs,
    identity: () => execute(() => log.identity()),
    ensureTopics: (specs) => execute(() => log.ensureTopics(specs)),
    partitions: (topic) => execute(() => log.partitions(topic)),
    append: (batch, options) => log.append(batch, options),
    openWriter: (name) => execute(() => log.openWriter(name)),
    startOffset: (topic, partition) => execute(() => log.startOffset(topic, partition)),
    endOffset: (topic, partition) => execute(() => log.endOffset(topic, partition)),
    startOffsets: (topic) => execute(() => log.startOffsets(topic)),
    endOffsets: (topic) => execute(() => log.endOffsets(topic)),
    offsetAt: (topic, partition, timestamp) =>
      execute(() => log.offsetAt(topic, partition, timestamp)),
    follow: (from, options) => log.follow(from, options),
    async *read(from, options) {
      // The first batch is requested with retries; later reads retry by themselves.
      const { batches, first } = await execute(async () => {
        const batches = log.read(from, options)[Symbol.asyncIterator]();
        return { batches, first: await batches.next() };
      });
      try {
        for (let step = first; step.done !== true; step = await batches.next()) yield step.value;
      } finally {
        await batches.return?.();
      }
    },
    join: (group, topics, handler, options) =>
      execute(() => log.join(group, topics, handler, options)),
    committed: (group, topic) => execute(() => log.committed(group, topic)),
    commit: (positions) => execute(() => log.commit(positions)),
    deleteBefore: (position) => execute(() => log.deleteBefore(position)),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

const patientSchemas = (schemas: Schemas, execute: Execute): Schemas => ({
  codec: <T>(topic: string) => execute(() => schemas.codec<T>(topic)),
  codecOf: <T>(topic: string, definition: object) =>
    execute(() => schemas.codecOf<T>(topic, definition)),
  decodeWritten: (bytes) => schemas.decodeWritten(bytes),
  definition: (id) => schemas.definition(id),
});

/** Rejects once no broker has responded for this long. */
async function lost(servers: Servers, withinMs: number, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleep(lookEveryMs, undefined, { signal });
    const outage = servers.outage();
    if (outage !== null && outage.ms > withinMs) {
      throw gaveUp(servers.kafka, outage.error, withinMs);
    }
  }
}
