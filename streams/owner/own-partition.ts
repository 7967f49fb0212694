import type { Logger } from 'pino';
import { removeDisposableDatabase } from '#control-plane/disposable-database.ts';
import { GatewayError, isLogIncomplete } from '#kernel/errors.ts';
import { retrying } from '#kernel/retry.ts';
import { isDatabaseCorruption } from '#kernel/sqlite-corruption.ts';

const retryMaxMs = 10_000;

/** Called with what the log lacks for a partition, which then waits, and with null when it is acquired. */
export type OnLogIncomplete = (partition: number, message: string | null) => void;

/** Another process has acquired the partition. */
export const isFenced = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'writer_fenced';

/**
 * Owns a partition until the signal aborts or another process acquires it; errors lead to another attempt. Never
 * rejects.
 * @param own calls `restored` once its state is that of the log
 */
export async function ownPartition(
  own: (restored: () => void) => Promise<void>,
  owning: {
    readonly partition: number;
    /** Its state store: restored from the log, which takes longer, when it is corrupt. */
    readonly file: string;
    readonly logger: Logger;
    readonly signal: AbortSignal;
    readonly retryMs?: number;
    readonly onLogIncomplete?: OnLogIncomplete;
  },
): Promise<void> {
  const { partition, file, logger, signal, retryMs = 100, onLogIncomplete } = owning;
  const task = async (): Promise<void> => {
    // An owner that ends without an error has been stopped.
    if (!signal.aborted) await own(() => onLogIncomplete?.(partition, null));
  };
  await retrying(task, {
    signal,
    firstMs: retryMs,
    lastMs: retryMaxMs,
    isRetryable: (error) => !isFenced(error),
    failed(err) {
      if (isDatabaseCorruption(err)) removeDisposableDatabase(file);
      if (isLogIncomplete(err)) onLogIncomplete?.(partition, err.message);
      logger.error({ err, partition, file }, 'a partition is acquired again');
    },
  }).catch(() => {
    if (!signal.aborted) logger.warn({ partition, file }, 'another node has acquired a partition');
  });
}
