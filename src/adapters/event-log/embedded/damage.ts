import { GatewayError } from '../../../kernel/errors.ts';

/** Bytes that are not what was written: reported with their place, never skipped. */
export function damaged(where: string, offset: number): GatewayError {
  const message = `The event log is damaged: ${where}, the batch at offset ${offset}.`;
  return new GatewayError('log_corrupt', { message });
}
