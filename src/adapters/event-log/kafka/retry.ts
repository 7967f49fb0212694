import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, logUnavailable } from './failure.ts';

/** About the duration of completing a transaction, the most frequent reason to wait. */
const firstPauseMs = 2;
const longestPauseMs = 1_000;

/** Milliseconds to wait before the given attempt (from 1): doubling, less up to a quarter of jitter. */
export function pauseMs(attempt: number): number {
  const full = Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
  return full * (1 - randomInt(250) / 1000);
}

export interface RetryOptions {
  readonly timeoutMs: number;
  /** Called before each wait with the error. */
  readonly onFailure?: (error: unknown) => void;
  /** Ends the waiting: the error of the last attempt is thrown. */
  readonly signal?: AbortSignal;
}

/**
 * Retries until success, a permanent failure, or the timeout.
 * @throws GatewayError `log_unavailable` after the timeout.
 */
export async function retried<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const deadline = performance.now() + options.timeoutMs;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error)) throw error;
      const pause = pauseMs(tries);
      if (performance.now() + pause > deadline || options.signal?.aborted === true) {
        throw logUnavailable(error);
      }
      options.onFailure?.(error);
      await sleep(pause);
    }
  }
}
