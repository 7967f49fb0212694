import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { clientText } from '#cli/commands/generate.ts';
import { checkSources } from '#test/support/processes/client-sources.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const Tree = z.object({
  id: z.string(),
  get children() {
    return z.array(Tree);
  },
});
const Everything = z.object({
  id: z.string(),
  "it's": z.literal(['a', "b'c", '\\', 1, null]),
  list: z.array(z.union([z.string(), z.number()])),
  pair: z.tuple([z.string(), z.int()]),
  rest: z.tuple([z.string()], z.boolean()),
  map: z.record(z.string(), z.number()),
  kinds: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), a: z.string() }),
    z.object({ kind: z.literal('b'), b: z.boolean().optional() }),
  ]),
  both: z.intersection(z.object({ x: z.string() }), z.object({ y: z.number() })),
  maybe: z.string().nullable(),
  any: z.any(),
  tree: Tree,
});

/** As a deployment has it: the references of a model begin at its own place. */
const definitions = (models: Record<string, z.ZodType>): object => ({
  definitions: Object.fromEntries(
    Object.entries(models).map(([name, schema]) => {
      const json = JSON.stringify(z.toJSONSchema(schema, { target: 'draft-7' }));
      return [name, JSON.parse(json.replaceAll('"#', `"#/definitions/${name}`)) as object];
    }),
  ),
});

const sync = (name: string, models: Record<string, z.ZodType>) => ({
  name,
  returns: Object.keys(models),
  json_schema: definitions(models),
});

it('the client has the types of any schema that a function can declare', async () => {
  const integrations = [
    {
      providerConfigKey: "crm's \\ prod */",
      syncs: [
        sync('everything', { Everything, Tree }),
        sync('one', { Shared: z.object({ id: z.string(), one: z.string() }) }),
        sync('other', { Shared: z.object({ id: z.string(), other: z.string() }) }),
      ],
      actions: [
        {
          name: 'do-it',
          description: 'Ends the comment */ alert(1) /*\nand the line',
          input: 'In',
          returns: ['Out'],
          json_schema: definitions({ In: z.object({ n: z.number() }), Out: Tree }),
        },
        {
          name: 'nothing',
          input: 'In',
          returns: ['Out'],
          json_schema: { definitions: { In: { type: 'null' }, Out: { type: 'null' } } },
        },
        {
          name: 'hostile',
          input: 'In',
          returns: ['__proto__'],
          json_schema: {
            definitions: {
              In: { type: 'string; alert(1)', properties: { '}; alert(1); {': {} } },
            },
          },
        },
        {
          name: 'astray',
          input: 'In',
          returns: [],
          json_schema: { definitions: { In: { $ref: 'https://elsewhere.example/#/x' } } },
        },
      ],
    },
    { providerConfigKey: 'empty', syncs: [], actions: [] },
  ];
  writeFileSync(
    join(folder, 'gateway.ts'),
    clientText(integrations, '@integration-gateway/svc-client'),
  );
  writeFileSync(
    join(folder, 'use.ts'),
    `import { createSvcClient, type Deployed } from './gateway.ts';

type Crm = Deployed["crm's \\\\ prod */"];
type Everything = Crm['models']['Everything'];
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
export const checks: {
  key: Same<Everything["it's"], 'a' | "b'c" | '\\\\' | 1 | null>;
  list: Same<Everything['list'], readonly (string | number)[]>;
  pair: Same<Everything['pair'], readonly [string, number]>;
  rest: Same<Everything['rest'], readonly [string, ...boolean[]]>;
  map: Same<Everything['map']['x'], number>;
  kinds: Same<Extract<Everything['kinds'], { readonly kind: 'b' }>['b'], boolean | undefined>;
  both: Same<Everything['both']['y'], number>;
  maybe: Same<Everything['maybe'], string | null>;
  tree: Same<Everything['tree']['children'][0]['children'][0]['id'], string>;
  itself: Same<Crm['models']['Tree']['children'][0]['children'][0]['id'], string>;
  shared: Same<Crm['models']['Shared'], { readonly id: string; readonly one: string } | { readonly id: string; readonly other: string }>;
  output: Same<Crm['actions']['do-it']['output']['id'], string>;
  hostile: Same<Crm['actions']['hostile'], { readonly input: unknown; readonly output: unknown }>;
  astray: Same<Crm['actions']['astray'], { readonly input: unknown; readonly output: unknown }>;
  empty: Same<keyof Deployed['empty']['models'], never>;
} = {
  key: true, list: true, pair: true, rest: true, map: true, kinds: true, both: true, maybe: true, tree: true,
  itself: true, shared: true, output: true, hostile: true, astray: true, empty: true,
};

export async function use(): Promise<void> {
  const crm = createSvcClient({ url: 'http://localhost', key: 'k' }).connection("crm's \\\\ prod */", 'acme');
  await crm.run('do-it', { n: 1 }, { idempotencyKey: 'once' });
  const nothing: null = await crm.run('nothing');
  // @ts-expect-error -- the input is missing
  await crm.run('do-it');
  // @ts-expect-error -- no such action
  await crm.run('do-that', nothing);
}
`,
  );
  await expect(checkSources(folder)).resolves.toBeUndefined();
});
