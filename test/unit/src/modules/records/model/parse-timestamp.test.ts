import { describe, expect, it } from 'vitest';
import { isoMicros } from '#kernel/time.ts';
import { parseTimestamp } from '#modules/records/model/parse-timestamp.ts';

const at = Date.UTC(2026, 1, 1, 8) * 1000;

describe('parseMoment', () => {
  it.each([
    ['2026-02-01T08:00:00Z', at],
    ['2026-02-01t08:00:00z', at],
    ['2026-02-01T10:00:00+02:00', at],
    ['2026-02-01T10:00:00 02:00', at],
    ['2026-02-01T08:00:00.123456Z', at + 123_456],
    ['2026-02-01T08:00:00.5Z', at + 500_000],
    ['1969-12-31T23:59:59Z', 0],
  ])('reads %s', (text, micros) => {
    expect(parseTimestamp(text)).toBe(micros);
  });

  it('rounds up what is finer than a microsecond, so that "at or after" stays exact', () => {
    expect(parseTimestamp('2026-02-01T08:00:00.1234561Z')).toBe(at + 123_457);
    expect(parseTimestamp('2026-02-01T08:00:00.1234560Z')).toBe(at + 123_456);
  });

  it('reads back what the API writes', () => {
    expect(parseTimestamp(isoMicros(at + 1))).toBe(at + 1);
  });

  it.each([
    '',
    '2026-02-01',
    '2026-02-01T08:00:00',
    '2026-02-30T08:00:00Z',
    '2026-13-01T08:00:00Z',
    '2026-02-01T24:00:00Z',
    '2026-02-01T08:00Z',
    '2026-02-01T08:00:00+25:00',
    '1769932800',
  ])('refuses "%s"', (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });
});
