import { GatewayError } from '#kernel/errors.ts';

/** Called with each corruption found in the log and its position. */
export type OnCorruption = (message: string) => void;

export const isLogCorruption = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'log_corrupt';

/** Bytes that differ from what was written: reported with their position, never skipped. */
export function corrupted(where: string, offset: number): GatewayError {
  const message = `The event log is corrupt: ${where}, the batch at offset ${offset}.`;
  return new GatewayError('log_corrupt', { message });
}
