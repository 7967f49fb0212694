import { describe, expect, it } from 'vitest';
import { joinKey, splitKey, uuidV4, uuidV7 } from '#kernel/ids.ts';

describe('a uuid', () => {
  /** More than are drawn at once. */
  const many = <T>(make: () => T): T[] => Array.from({ length: 1_000 }, make);

  it('of version 4 says so, and is never another', () => {
    const made = many(uuidV4);
    for (const uuid of made) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(new Set(made).size).toBe(made.length);
  });

  it('of version 4 has every digit in every place but that of its version and variant', () => {
    const made = many(uuidV4);
    const fixed = new Set([8, 13, 14, 18, 19, 23]);
    for (let place = 0; place < 36; place += 1) {
      const digits = new Set(made.map((uuid) => uuid[place])).size;
      expect(digits, `place ${place}`).toBe(fixed.has(place) ? (place === 19 ? 4 : 1) : 16);
    }
  });

  it('of version 7 begins with its time', () => {
    const uuid = uuidV7(0x0123456789ab);
    expect(uuid).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('a key', () => {
  it('gives its parts back, whatever they are made of', () => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('');
    const parts = ['', 'a-b_c.d~e', ascii, 'ä/€', '%2F'];
    expect(joinKey(...parts)).toBe(parts.map(encodeURIComponent).join('/'));
    expect(splitKey(joinKey(...parts))).toEqual(parts);
  });
});
