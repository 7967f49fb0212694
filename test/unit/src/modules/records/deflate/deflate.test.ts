import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DeflateDictionary,
  Deflater,
  dictionaryBytesMax,
} from '../../../../../../src/modules/records/deflate/deflater.ts';
import { InflateError, Inflater } from '../../../../../../src/modules/records/deflate/inflater.ts';
import { seedOfRun } from '../../../../../support/random.ts';

const seed = seedOfRun();
const none = new Uint8Array();
const deflater = new Deflater();
const inflater = new Inflater();

const deflated = (text: Uint8Array, dictionary: Uint8Array = none): Buffer =>
  Buffer.from(deflater.deflate(text, new DeflateDictionary(dictionary)));

/** Noise, few letters, and pieces of one another. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 600 }),
  fc.array(fc.constantFrom(97, 98, 200), { maxLength: 3000 }).map((some) => Uint8Array.from(some)),
  fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)),
);

describe(`DEFLATE of short texts (seed ${seed})`, () => {
  it('is read by zlib and by our own reader, with and without a dictionary', () => {
    const holds = (text: Uint8Array, before: Uint8Array, after: Uint8Array): void => {
      const dictionary = Buffer.concat([before, text.subarray(0, 100), after]);
      for (const known of [none, dictionary]) {
        const short = deflated(text, known);
        const options = known.length === 0 ? {} : { dictionary: known };
        expect(inflateRawSync(short, options).equals(text)).toBe(true);
        expect(inflater.inflate(short, known).equals(text)).toBe(true);
        expect(short.length).toBeLessThanOrEqual(text.length + 5);
      }
    };
    fc.assert(fc.property(bytes, bytes, bytes, holds), { seed, numRuns: 300 });
  });

  it('reaches over long texts, up to the bounds of a dictionary and of a distance', () => {
    const noise = randomBytes(dictionaryBytesMax);
    const long = Buffer.concat([noise, Buffer.alloc(70_000, 'abc'), noise, noise]);
    const short = deflated(long, noise);
    expect(short.length).toBeLessThan(3 * noise.length);
    expect(inflateRawSync(short, { dictionary: noise }).equals(long)).toBe(true);
    expect(inflater.inflate(short, noise).equals(long)).toBe(true);
    expect(() => new DeflateDictionary(Buffer.alloc(dictionaryBytesMax + 1))).toThrow(RangeError);
  });

  it('refuses what was cut, lengthened, looks back too far or has other blocks or codes', () => {
    const text = Buffer.from('{"name":"Ada","name_of_it":"Ada"}');
    const short = deflated(text);
    const looking = deflated(text, text);
    const stored = deflated(randomBytes(300));
    for (const wrong of [
      none,
      short.subarray(0, short.length - 2),
      Buffer.concat([short, Buffer.alloc(1)]),
      looking,
      stored.subarray(0, 200),
      Buffer.from([0b101, 0, 0]),
      // A length of number 286, which the format leaves out.
      Buffer.from([0b11_011, 0b011, 0, 0]),
    ]) {
      expect(() => inflater.inflate(wrong, none)).toThrow(InflateError);
    }
  });
});
