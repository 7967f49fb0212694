import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cursorChars,
  decodeCursor,
  encodeCursor,
  generationOf,
} from '#modules/records/model/cursor.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const seed = seedOfRun();
const whole = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const anyCursor = fc.record({
  generation: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  position: whole,
  modifiedAt: whole,
});

describe(`cursors, seed ${seed}`, () => {
  it('come back as they went out', () => {
    const property = fc.property(anyCursor, (cursor) => {
      const text = encodeCursor(cursor);
      expect(text).toMatch(new RegExp(`^[A-Za-z0-9+/]{${cursorChars}}$`));
      expect(decodeCursor(text)).toEqual(cursor);
    });
    fc.assert(property, { seed });
  });

  it('survive a client that does not encode the plus sign', () => {
    const property = fc.property(anyCursor, (cursor) => {
      expect(decodeCursor(encodeCursor(cursor).replaceAll('+', ' '))).toEqual(cursor);
    });
    fc.assert(property, { seed });
  });

  it('that are something else are refused with one code', () => {
    const garbage = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      anyCursor.map((cursor) => encodeCursor(cursor).slice(0, -4)),
      anyCursor.map((cursor) => `${encodeCursor(cursor)}AAAA`),
    );
    const property = fc.property(garbage, (text) => {
      // One in 65,536 texts of the right length has the version and the check by chance.
      const bytes = Buffer.from(text, 'base64');
      fc.pre(bytes.length !== 24 || bytes[0] !== 1);
      expect(() => decodeCursor(text)).toThrow(
        expect.objectContaining({ code: 'invalid_cursor_value' }),
      );
    });
    fc.assert(property, { seed });
  });

  it('are refused with anything before, in or after them', () => {
    const property = fc.property(
      anyCursor,
      fc.nat({ max: cursorChars }),
      fc.constantFrom('x', '=', '!', '%', '.', ' ', '\n', '\0', 'é', '=='),
      (cursor, at, more) => {
        const text = encodeCursor(cursor);
        expect(() => decodeCursor(`${text.slice(0, at)}${more}${text.slice(at)}`)).toThrow(
          expect.objectContaining({ code: 'invalid_cursor_value' }),
        );
      },
    );
    fc.assert(property, { seed });
  });

  it('are refused when a bit of the position is turned', () => {
    const bytes = Buffer.from(
      encodeCursor({ generation: generationOf('a'), position: 7, modifiedAt: 9 }),
      'base64',
    );
    bytes[16] = (bytes[16] ?? 0) ^ 1;
    expect(() => decodeCursor(bytes.toString('base64'))).toThrow(
      expect.objectContaining({ code: 'invalid_cursor_value' }),
    );
  });

  it('distinguish generations', () => {
    expect(generationOf('a')).not.toBe(generationOf('b'));
  });
});
