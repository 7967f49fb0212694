import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue, GatewayError } from '../../src/kernel/errors.ts';

const retryFirstMs = 100;
const retryMaxMs = 5_000;

/** Ends early, without an error, when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** After work of `tookMs`: pauses so that the work takes only its share (percent) of the time. */
export async function throttle(
  tookMs: number,
  percent: number,
  signal: AbortSignal,
): Promise<void> {
  if (percent < 100) await pause((tookMs * (100 - percent)) / percent, signal);
}

/** A temporary failure: log or tables are away. */
export const isOutage = (error: unknown): boolean =>
  error instanceof GatewayError && 'isRetryable' in catalogue[error.code];

/**
 * Retries until it succeeds, with growing pauses. @throws an error that is not retried, or that occurred after the
 * signal
 */
export async function retrying<T>(
  task: () => Promise<T>,
  {
    signal,
    isRetryable,
    failed,
  }: {
    readonly signal: AbortSignal;
    readonly isRetryable: (error: unknown) => boolean;
    readonly failed: (error: unknown) => void;
  },
): Promise<T> {
  for (let waitMs = retryFirstMs; ; waitMs = Math.min(2 * waitMs, retryMaxMs)) {
    try {
      return await task();
    } catch (error) {
      if (signal.aborted || !isRetryable(error)) throw error;
      failed(error);
      await pause(waitMs, signal);
    }
  }
}
