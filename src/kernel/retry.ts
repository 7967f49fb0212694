import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from './errors.ts';

/** Ends early, without an error, when the signal aborts. Does not keep the process running. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

interface RetryOptions {
  /** Without one, pauses keep the process running. */
  readonly signal?: AbortSignal;
  /** Default: outages are retried. The number of attempts so far begins at 1. */
  readonly isRetryable?: (error: unknown, attempts: number) => boolean;
  /** Called before each pause. */
  readonly failed?: ((error: unknown) => void) | undefined;
  /** The first pause, which doubles each time up to the last; each is shorter by up to a quarter of jitter. */
  readonly firstMs?: number;
  readonly lastMs?: number;
  /** No pause ends later than this after the call. Default: without end. */
  readonly withinMs?: number;
}

/** Milliseconds before the next attempt, of which there were `attempts`. */
export function pauseMs(attempts: number, firstMs: number, lastMs: number): number {
  return Math.min(firstMs * 2 ** (attempts - 1), lastMs) * (1 - randomInt(250) / 1000);
}

/**
 * Retries until success.
 * @throws an error that is not retryable, or the last one when the time is over; the signal's reason after it has aborted
 */
export async function retrying<T>(task: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, isRetryable = isOutage, failed, withinMs = Infinity } = options;
  const { firstMs = 100, lastMs = 5_000 } = options;
  const deadline = performance.now() + withinMs;
  for (let attempts = 1, failures = 1; ; attempts++, failures++) {
    const startedAt = performance.now();
    try {
      return await task();
    } catch (error) {
      if (!isRetryable(error, attempts)) throw error;
      signal?.throwIfAborted();
      // What worked for longer than the longest pause starts over.
      if (performance.now() - startedAt > lastMs) failures = 1;
      const ms = pauseMs(failures, firstMs, lastMs);
      if (performance.now() + ms > deadline) throw error;
      failed?.(error);
      await (signal === undefined ? sleep(ms) : pause(ms, signal));
      signal?.throwIfAborted();
    }
  }
}

/** A function, because the value changes during an await. */
export const isOver = (signal: AbortSignal): boolean => signal.aborted;
