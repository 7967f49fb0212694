import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from './errors.ts';

/** Ends early, without an error, when the signal aborts. Does not keep the process running. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

interface RetryOptions {
  readonly signal: AbortSignal;
  /** Default: outages are retried. */
  readonly isRetryable?: (error: unknown) => boolean;
  /** Called before each pause. */
  readonly failed?: (error: unknown) => void;
  /** The first pause, which doubles each time up to the last. */
  readonly firstMs?: number;
  readonly lastMs?: number;
}

/** Retries until success. @throws an error that is not retryable; the signal's reason after it has aborted */
export async function retrying<T>(
  task: () => Promise<T>,
  { signal, isRetryable = isOutage, failed, firstMs = 100, lastMs = 5_000 }: RetryOptions,
): Promise<T> {
  for (let ms = firstMs; ; ms = Math.min(2 * ms, lastMs)) {
    const startedAt = performance.now();
    try {
      return await task();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      signal.throwIfAborted();
      failed?.(error);
      // What worked for longer than the longest pause starts over.
      if (performance.now() - startedAt > lastMs) ms = firstMs;
      await pause(ms, signal);
      signal.throwIfAborted();
    }
  }
}

/** A function, because the value changes during an await. */
export const isOver = (signal: AbortSignal): boolean => signal.aborted;
