/**
 * The shortest integer that a number may not hold has 16 digits, after one of the marks that precede a value: most JSON needs no
 * second look, nor does JSON with such digits at the start of its strings.
 */
const manyDigits = /(?:^|[[:,\s-])\d{16}/;
const integer = /^-?\d+$/;

/** Whether the JSON text may have an integer beyond ±(2^53 − 1). */
export const mayLoseDigits = (json: string): boolean => manyDigits.test(json);

/**
 * The value of JSON text, in which an integer beyond ±(2^53 − 1) is the text of its digits: a number would hold
 * another one.
 * @throws SyntaxError
 */
export const parseExactJson = (json: string): unknown => parseWith(json, (digits) => digits);

/** As `parseExactJson`, for values that only `JSON.stringify` reads: it writes the integer as it was. */
export const parseRawJson = (json: string): unknown => parseWith(json, rawInteger);

/** Written by `JSON.stringify` as the digits that it is. The types of the language do not have it yet. */
export const rawInteger = (digits: string): unknown =>
  (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(digits);

export const isRawInteger = (value: object): boolean =>
  (JSON as unknown as { isRawJSON: (value: unknown) => boolean }).isRawJSON(value);

function parseWith(json: string, keep: (digits: string) => unknown): unknown {
  if (!mayLoseDigits(json)) return JSON.parse(json) as unknown;
  try {
    return JSON.parse(json, (_key, value: unknown, context?: { readonly source?: string }) => {
      if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
      const digits = context?.source ?? '';
      return integer.test(digits) ? keep(digits) : value;
    }) as unknown;
  } catch (error) {
    // The engine visits values by recursion, but parses without: text that is nested too deeply keeps its numbers.
    if (error instanceof RangeError) return JSON.parse(json) as unknown;
    throw error;
  }
}
