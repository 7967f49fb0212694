import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeenBitmap } from '#modules/records/owner/state/seen-bitmap.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const seed = seedOfRun();
const somePositions = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 65_000, max: 140_000 })),
);

function gapsOf(marks: SeenBitmap, through: number): number[] {
  const positions: number[] = [];
  for (let gap = marks.gap(1, through); gap !== null; gap = marks.gap(gap.last + 1, through)) {
    for (let at = gap.first; at <= gap.last; at++) positions.push(at);
  }
  return positions;
}

describe(`marks (seed ${seed})`, () => {
  it('are what was added, also after they were saved', () => {
    const holds = (positions: number[]): void => {
      const marks = new SeenBitmap();
      for (const position of positions) marks.add(position);
      const saved = SeenBitmap.decode(marks.encode());
      for (const position of positions) expect(saved.has(position)).toBe(true);
      const known = new Set(positions);
      for (let at = 1; at <= 300; at++) expect(saved.has(at)).toBe(known.has(at));
    };
    fc.assert(fc.property(somePositions, holds), { seed, numRuns: 50 });
  });

  it('leave gaps that are exactly what was not added', () => {
    const holds = (positions: number[], through: number): void => {
      const marks = new SeenBitmap();
      for (const position of positions) marks.add(position);
      const known = new Set(positions);
      const missing = Array.from({ length: through }, (_, i) => i + 1).filter(
        (at) => !known.has(at),
      );
      expect(gapsOf(marks, through)).toEqual(missing);
    };
    fc.assert(fc.property(somePositions, fc.constantFrom(0, 1, 299, 66_000, 139_000), holds), {
      seed,
      numRuns: 20,
    });
  });

  it('of a stream saved whole are a few bytes', () => {
    const marks = new SeenBitmap();
    for (let at = 1; at <= 200_000; at++) marks.add(at);
    expect(marks.encode().length).toBeLessThan(1000);
    expect(marks.gap(1, 200_000)).toBeNull();
  });
});
