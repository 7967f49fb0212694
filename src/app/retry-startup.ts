import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CannotStart } from '../kernel/cannot-start.ts';
import { isOutage } from '../kernel/errors.ts';

const waitFirstMs = 500;
const waitMaxMs = 5_000;
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
  const end = performance.now() + withinMs;
  for (let waitMs = waitFirstMs; ; waitMs = Math.min(2 * waitMs, waitMaxMs)) {
    try {
      return await step();
    } catch (error) {
      if (!isOutage(error) || signal?.aborted === true) throw error;
      const isLast = performance.now() + waitMs > end;
      if (isLast) throw gaveUp(what, error, withinMs);
      logger.warn({ err: error }, `waiting for ${what}`);
      await sleep(waitMs);
    }
  }
}

export function gaveUp(what: string, error: unknown, withinMs: number): CannotStart {
  const { cause = error } = error as Error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `gave up waiting for ${what} after ${withinMs / 1000} s: ${reason}`;
  return new CannotStart(message, { cause: error });
}
