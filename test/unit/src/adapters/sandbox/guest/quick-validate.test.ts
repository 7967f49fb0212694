import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schemaOf } from '#adapters/sandbox/guest/definition.ts';
import { quicklyValid } from '#adapters/sandbox/guest/quick-validate.ts';
import type { Json } from '#kernel/stable-json.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';

/** As TypeScript makes an enum of numbers. */
const Numbered = { one: 1, two: 2, 1: 'one', 2: 'two' };

/** The rule: JSON Schema of what the function declares. */
const fits = (schema: z.ZodType, value: Json): boolean =>
  z.fromJSONSchema(schemaOf(schema, 'it')).safeParse(value).success;

const leaves: readonly (() => z.ZodType)[] = [
  () => z.string(),
  () => z.string().min(2),
  () => z.string().meta({ minLength: 2 }),
  () => z.string().describe('said'),
  () => z.email(),
  () => z.number(),
  () => z.int(),
  () => z.number().max(3),
  () => z.boolean(),
  () => z.null(),
  () => z.any(),
  () => z.unknown(),
  () => z.void(),
  () => z.date(),
  () => z.enum(['a', 'b']),
  () => z.enum(Numbered),
  () => z.literal(['a', 'bb']),
  () => z.literal(1),
  () => z.string().transform((text) => text.length),
];
const values: readonly Json[] = ['', 'a', 'bb', 'one', 'x@y.org', 0, 1, 2.5, 7, true, null];

function aSchema(random: Random, depth: number): z.ZodType {
  const part = () => aSchema(random, depth - 1);
  const object = () => ({ a: part(), b: part(), __proto__: null });
  const branches: readonly (() => z.ZodType)[] = [
    () => z.object(object()),
    () => z.looseObject(object()),
    () => z.strictObject(object()),
    () => z.object({ a: part() }).catchall(part()),
    () => z.array(part()),
    () => z.array(part()).max(1),
    () => z.tuple([part(), part()]),
    () => z.record(z.string(), part()),
    () => z.record(z.enum(['a', 'b']), part()),
    () => z.union([part(), part()]),
    () => z.xor([part(), part()]),
    () => part().optional(),
    () => part().nullable(),
    () => part().readonly(),
    () => part().default('a'),
  ];
  return random.pick(depth === 0 || random.chance(30) ? leaves : branches)();
}

function aValue(random: Random, depth: number): Json {
  const part = () => aValue(random, depth - 1);
  if (depth === 0 || random.chance(40)) return random.pick(values);
  if (random.chance(30)) return Array.from({ length: random.int(3) }, part);
  const keys = ['a', 'b', 'c', '__proto__'].filter(() => random.chance(50));
  return Object.fromEntries(keys.map((key) => [key, part()]));
}

describe('a value that surely fits', () => {
  const seed = seedOfRun();
  it(`fits the JSON Schema of any schema (SVC_TEST_SEED=${seed})`, () => {
    const random = seeded(seed);
    let sure = 0;
    for (let round = 0; round < 300; round += 1) {
      const schema = aSchema(random, 3);
      for (let count = 0; count < 10; count += 1) {
        const value = aValue(random, 3);
        if (!quicklyValid(schema, value)) continue;
        sure += 1;
        const shown = JSON.stringify([schemaOf(schema, 'it'), value]);
        expect(fits(schema, value), shown).toBe(true);
      }
    }
    expect(sure).toBeGreaterThan(50);
  });

  it('is one of what most functions declare', () => {
    const contact = z.object({
      id: z.string(),
      name: z.string().optional(),
      tags: z.array(z.union([z.string(), z.literal('x'), z.null()])),
      kind: z.enum(['a', 'b']).nullable(),
      more: z.record(z.string(), z.unknown()).describe('anything'),
    });
    const value = { id: '1', tags: ['x', null], kind: 'b', more: { deep: [1] } };
    expect(quicklyValid(contact, value)).toBe(true);
    expect(quicklyValid(contact, { ...value, extra: 1 })).toBe(false);
    expect(quicklyValid(contact, { ...value, id: 1 })).toBe(false);
    expect(quicklyValid(contact, { ...value, tags: undefined as never })).toBe(false);
  });

  it('is none that JSON changes', () => {
    const toJSON = (): string => 'x';
    const any = z.object({ it: z.any() });
    expect(quicklyValid(z.number(), NaN)).toBe(false);
    expect(quicklyValid(z.number(), -Infinity)).toBe(false);
    expect(quicklyValid(any, { it: () => 1 })).toBe(false);
    expect(quicklyValid(any, { it: Symbol('x') })).toBe(false);
    expect(quicklyValid(any, { it: undefined })).toBe(false);
    expect(quicklyValid(any, { it: 1, toJSON })).toBe(false);
    expect(quicklyValid(any, Object.assign(Object.create({}) as object, { it: 1 }))).toBe(false);
    expect(quicklyValid(z.record(z.string(), z.any()), new Date())).toBe(false);
    expect(quicklyValid(z.array(z.any()), Object.assign([1], { toJSON }))).toBe(false);
    // JSON makes null of a hole.
    expect(quicklyValid(z.array(z.string()), ['a', , 'b'])).toBe(false);
    expect(quicklyValid(any, { it: 1 })).toBe(true);
  });

  it('may be of a schema that contains itself', () => {
    const tree = z.object({
      name: z.string(),
      get parts() {
        return z.array(tree).optional();
      },
    });
    expect(quicklyValid(tree, { name: 'a', parts: [{ name: 'b', parts: [] }] })).toBe(true);
    expect(quicklyValid(tree, { name: 'a', parts: [{ name: 1 }] })).toBe(false);
  });
});
