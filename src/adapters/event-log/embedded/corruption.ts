import { GatewayError } from '../../../kernel/errors.ts';

/** Told of damage that was found in the log, with its place. */
export type OnCorruption = (message: string) => void;

export const isLogCorruption = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'log_corrupt';

/** Bytes that are not what was written: reported with their place, never skipped. */
export function corrupted(where: string, offset: number): GatewayError {
  const message = `The event log is damaged: ${where}, the batch at offset ${offset}.`;
  return new GatewayError('log_corrupt', { message });
}
