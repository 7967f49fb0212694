import { expect, it } from 'vitest';
import { BatchPair } from '#streams/projector/table-projector.ts';

/** As those of a projector: it remembers how much it has held, as its buffer does. */
class Numbers {
  readonly values: number[] = [];
  capacity = 0;

  get isEmpty(): boolean {
    return this.values.length === 0;
  }

  add(...values: number[]): void {
    this.values.push(...values);
    this.capacity = Math.max(this.capacity, this.values.length);
  }

  clear(): void {
    this.values.length = 0;
  }
}

function afterRush(): BatchPair<Numbers> {
  const pair = new BatchPair(() => new Numbers());
  for (const values of [
    [1, 2, 3],
    [4, 5],
  ]) {
    pair.open.add(...values);
    pair.giveBack(pair.swap());
  }
  return pair;
}

it('reuses both batches, and replaces them by new ones when both are empty', () => {
  const pair = afterRush();
  expect(pair.open.capacity).toBe(3);
  pair.renew();
  expect(pair.open.capacity).toBe(0);
  const first = pair.swap();
  expect(pair.open.capacity).toBe(0);
  expect(pair.open).not.toBe(first);
});

it('keeps what was added before it could be renewed', () => {
  const pair = afterRush();
  pair.open.add(6);
  pair.renew();
  expect(pair.swap().values).toEqual([6]);
});
