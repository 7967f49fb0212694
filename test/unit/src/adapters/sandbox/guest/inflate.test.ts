import { constants, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inflate } from '../../../../../../src/adapters/sandbox/guest/inflate.ts';

const seed = Number(process.env['SVC_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY } = constants;

/** What repeats, and what does not. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 70_000 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 2_000 }))
    .map(([part, times]) => new Uint8Array(Buffer.concat(Array<Uint8Array>(times).fill(part)))),
);

describe(`inflate, seed ${seed}`, () => {
  it('gives back what was packed, however it was packed', () => {
    const level = fc.constantFrom(0, 1, 6, 9);
    const strategy = fc.constantFrom(Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY);
    fc.assert(
      fc.property(bytes, level, strategy, (given, level, strategy) => {
        const packed = deflateRawSync(given, { level, strategy });
        expect(Buffer.from(inflate(packed, given.length)).equals(given)).toBe(true);
      }),
      { seed, numRuns: 60 },
    );
  });

  it('refuses what is broken, cut off, or of another size', () => {
    const broken = /^The archive is broken/;
    const given = Buffer.from('to be or not to be, that is the question'.repeat(9));
    const packed = deflateRawSync(given);
    expect(() => inflate(packed.subarray(0, -3), given.length)).toThrow(broken);
    for (const size of [0, given.length - 1, given.length + 1, 2 ** 32 - 1]) {
      expect(() => inflate(packed, size)).toThrow(broken);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(2_000), (junk, size) => {
        try {
          expect(inflate(junk, size)).toHaveLength(size);
        } catch (error) {
          expect((error as Error).message).toMatch(broken);
        }
      }),
      { seed, numRuns: 500 },
    );
  });
});
