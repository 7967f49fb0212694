import { GatewayError } from '#kernel/errors.ts';
import { PartCorruption, type DamagedPart } from '#ports/projection-store.ts';

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

/**
 * Errors of the bytes of a part, where the error names it. A part may also be read past its end, or into the wrong
 * column: then the engine finds impossible values.
 */
const damages = new Set([
  '3', // UNEXPECTED_END_OF_FILE
  '6', // CANNOT_PARSE_TEXT
  '9', // SIZES_OF_COLUMNS_DOESNT_MATCH
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '32', // ATTEMPT_TO_READ_AFTER_EOF
  '33', // CANNOT_READ_ALL_DATA
  '39', // TOO_LARGE_SIZE_COMPRESSED
  '40', // CHECKSUM_DOESNT_MATCH
  '49', // LOGICAL_ERROR: an impossible size
  '74', // CANNOT_READ_FROM_FILE_DESCRIPTOR
  '76', // CANNOT_OPEN_FILE
  '89', // UNKNOWN_COMPRESSION_METHOD
  '107', // FILE_DOESNT_EXIST
  '117', // INCORRECT_DATA
  '128', // TOO_LARGE_ARRAY_SIZE
  '131', // TOO_LARGE_STRING_SIZE
  '226', // NO_FILE_IN_DATA_PART
  '228', // BAD_SIZE_OF_FILE_IN_DATA_PART
  '246', // CORRUPTED_DATA
  '261', // UNKNOWN_BLOCK_INFO_FIELD
  '271', // CANNOT_DECOMPRESS
  '432', // UNKNOWN_CODEC
]);

/** Of these, those that mean damage also where the error names no part. */
const damagesAnywhere = new Set(['40', '226', '228', '246', '271']);

/** Until an operator has rebuilt the table. */
const repairS = 60;

/** Called with each statement that fails because of a damaged part. */
export type OnPartDamaged = (damaged: DamagedPart) => void;

/** Runs the task; translates errors to those of the port. */
export async function attempt<T>(
  task: () => Promise<T>,
  onPartDamaged?: OnPartDamaged,
): Promise<T> {
  try {
    return await task();
  } catch (cause) {
    // Of the query of a caller.
    if (cause instanceof GatewayError) throw cause;
    const damaged = corruptionFrom(cause);
    if (damaged !== null) {
      onPartDamaged?.(damaged);
      throw new GatewayError(
        'projection_damaged',
        { retryAfterS: repairS },
        { cause: new PartCorruption(damaged, { cause }) },
      );
    }
    if (refusals.has(engineCode(cause)))
      throw new GatewayError('projection_refused', {}, { cause });
    throw new GatewayError('projection_unavailable', { retryAfterS: 1 }, { cause });
  }
}

/** Null: the error does not mean that a part is damaged. */
export function corruptionFrom(cause: unknown): DamagedPart | null {
  const code = engineCode(cause);
  if (!(cause instanceof Error)) return null;
  const { message } = cause;
  // The engine's own word for it stands with more codes than those listed.
  if (!damages.has(code) && !/\bcorrupted data\b/i.test(message)) return null;
  // `(while reading from part /…/store/<3>/<uuid>/<part>/ in table <database>.<table> (<uuid>) located …`
  const [, path = '', table = ''] =
    /from part (\S+) in table `?[^.`\s]+`?\.`?([^`\s]+)`? /.exec(message) ?? [];
  const part = path.split('/').findLast((name) => name !== '') ?? '';
  if (part === '' && !damagesAnywhere.has(code)) return null;
  return { table, part, reason: firstSentence(message) };
}

/** The engine explains a checksum at length, with the size and bytes of the block. */
export const firstSentence = (message: string): string =>
  message.split(/\.?\s+\(|\.\s|\.$|: \(?[Ww]hile /, 1)[0] ?? message;

/** The engine's error number; the two clients name it differently, or only in their message. Empty for other errors. */
export function engineCode(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return '';
  if ('clickhouseCode' in cause) return String(cause.clickhouseCode);
  const named = 'code' in cause ? cause.code : undefined;
  if (typeof named === 'string' || typeof named === 'number') return String(named);
  const [, code = ''] = /^Code: (\d+)\. /.exec(cause instanceof Error ? cause.message : '') ?? [];
  return code;
}
