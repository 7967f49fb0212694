import { GatewayError } from '#kernel/errors.ts';

/** Errors of the rows, not of the store: the same insert can never succeed. */
const refusals = new Set([
  '6', // CANNOT_PARSE_TEXT
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '131', // TOO_LARGE_STRING_SIZE
  '321', // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
]);

/** Runs the task; translates errors to those of the port. */
export async function attempt<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (cause) {
    if (refusals.has(engineCode(cause)))
      throw new GatewayError('projection_refused', {}, { cause });
    throw new GatewayError('projection_unavailable', { retryAfterS: 1 }, { cause });
  }
}

/** The engine's error number; the two clients name it differently. Empty for other errors. */
export function engineCode(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return '';
  if ('clickhouseCode' in cause) return String(cause.clickhouseCode);
  return 'code' in cause ? String(cause.code) : '';
}
