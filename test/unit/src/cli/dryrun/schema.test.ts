import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schemaOf } from '#adapters/sandbox/guest/definition.ts';
import { schemaCheck } from '#cli/dryrun/schema.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';

const numbers: JsonObject = { type: 'object', additionalProperties: { type: 'number' } };

describe('the check of a dry run', () => {
  it.each([
    ['{"a":1}', []],
    ['{"a":"x"}', ['a: expected number, got string']],
    ['{"__proto__":"x"}', ['__proto__: This key cannot be checked.']],
    [
      '{"a":{"__proto__":1}}',
      ['a: expected number, got object', 'a.__proto__: This key cannot be checked.'],
    ],
  ])('says of %s: %j', (text, lines) => {
    expect(schemaCheck(numbers)(JSON.parse(text) as Json)).toEqual(lines);
  });

  it('names every place, what it expects there and what it got', () => {
    const model = z.strictObject({
      id: z.string(),
      kind: z.enum(['a', 'b']),
      owner: z.union([z.string(), z.object({ name: z.string() })]),
      age: z.int().min(1).nullable(),
    });
    const check = schemaCheck(schemaOf(model, 'models.Item'));
    expect(check({ id: '1', kind: 'a', owner: { name: 'x' }, age: null })).toEqual([]);
    expect(check({ kind: 'c', owner: { name: 1 }, age: 0, more: true })).toEqual([
      'id: required, expected string',
      'more: unknown field, allowed: id, kind, owner, age',
      'kind: expected one of "a", "b", got "c"',
      'owner.name: expected string, got number',
      'age: must be >= 1, got 0',
    ]);
    expect(check({ id: '1', kind: 'a', owner: 3, age: null })).toEqual([
      'owner: expected string or object, got 3',
    ]);
    expect(check([])).toEqual(['expected object, got array']);
  });

  it.each([
    ['a time without an offset', z.iso.datetime({ local: true }), '2026-01-01T00:00:00'],
    ['a time of day', z.iso.time(), '10:00:00'],
    ['a duration with fractions', z.iso.duration(), 'PT1.5S'],
    ['an address with an umlaut', z.email({ pattern: z.regexes.unicodeEmail }), 'ü@example.com'],
    ['a URL with an umlaut', z.url(), 'https://example.com/ü'],
    ['a date', z.date(), '2026-01-01T00:00:00.000Z'],
    ['look-ahead', z.string().regex(/^(?=.*\d).{3,}$/), 'ab1'],
    ['an escape that the flag `u` refuses', z.string().regex(/^\d\-\d$/), '1-2'],
    ['a recursive model', recursive(), { next: { next: {} } }],
  ])('takes what zod takes: %s', (_, schema, value) => {
    const check = schemaCheck(schemaOf(schema, 'input'));
    expect(check(value)).toEqual([]);
    expect(check({ next: 3 })).not.toEqual([]);
  });
});

function recursive(): z.ZodType {
  const node = z.object({
    get next() {
      return node.optional();
    },
  });
  return node;
}
