import { GatewayError } from '#kernel/errors.ts';
import { isDatabaseCorruption } from '#kernel/sqlite-corruption.ts';

/** Primary result codes of SQLite (sqlite.org/rescode.html); the low byte of an extended code. */
const busy = 5;
const ioError = 10;
const full = 13;
/** Extended codes of IOERR for a failed sync: the data may or may not be written. */
const syncFailed = new Set([1034, 1290]);

function codeOf(error: unknown): number | null {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof code === 'number' ? code : null;
}

/** Of the file system, for the keys of rows, which are in a separate file. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

export const isBusy = (error: unknown): boolean => ((codeOf(error) ?? 0) & 0xff) === busy;

/**
 * The error of the port for an error of SQLite. A write that failed, for lack of space or by the device, left
 * nothing behind: `log_full`. Other errors are returned unchanged.
 */
export function asLogFailure(error: unknown): unknown {
  const code = codeOf(error);
  if (isDiskFull(error)) return new GatewayError('log_full', {}, { cause: error });
  if (code === null) return error;
  const options = { cause: error };
  const message = error instanceof Error ? error.message : undefined;
  const details = message === undefined ? {} : { message: `The event log failed: ${message}.` };
  switch (code & 0xff) {
    case full:
      return new GatewayError('log_full', {}, options);
    case ioError:
      if (syncFailed.has(code)) return new GatewayError('log_unavailable', details, options);
      return new GatewayError('log_full', details, options);
    case busy:
      return new GatewayError('log_unavailable', details, options);
    default:
      return isDatabaseCorruption(error)
        ? new GatewayError('log_corrupt', details, options)
        : error;
  }
}
