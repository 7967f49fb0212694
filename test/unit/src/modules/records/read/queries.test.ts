import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundOf, firstAtLeast, skipDead } from '#modules/records/read/queries.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const seed = seedOfRun();
const head = { generation: 7n, position: 1000, modifiedAt: 5000 };

describe('boundOf', () => {
  it('starts at the beginning without a cursor', () => {
    expect(boundOf(null, null, head)).toEqual({ after: 0, from: 0 });
  });

  it('applies a cursor and a time both', () => {
    const cursor = { generation: 7n, position: 10, modifiedAt: 100 };
    expect(boundOf(cursor, 4000, head)).toEqual({ after: 10, from: 4000 });
  });

  it('resolves a cursor of another generation by its time', () => {
    const cursor = { generation: 8n, position: 10, modifiedAt: 100 };
    expect(boundOf(cursor, null, head)).toEqual({ after: 0, from: 100 });
    expect(boundOf(cursor, 4000, head)).toEqual({ after: 0, from: 4000 });
  });
});

describe(`skipDead, seed ${seed}`, () => {
  it('never passes over a segment that is not dead', () => {
    const property = fc.property(
      fc.uniqueArray(fc.nat({ max: 30 })),
      fc.nat({ max: 31 * 4096 }),
      (segments, after) => {
        const dead = Float64Array.from(segments).sort();
        const next = skipDead(after, dead);
        expect(next).toBeGreaterThanOrEqual(after);
        for (let position = after + 1; position <= next; position += 4096) {
          expect(segments).toContain(Math.floor(position / 4096));
        }
        // The next position lies in a segment with something to read.
        expect(segments).not.toContain(Math.floor((next + 1) / 4096));
      },
    );
    fc.assert(property, { seed });
  });
});

describe(`firstAtLeast, seed ${seed}`, () => {
  it('finds what a walk through the list finds', () => {
    const property = fc.property(
      fc.array(fc.nat({ max: 50 })),
      fc.nat({ max: 60 }),
      (list, value) => {
        const ascending = Float64Array.from(list).sort();
        const found = ascending.findIndex((element) => element >= value);
        expect(firstAtLeast(ascending, value)).toBe(found < 0 ? list.length : found);
      },
    );
    fc.assert(property, { seed });
  });
});
