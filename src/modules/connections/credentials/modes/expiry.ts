import { dayMs, hourMs, minuteMs, secondMs, type Instant } from '#kernel/time.ts';

/** Parses a text such as `1:02:03` (days, hours, minutes). */
const daysHoursMinutes = /^(\d+):(\d{1,2}):(\d{1,2})$/;
const worded = /^(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)$/i;
const unitMs: Readonly<Record<string, number>> = {
  s: secondMs,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
};

/** Milliseconds since the epoch. A number that would be before 1972 is in seconds. */
export const epochMs = (value: number): Instant =>
  new Date(value).getUTCFullYear() > 1971 ? value : value * 1000;

/** `expires_in`: seconds, or milliseconds where the definition says so; a number or a numeric text. */
export function afterSeconds(
  value: unknown,
  now: Instant,
  unit: 'seconds' | 'milliseconds' = 'seconds',
): Instant | null {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) return null;
  return now + Math.floor(unit === 'milliseconds' ? amount : amount * 1000);
}

/** A duration in milliseconds, from seconds or a text such as `1h`. */
export function durationMs(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return value * 1000;
  if (typeof value !== 'string') return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const parts = worded.exec(value.trim());
  if (parts === null) return null;
  const unit = (parts[2] ?? 's').toLowerCase();
  return Number(parts[1]) * (unit === 'ms' ? 1 : (unitMs[unit.charAt(0)] ?? 1000));
}

/** `expires_at` (docs/reference/auth-modes.md#expiry): a date, a number, or days:hours:minutes from now. */
export function atTime(value: unknown, now: Instant): Instant | null {
  if (typeof value === 'number' && Number.isFinite(value)) return epochMs(value);
  if (typeof value !== 'string' || value === '') return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.floor(epochMs(Number(value)));
  const length = daysHoursMinutes.exec(value);
  if (length !== null) {
    const [, days, hours, minutes] = length;
    return now + ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000;
  }
  const parsed = Date.parse(value);
  return Number.isNaN(parsed) ? null : parsed;
}

/** `exp` of a token that is a JWT; null for any other. */
export function jwtExpiry(token: unknown): Instant | null {
  if (typeof token !== 'string') return null;
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const exp =
      typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : null;
    return typeof exp === 'number' ? exp * 1000 : null;
  } catch {
    return null; // Three parts with dots that are no JWT have no expiry.
  }
}

export const iso = (at: Instant): string => new Date(at).toISOString();
