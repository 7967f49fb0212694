import { pauseMs as doublingMs, retrying } from '#kernel/retry.ts';
import { isTransient, logUnavailable } from './failure.ts';

/** The first is about the duration of completing a transaction, the most frequent reason to wait. */
const pauses = { firstMs: 2, lastMs: 1_000 };

/** Milliseconds to wait before the given attempt (from 1). */
export const pauseMs = (attempt: number): number =>
  doublingMs(attempt, pauses.firstMs, pauses.lastMs);

interface RetryOptions {
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
  const { timeoutMs: withinMs, onFailure: failed, signal } = options;
  const isRetryable = (error: unknown): boolean => isTransient(error) && signal?.aborted !== true;
  try {
    return await retrying(attempt, { ...pauses, withinMs, failed, isRetryable });
  } catch (error) {
    throw isTransient(error) ? logUnavailable(error) : error;
  }
}
