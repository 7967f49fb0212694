import { GatewayError } from './errors.ts';
import { limits } from './limits.ts';

/** The refusal of every write in a process that only reads (SVC_READ_ONLY). */
export const readOnlyRefusal = (): GatewayError =>
  new GatewayError('read_only', { retryAfterS: limits.readOnlyRetryMs / 1000 });
