import { isDeepStrictEqual, inspect } from 'node:util';

/** @throws Error with both values */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const shown = (value: unknown): string => inspect(value, { depth: 10, sorted: true });
  throw new Error(`${what}:\n${shown(actual)}\ninstead of\n${shown(expected)}`);
}

/** @throws Error */
export function expectTrue(isMet: boolean, what: string): asserts isMet {
  if (!isMet) throw new Error(what);
}
