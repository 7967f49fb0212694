import { expect, it } from 'vitest';
import { LoadLimit } from '#modules/functions/runs/runner/fair-limiter.ts';

it('rises while the thread is idle, falls while it is busy, and stays within its bounds', () => {
  let load = 0;
  const rises: number[] = [];
  const limit: LoadLimit = new LoadLimit({
    min: 2,
    max: 12,
    grant: (isOverdue) => rises.push(isOverdue ? -1 : limit.value),
    utilization: () => load,
  });
  const values = (...loads: readonly number[]): number[] =>
    loads.map((next) => {
      load = next;
      limit.look();
      return limit.value;
    });
  expect(values(0.1, 0.1, 0.1, 0.1)).toEqual([4, 8, 12, 12]);
  expect(rises).toEqual([4, 8, 12]);
  expect(values(0.7, 0.9, 0.9, 0.9)).toEqual([12, 9, 6, 4]);
  expect(values(0.9, 0.9, 1)).toEqual([3, 2, 2]);
  expect(rises.filter((rise) => rise > 0)).toHaveLength(3);
});

it('admits one of those that have waited for long, whatever the load', () => {
  const admitted: boolean[] = [];
  const limit = new LoadLimit({
    min: 2,
    max: 8,
    grant: (isOverdue) => admitted.push(isOverdue),
    utilization: () => 1,
  });
  using _ = limit.wait();
  for (let at = 0; at < 4; at += 1) limit.look();
  // Another one was admitted.
  limit.wait()[Symbol.dispose]();
  for (let at = 0; at < 4; at += 1) limit.look();
  expect(admitted).toEqual([]);
  for (let at = 0; at < 6; at += 1) limit.look();
  expect(admitted).toEqual([true, true]);
});

it('begins at its least value whenever nothing has waited', () => {
  const limit = new LoadLimit({ min: 2, max: 8, grant: () => undefined, utilization: () => 0 });
  const [first, second] = [limit.wait(), limit.wait()];
  limit.look();
  first[Symbol.dispose]();
  expect(limit.value).toBe(4);
  second[Symbol.dispose]();
  expect(limit.value).toBe(2);
});
