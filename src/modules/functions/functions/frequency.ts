import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { secondMs, minuteMs, hourMs, dayMs, weekMs } from '#kernel/time.ts';

/** A month of a frequency is 30 days, independent of the calendar. */
const monthMs = 30 * dayMs;
/** Documented maximum of a frequency. */
const frequencyMaxMs = 31 * dayMs;

/** Every spelling of a unit, plural and singular: `every 3 week` and `every day` are both fine. */
const units: ReadonlyMap<string, number> = new Map([
  ...spellings(secondMs, 's', 'sec', 'secs', 'second', 'seconds'),
  ...spellings(minuteMs, 'm', 'min', 'mins', 'minute', 'minutes'),
  ...spellings(hourMs, 'h', 'hr', 'hrs', 'hour', 'hours'),
  ...spellings(dayMs, 'd', 'day', 'days'),
  ...spellings(weekMs, 'w', 'wk', 'wks', 'week', 'weeks'),
  ...spellings(monthMs, 'mo', 'month', 'months'),
]);

const words: ReadonlyMap<string, number> = new Map([
  ['half day', 12 * hourMs],
  ['half hour', 30 * minuteMs],
  ['quarter hour', 15 * minuteMs],
]);

function spellings(ms: number, ...names: readonly string[]): [string, number][] {
  return names.map((name) => [name, ms]);
}

/**
 * Milliseconds between two runs: `every <n> <unit>`, `every <unit>`, `<n><unit>` or one of the words
 * `half day`, `half hour`, `quarter hour` (docs/reference/functions.md#schedule). Case does not matter.
 * @throws GatewayError `sync_interval_invalid` when it cannot be read or is longer than 31 days;
 *   `sync_interval_too_short` below 30 seconds
 */
export function parseFrequency(text: string): number {
  const ms = read(text.trim().toLowerCase().replaceAll(/\s+/g, ' '));
  if (ms === null || ms > frequencyMaxMs) {
    throw new GatewayError('sync_interval_invalid', { message: unreadable(text, ms) });
  }
  if (ms < limits.frequencyMinMs) {
    throw new GatewayError('sync_interval_too_short', {
      message: `The frequency "${text}" is shorter than 30 seconds.`,
    });
  }
  return ms;
}

function read(text: string): number | null {
  const span = text.replace(/^every /, '');
  const word = words.get(span);
  if (word !== undefined) return word;
  const match = /^(\d+(?:\.\d+)?)? ?([a-z]+)$/.exec(span);
  const unitMs = units.get(match?.[2] ?? '');
  if (match === null || unitMs === undefined) return null;
  return Math.round(Number(match[1] ?? '1') * unitMs);
}

function unreadable(text: string, ms: number | null): string {
  return ms === null
    ? `The frequency "${text}" cannot be read: write it like "every hour" or "every 30 minutes".`
    : `The frequency "${text}" is longer than 31 days.`;
}

const shown: readonly (readonly [number, string])[] = [
  [dayMs, 'd'],
  [hourMs, 'h'],
  [minuteMs, 'm'],
  [secondMs, 's'],
];

/** The shortest text that `parseFrequency` reads back: `3600000` is `1h`. Milliseconds are rounded to seconds. */
export function formatFrequency(ms: number): string {
  const seconds = Math.round(ms / secondMs) * secondMs;
  const [unitMs, unit] = shown.find(([size]) => seconds % size === 0) ?? [secondMs, 's'];
  return `${seconds / unitMs}${unit}`;
}
