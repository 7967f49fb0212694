import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, logUnavailable } from './failure.ts';

/** About what a transaction takes to be completed, which is what is waited for most often. */
const firstPauseMs = 2;
const longestPauseMs = 1_000;

/** Milliseconds to wait before the given attempt (from 1): doubling, with up to a quarter of jitter off. */
export function pauseMs(attempt: number): number {
  const full = Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
  return full * (1 - randomInt(250) / 1000);
}

export interface RetryOptions {
  readonly timeoutMs: number;
  /** Called before each wait, with what went wrong. */
  readonly onFailure?: (error: unknown) => void;
  /** Ends the waiting: the error of the last attempt is thrown. */
  readonly signal?: AbortSignal;
}

/**
 * Tries until it succeeds, fails for good, or the time is over.
 * @throws GatewayError `log_unavailable` when the time is over.
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
