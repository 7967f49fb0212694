import type { Logger } from 'pino';
import { CannotStart } from '#kernel/cannot-start.ts';
import { isOutage } from '#kernel/errors.ts';
import { retrying } from '#kernel/retry.ts';

const firstMs = 500;
/** How long a start waits for a server that does not respond yet. */
export const startWaitsMs = 120_000;

/**
 * Retries a step of the start while a server that it needs is away, and logs each retry.
 * @throws CannotStart that names the server and the last reason, after `withinMs`; at once any error that is no
 *   outage, or any error once the signal has aborted
 */
export async function retryStartup<T>(
  what: string,
  step: () => Promise<T>,
  {
    logger,
    withinMs = startWaitsMs,
    signal,
  }: {
    readonly logger: Pick<Logger, 'warn'>;
    readonly withinMs?: number;
    readonly signal?: AbortSignal;
  },
): Promise<T> {
  const isRetryable = (error: unknown): boolean => isOutage(error) && signal?.aborted !== true;
  const failed = (err: unknown): void => logger.warn({ err }, `waiting for ${what}`);
  try {
    return await retrying(step, { isRetryable, failed, firstMs, withinMs });
  } catch (error) {
    throw isRetryable(error) ? gaveUp(what, error, withinMs) : error;
  }
}

export function gaveUp(what: string, error: unknown, withinMs: number): CannotStart {
  const { cause = error } = error as Error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `gave up waiting for ${what} after ${withinMs / 1000} s: ${reason}`;
  return new CannotStart(message, { cause: error });
}
