import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignSticky } from '#adapters/event-log/sticky-assignment.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const members = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
const holders = fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e')), { maxLength: 40 });

const countOf = (assigned: readonly (string | null)[], member: string): number =>
  assigned.filter((holder) => holder === member).length;

describe('a sticky assignment', () => {
  it('gives every partition to a member, evenly, and moves no more than it must', () => {
    const property = fc.property(holders, members, (before, present) => {
      const after = assignSticky(before, present);
      expect(after).toHaveLength(before.length);
      const share = Math.floor(before.length / present.length);
      const odd = before.length % present.length;
      const counts = present.map((member) => countOf(after, member));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(before.length);
      expect(counts.filter((count) => count === share + 1)).toHaveLength(odd);
      expect(counts.filter((count) => count === share)).toHaveLength(present.length - odd);

      const held = present.map((member) => countOf(before, member)).sort((a, b) => b - a);
      const keepable = held.map((count, rank) => Math.min(count, share + (rank < odd ? 1 : 0)));
      const kept = after.filter((member, i) => member === before[i]).length;
      expect(kept).toBe(keepable.reduce((sum, count) => sum + count, 0));
    });
    fc.assert(property, { seed: seedOfRun(), numRuns: 500 });
  });

  it('without members gives nobody anything', () => {
    expect(assignSticky(['a', null], [])).toEqual([null, null]);
  });
});
