import { expect } from 'vitest';
import type { SeenByReaders } from './reads-go-on.ts';

/** Readers have had every record once, in the same order, and the refused writes are there too. */
export function expectNothingLost(seen: SeenByReaders): void {
  const { reads, refusedReads, refusedWrites, written } = seen;
  console.log(
    `${written.length} records, ${reads} reads, ${refusedReads} refused; ${refusedWrites} writes refused`,
  );
  expect(seen.unexpected).toEqual([]);
  for (const followed of seen.followed) expect(followed).toEqual(seen.whole);
  expect(seen.whole.toSorted()).toEqual(written.toSorted());
  expect(seen.variable).toBe(written.at(-1));
  expect(refusedWrites).toBeGreaterThan(0);
}
