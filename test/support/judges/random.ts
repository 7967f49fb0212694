import { randomInt } from 'node:crypto';

/** Seeded numbers (mulberry32): the same seed gives the same run. */
export interface Random {
  readonly seed: number;
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number;
  pick<T>(items: readonly T[]): T;
  chance(percent: number): boolean;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    seed,
    int,
    pick: (items) => items[int(items.length)]!,
    chance: (percent) => next() * 100 < percent,
  };
}

/** The seed of this run: `SVC_TEST_SEED`, or a new one. Print it. */
export function seedOfRun(): number {
  const given = process.env['SVC_TEST_SEED'];
  return given === undefined ? randomInt(2 ** 31) : Number(given);
}
