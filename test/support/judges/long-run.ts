import { seeded } from './random.ts';

/** Set by `npm run test:all`: rounds run at full length. */
export const longRunVariable = 'SVC_TEST_LONG';

/** How many rounds of a seeded test run: a few on each push, all of them in `npm run test:all`. */
export const roundsOf = ({ push, all }: { readonly push: number; readonly all: number }): number =>
  process.env[longRunVariable] === '1' ? all : push;

/** So many of the items, in their order, drawn by the seed. */
export function someOf<T>(items: readonly T[], count: number, seed: number): T[] {
  const first = seeded(seed).int(items.length);
  const drawn = new Set(Array.from({ length: count }, (_, at) => (first + at) % items.length));
  return items.filter((_, at) => drawn.has(at));
}
