import type { RecordId } from './ids.ts';

/** The values that are ids, for errors. */
export const recordIdRule = (charsMax: number): string =>
  `a string of 1 to ${charsMax} characters without NUL and lone surrogates, or a number up to 2^53 - 1`;

/**
 * The text of a record's id; null for a value that is none. No two ids have one text: a number that has lost digits, and
 * characters that keys and tables would drop or replace, are refused. Used in isolates, which cannot load the limits.
 */
export function recordIdText(input: unknown, charsMax: number): RecordId | null {
  const text = typeof input === 'string' ? input : numberText(input);
  if (text === null || text.length === 0 || text.length > charsMax) return null;
  return text.includes('\0') || !text.isWellFormed() ? null : (text as RecordId);
}

function numberText(input: unknown): string | null {
  if (typeof input === 'bigint') return input.toString();
  if (typeof input !== 'number' || Math.abs(input) > Number.MAX_SAFE_INTEGER) return null;
  return Number.isNaN(input) ? null : String(input);
}
