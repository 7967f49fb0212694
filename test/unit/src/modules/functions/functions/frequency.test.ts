import { describe, expect, it } from 'vitest';
import { formatFrequency, parseFrequency } from '#modules/functions/functions/frequency.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe('the frequency of a sync', () => {
  it.each([
    ['every 30 seconds', 30_000],
    ['every 45s', 45_000],
    ['every 1 minute', minute],
    ['every minute', minute],
    ['every 5m', 5 * minute],
    ['5m', 5 * minute],
    ['20min', 20 * minute],
    ['every 6min', 6 * minute],
    ['every hour', hour],
    ['Every Hour', hour],
    ['every 1h', hour],
    ['every 1.5 hours', 1.5 * hour],
    ['6 hours', 6 * hour],
    ['every 2 days', 2 * day],
    ['every day', day],
    ['every 3 week', 21 * day],
    ['every week', 7 * day],
    ['every month', 30 * day],
    ['every half day', 12 * hour],
    ['every half hour', 30 * minute],
    ['every quarter hour', 15 * minute],
    ['  every   10   mins ', 10 * minute],
  ])('§12.2 frequency: reads "%s"', (text, ms) => {
    expect(parseFrequency(text)).toBe(ms);
  });

  it.each(['every 29 seconds', 'every second', '0m', 'every 0.4 min'])(
    '§12.2 frequency: refuses "%s" as too short',
    (text) => {
      expect(() => parseFrequency(text)).toThrow(
        expect.objectContaining({ code: 'sync_interval_too_short' }),
      );
    },
  );

  it.each([
    '',
    'every',
    'hourly',
    'every now and then',
    'every -5 minutes',
    'every 5',
    '* * * * *',
    'every 5 minutes 3 seconds',
    'every 32 days',
    'every 1e3 m',
    'half week',
  ])('refuses "%s" as unreadable', (text) => {
    expect(() => parseFrequency(text)).toThrow(
      expect.objectContaining({ code: 'sync_interval_invalid' }),
    );
  });

  it.each([
    [30_000, '30s'],
    [hour, '1h'],
    [90 * minute, '90m'],
    [2 * day, '2d'],
  ])('is shown in the largest whole unit: %i as %s', (ms, text) => {
    expect(formatFrequency(ms)).toBe(text);
    expect(parseFrequency(text)).toBe(ms);
  });
});
