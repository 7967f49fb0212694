import { expect, it } from 'vitest';
import { z as own } from 'zod';
import { guestRuntime } from '#adapters/sandbox/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { runBundle } from '../guest.ts';

/** Evaluated here with the package's own zod, and as text in a realm: as JSON, both must say the same. */
function facts(z: typeof own): unknown {
  const seen = new Set<unknown>();
  const inside = (of: object, depth: number): unknown =>
    Object.fromEntries(
      Object.entries(of)
        .filter(([name]) => name !== 'locales')
        .map(([name, value]: [string, unknown]) => [name, shownAs(value, depth)])
        .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
  const shownAs = (value: unknown, depth: number): unknown => {
    if (typeof value === 'function') {
      const isClass = 'init' in value;
      return isClass ? `class ${value.name}` : 'function';
    }
    if (value instanceof RegExp) return String(value);
    if (typeof value !== 'object' || value === null) return typeof value;
    if (depth === 0 || seen.has(value)) return 'object';
    seen.add(value);
    return inside(value, depth - 1);
  };
  const contact = z.object({
    id: z.string().min(1),
    mail: z.email().optional(),
    kind: z.enum(['a', 'b']).default('a'),
    born: z.iso.date().nullable(),
    sizes: z.array(z.coerce.number().int()).max(2),
    tags: z.record(z.string(), z.union([z.string(), z.literal(1)])),
  });
  const refused = (schema: { parse(value: unknown): unknown }, value: unknown): unknown => {
    try {
      return schema.parse(value);
    } catch (error) {
      if (!(error instanceof z.ZodError)) return String(error);
      return {
        isError: error instanceof Error,
        name: error.name,
        says: error.message,
        tree: z.treeifyError(error),
      };
    }
  };
  return {
    all: inside(z, 2),
    json: z.toJSONSchema(contact),
    back: refused(z.fromJSONSchema({ type: 'object', required: ['a'] }), {}),
    good: refused(contact, { id: 'x', born: null, sizes: ['1'], tags: { a: 1 } }),
    bad: refused(contact, { id: '', mail: 'x', kind: 'c', born: 1, sizes: [1, 2, 3.5], tags: 1 }),
    kinds: [contact instanceof z.ZodObject, contact instanceof z.ZodType, z.ZodError.name],
    compiled: z.compile(contact).safeParse({ id: 1 }).success,
    constructed: new z.ZodString({ type: 'string' }).safeParse('x').success,
    transformed: z.string().transform(Number).pipe(z.number()).parse('12'),
  };
}

it('the script of a realm is small: each realm holds its text', async () => {
  expect((await guestRuntime()).length).toBeLessThan(272 * 1024);
});

it('zod of a realm is the whole package, though it is held small', async () => {
  const sandbox = await sharedSandbox();
  const bundle = `const facts = ${facts.toString()};
    exports.default = { type: 'action', exec: async () => facts(require('zod').z) };`;
  const result = await runBundle(sandbox, bundle, { type: 'action' });
  if (result.status === 'error') throw new Error(result.error.message);
  expect(JSON.parse(result.output ?? '')).toEqual(JSON.parse(JSON.stringify(facts(own))));
});
