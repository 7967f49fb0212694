/** Milliseconds since the Unix epoch. Deciders receive it; they never read a clock. */
export type Instant = number;
/** Microseconds since the Unix epoch: the unit of record times. Exact in a double until 2255. */
export type Micros = number;

/** Lengths of time; a day here is 24 hours, whatever a calendar says. */
export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const weekMs = 7 * dayMs;
export const dayMicros = 1_000 * dayMs;

/**
 * Whether the time is still to come. One that is further away than the longest wait was noted before the clock was set
 * back: nothing waits for it.
 */
export const isToCome = (at: Instant, now: Instant, longestMs: number): boolean =>
  at > now && at - now <= longestMs;

/** The only access to the wall clock: passed in, so that tests can move it. */
export interface Clock {
  now(): Instant;
  /** Wall clock with microseconds, as far as the platform gives them. */
  nowMicros(): Micros;
}

const bootMicros = (Date.now() - performance.now()) * 1000;

export const systemClock: Clock = {
  now: () => Date.now(),
  nowMicros: () => {
    const fine = Math.round(bootMicros + performance.now() * 1000);
    const coarse = Date.now() * 1000;
    // The monotonic clock ignores steps of the wall clock: it is used only while both agree.
    return Math.abs(fine - coarse) < 50_000 ? fine : coarse;
  },
};

/** ISO 8601 with microseconds and offset: `2026-02-01T08:00:00.123456+00:00`. */
export function isoMicros(at: Micros): string {
  const second = Math.floor(at / 1e6);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, 20);
    lastSecond = second;
  }
  return `${lastText}${String(at - second * 1e6).padStart(6, '0')}+00:00`;
}

/** Cached: consecutive timestamps are mostly of the same second. */
let lastSecond = Number.NaN;
let lastText = '';

/** ISO 8601 with milliseconds and `Z`. */
export function isoMillis(at: Instant): string {
  return new Date(at).toISOString();
}

export const isoMicrosOrNull = (at: Micros | null): string | null =>
  at === null ? null : isoMicros(at);
export const isoMillisOrNull = (at: Instant | null): string | null =>
  at === null ? null : isoMillis(at);

const isoTimestamp = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)$/i;

/** The time that an RFC 3339 date-time names, truncated to microseconds; null when the text is none. */
export function microsOf(text: string): Micros | null {
  const [, date, time, fraction = '', zone = ''] = isoTimestamp.exec(text) ?? [];
  const seconds = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(seconds)) return null;
  const micros = seconds * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
  return Number.isSafeInteger(micros) ? micros : null;
}
