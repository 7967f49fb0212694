import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EventLog } from '../ports/event-log.ts';
import type { Schemas } from '../ports/schemas.ts';
import { gaveUp, keepTrying, startWaitsMs } from './keep-trying.ts';
import type { OpenedLog, ServedLog, Servers } from './open-log.ts';

const lookEveryMs = 500;

/** What a thread starts on. */
export interface Start extends OpenedLog {
  /** @throws CannotStart when no broker answers for two minutes meanwhile */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * The log for a thread that starts: until `run` has ended, questions that fail because a server is away are asked
 * again, and following, which waits by itself, does not wait for ever.
 */
export function startOnLog(
  { log, schemas, servers }: ServedLog,
  logger: Pick<Logger, 'warn'>,
  withinMs: number = startWaitsMs,
): Start {
  if (servers === null) return { log, schemas, run: (work) => work() };
  const started = new AbortController();
  const { signal } = started;
  const asking = (server: string) => {
    return <T>(question: () => Promise<T>): Promise<T> =>
      signal.aborted ? question() : keepTrying(server, question, { logger, withinMs, signal });
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

type Ask = <T>(question: () => Promise<T>) => Promise<T>;

/** Appends are not repeated: they may have been written. */
function patientLog(log: EventLog, ask: Ask): EventLog {
  return {
    erasureMs: log.erasureMs,
    identity: () => ask(() => log.identity()),
    ensureTopics: (specs) => ask(() => log.ensureTopics(specs)),
    partitions: (topic) => ask(() => log.partitions(topic)),
    append: (batch, options) => log.append(batch, options),
    openWriter: (name) => ask(() => log.openWriter(name)),
    startOffset: (topic, partition) => ask(() => log.startOffset(topic, partition)),
    endOffset: (topic, partition) => ask(() => log.endOffset(topic, partition)),
    offsetAt: (topic, partition, timestamp) => ask(() => log.offsetAt(topic, partition, timestamp)),
    follow: (from, options) => log.follow(from, options),
    async *read(from, options) {
      // What is asked comes first; reading on waits by itself.
      const { batches, first } = await ask(async () => {
        const batches = log.read(from, options)[Symbol.asyncIterator]();
        return { batches, first: await batches.next() };
      });
      try {
        for (let step = first; step.done !== true; step = await batches.next()) yield step.value;
      } finally {
        await batches.return?.();
      }
    },
    join: (group, topics, handler) => ask(() => log.join(group, topics, handler)),
    committed: (group, topic) => ask(() => log.committed(group, topic)),
    commit: (consumed) => ask(() => log.commit(consumed)),
    deleteBefore: (position) => ask(() => log.deleteBefore(position)),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

const patientSchemas = (schemas: Schemas, ask: Ask): Schemas => ({
  codec: <T>(topic: string) => ask(() => schemas.codec<T>(topic)),
  codecOf: <T>(topic: string, definition: object) =>
    ask(() => schemas.codecOf<T>(topic, definition)),
});

/** Rejects once no broker has answered for so long. */
async function lost(servers: Servers, withinMs: number, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleep(lookEveryMs, undefined, { signal });
    const outage = servers.outage();
    if (outage !== null && outage.ms > withinMs) {
      throw gaveUp(servers.kafka, outage.error, withinMs);
    }
  }
}
