import { expect, test } from 'vitest';
import { RoundPace } from '#modules/records/owner/partition.ts';

test('a round waits for more commands only shortly after one of many records', () => {
  const pace = new RoundPace();
  expect(pace.waitMs(0, false)).toBe(0);
  pace.written(0, 100);
  expect(pace.waitMs(10, false)).toBe(15);
  expect(pace.waitMs(25, false)).toBe(0);
  expect(pace.waitMs(1_000, false)).toBe(0);
});

test('rounds of a few records never wait', () => {
  const pace = new RoundPace();
  for (let at = 0; at < 10; at += 1) {
    pace.written(at, 1);
    expect(pace.waitMs(at, false)).toBe(0);
  }
});

test('a round with a reply does not wait', () => {
  const pace = new RoundPace();
  pace.written(0, 1_000);
  expect(pace.waitMs(1, true)).toBe(0);
});
