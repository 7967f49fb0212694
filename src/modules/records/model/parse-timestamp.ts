import type { Micros } from '#kernel/time.ts';

const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/;

/**
 * RFC 3339 with `Z` or an offset as microseconds since the epoch; finer fractions are rounded up, so that "at or after"
 * stays exact. Times before the epoch become 0. Null for any other text.
 */
export function parseTimestamp(text: string): Micros | null {
  // A plus sign that a client did not encode arrives as a space before the offset.
  const match = rfc3339.exec(text.replace(/ (\d\d:\d\d)$/, '+$1'));
  if (match === null) return null;
  const [, date = '', time = '', fraction = '', zone = ''] = match;
  const millis = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(millis) || !isDay(date)) return null;
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  const finer = /[1-9]/.test(fraction.slice(6)) ? 1 : 0;
  return Math.max(0, millis * 1000 + micros + finer);
}

/** The engine parses the 30th of February as the 2nd of March. */
function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === date;
}
