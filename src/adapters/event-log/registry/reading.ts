import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import { overridden } from '#kernel/overridden.ts';
import { retrying } from '#kernel/retry.ts';
import type { Batch, EventLog } from '#ports/event-log.ts';
import type { RegistrySchemas } from './open.ts';

/** Between two loads, each of which has retried for some seconds unless the registry refused. */
const pauseMs = 1_000;

/**
 * The log, which returns messages only when their schemas are loaded: one that a newer process registered is
 * fetched first. While the registry is away, followers wait and a read fails with `registry_unavailable`, so that
 * no message is mistaken for an unreadable one.
 */
export function readWithSchemas(
  log: EventLog,
  schemas: Pick<RegistrySchemas, 'load'>,
  logger?: Logger,
): EventLog {
  const load = ({ messages }: Batch) => schemas.load(messages.map(({ value }) => value));

  /** Retries until it succeeds, or the signal aborts. */
  const loadPatiently = (batch: Batch, signal: AbortSignal): Promise<void> => {
    const { topic, partition } = batch;
    return retrying(() => load(batch), {
      signal,
      isRetryable: (error) =>
        error instanceof GatewayError && error.code === 'registry_unavailable',
      failed: (err) => logger?.warn({ err, topic, partition }, 'waiting for the schema registry'),
      firstMs: pauseMs,
      lastMs: pauseMs,
    });
  };

  return overridden(log, {
    async *follow(from, options) {
      const { signal } = options;
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      for await (const batch of log.follow(from, options)) {
        await Promise.race([loadPatiently(batch, signal), aborted]);
        if (signal.aborted) return;
        yield batch;
      }
    },
    async *read(from, options) {
      for await (const batch of log.read(from, options)) {
        await load(batch);
        yield batch;
      }
    },
  });
}
