import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import { merge } from '#rules/merge.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const seed = seedOfRun();
const anObject = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'),
  fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constant(null),
      fc.integer(),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
    ),
  })).value,
) as fc.Arbitrary<JsonObject>;
const text = (value: unknown): string => JSON.stringify(value);
const keysOf = (value: JsonObject): string[] => Object.keys(value);

describe(`a deep merge (seed ${seed})`, () => {
  it('merges objects, replaces arrays, keeps absent keys, takes null', () => {
    const kept = {
      id: '1',
      tags: ['a', 'b'],
      owner: { name: 'Ada', team: { id: 1, city: 'X' } },
      old: 1,
    };
    const given = { id: '1', tags: ['c'], owner: { team: { city: null } }, fresh: true };
    expect(merge(kept, given)).toEqual({
      id: '1',
      tags: ['c'],
      owner: { name: 'Ada', team: { id: 1, city: null } },
      old: 1,
      fresh: true,
    });
  });

  it('puts an object where something else was, and the other way', () => {
    expect(merge({ a: [1], b: { c: 1 } }, { a: { c: 1 }, b: [1] })).toEqual({
      a: { c: 1 },
      b: [1],
    });
  });

  it('gives every given leaf and keeps every other key', () => {
    const holds = (kept: JsonObject, given: JsonObject): void => {
      const merged = merge(kept, given);
      expect(new Set(keysOf(merged))).toEqual(new Set([...keysOf(kept), ...keysOf(given)]));
      for (const key of keysOf(merged)) {
        const wasKept = Object.hasOwn(kept, key) ? kept[key] : undefined;
        if (!Object.hasOwn(given, key)) expect(text(merged[key])).toBe(text(wasKept));
        else if (isJsonObject(given[key]) && isJsonObject(wasKept)) {
          expect(text(merged[key])).toBe(text(merge(wasKept, given[key])));
        } else expect(text(merged[key])).toBe(text(given[key]));
      }
    };
    fc.assert(fc.property(anObject, anObject, holds), { seed });
  });

  it('leaves what it was given as it was, and merging again changes nothing', () => {
    const holds = (kept: JsonObject, given: JsonObject): void => {
      const before = [text(kept), text(given)];
      const once = merge(kept, given);
      expect([text(kept), text(given)]).toEqual(before);
      expect(text(merge(once, given))).toBe(text(once));
    };
    fc.assert(fc.property(anObject, anObject, holds), { seed });
  });
});
