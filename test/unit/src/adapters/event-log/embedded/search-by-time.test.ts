import fc from 'fast-check';
import { expect, it } from 'vitest';
import { searchByPeak } from '#adapters/event-log/embedded/search-by-time.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

it('finds the first row that passes, among rows with holes between them', () => {
  const steps = fc.array(
    fc.record({ hole: fc.nat(5), count: fc.integer({ min: 1, max: 5 }), rise: fc.nat(3) }),
    { maxLength: 40 },
  );
  const property = fc.property(steps, fc.nat(5), fc.nat(70), (shape, tail, time) => {
    let next = 0;
    let peak = 0;
    const rows = shape.map(({ hole, count, rise }) => {
      const base = next + hole;
      next = base + count;
      peak += rise;
      return { base, next, peak };
    });
    const rowAfter = (position: number) => rows.find((row) => row.next > position);
    const found = searchByPeak(rowAfter, 0, next + tail, (value) => value >= time);
    expect(found).toBe(rows.find((row) => row.peak >= time) ?? null);
  });
  fc.assert(property, { seed: seedOfRun(), numRuns: 500 });
});
