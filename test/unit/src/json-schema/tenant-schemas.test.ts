import { describe, expect, it } from 'vitest';
import { TenantSchemas } from '#json-schema/tenant-schemas.ts';
import { limits } from '#kernel/limits.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { slowerThan } from '#test/support/judges/cpu-time.ts';

const problems = (schema: JsonObject, value: Json) =>
  new TenantSchemas().problems(schema, value).map(({ path, message }) => `${path}: ${message}`);

/** A schema of so many levels whose innermost takes a number. */
function nested(levels: number): JsonObject {
  const schema: JsonObject = { type: 'number' };
  return levels === 1 ? schema : { if: true, then: nested(levels - 1) };
}

/** 2^30 ways through 30 definitions. */
const exponential: JsonObject = {
  definitions: {
    ...Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => {
        const next = { $ref: `#/definitions/d${at + 1}` };
        return [`d${at}`, { anyOf: [next, next] }];
      }),
    ),
    d30: { type: 'number' },
  },
  $ref: '#/definitions/d0',
};

describe('a value against the schema of a tenant', () => {
  it('names the first place that does not fit', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'object', properties: { b: { type: 'number' } } } },
    };
    expect(problems(schema, { a: { b: 'x' } })).toEqual(['a.b: expected number, got string']);
    expect(problems(schema, { a: { b: 1 } })).toEqual([]);
  });

  it('has its own properties only', () => {
    const schema = { properties: { constructor: { type: 'string' } }, required: ['toString'] };
    expect(problems(schema, {})).toEqual(['toString: required']);
  });

  it('is answered at once, whatever the schema says of promises and other documents', () => {
    const schema = { $async: true, $schema: 'https://a.example', $id: 'x', type: 'string' };
    expect(problems(schema, 3)).toEqual([': expected string, got number']);
  });

  it.each<[string, JsonObject, Json]>([
    ['is too large', { type: 'number', title: 'x'.repeat(limits.checkedSchemaBytesMax) }, 'x'],
    ['is too deep', nested(limits.checkedSchemaLevelsMax + 1), 'x'],
    ['is no schema', { type: 'nothing' }, 'x'],
    ['refers to nothing', { $ref: '#/definitions/gone' }, 'x'],
    ['refers to itself', { $ref: '#' }, 'x'],
    ['takes exponential time', exponential, 'x'],
    ['has a pattern without a linear test', { pattern: '^(?=a)b' }, 'x'],
    [
      'has such a pattern of properties',
      { patternProperties: { '(?=a)': { type: 'number' } }, additionalProperties: false },
      { b: 'x' },
    ],
  ])('is not checked where the schema %s', (_, schema, value) => {
    expect(problems(schema, value)).toEqual([]);
  });

  it('is checked where the schema is as deep as may be', () => {
    expect(problems(nested(limits.checkedSchemaLevelsMax), 'x')).toEqual([
      ': expected number, got string',
    ]);
  });

  it('is still checked beside a pattern without a linear test', () => {
    const schema = {
      properties: { a: { type: 'string', pattern: '(?=a)' }, pattern: { type: 'number' } },
    };
    expect(problems(schema, { a: 1 })).toEqual(['a: expected string, got number']);
    expect(problems(schema, { pattern: 'x' })).toEqual(['pattern: expected number, got string']);
  });

  it('costs with a catastrophic pattern a few times what it costs with a harmless one', async () => {
    const schemas = new TenantSchemas();
    const value = `${'a'.repeat(32 * 1024)}!`;
    const check = (pattern: string) => () => schemas.problems({ type: 'string', pattern }, value);
    expect(check('^(a+)+$')()).toHaveLength(1);
    expect(await slowerThan(5, check('^(a+)+$'), check('^a+$'), { calls: 50 })).toBeNull();
  });

  it('compiles a schema once for its content', async () => {
    const schemas = new TenantSchemas();
    const schemaOf = (at: number): JsonObject => ({
      properties: Object.fromEntries(
        Array.from({ length: 100 }, (_, nth) => [
          `p${at}_${nth}`,
          { type: 'number', minimum: nth },
        ]),
      ),
    });
    schemas.problems(schemaOf(0), {});
    let next = 1;
    const again = await slowerThan(
      0.5,
      () => schemas.problems(schemaOf(0), {}),
      () => schemas.problems(schemaOf((next += 1)), {}),
      { calls: 20 },
    );
    expect(again).toBeNull();
  });
});
