import { beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '#cli/compiler/problem.ts';
import { compile, problemsOf, type Rejection } from '#test/support/worlds/compile.ts';
import { actionText, functionsProject, syncText } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const sandbox = await sharedSandbox();

const byValue: readonly Rejection[] = [
  [
    'a frequency that cannot be read',
    'b/syncs/frequency.ts',
    syncText('await svc.log(1);', { model: 'Aa', more: "frequency: 'now and then'," }),
    7,
    /^Interval is invalid: /,
  ],
  [
    'a frequency below 30 seconds',
    'b/syncs/often.ts',
    syncText('await svc.log(1);', { model: 'Bb', more: "frequency: 'every 5 seconds'," }),
    7,
    /^Interval is invalid: .*30 seconds/,
  ],
  [
    '§2.1 the names of models: one in small letters',
    'b/syncs/small.ts',
    syncText('await svc.log(1);', { model: 'contact' }),
    6,
    /^Model name "contact" is invalid/,
  ],
  [
    'a model named __proto__',
    'b/syncs/proto.ts',
    syncText('await svc.log(1);', { model: "['__proto__']" }),
    6,
    /^Model name "__proto__" is invalid/,
  ],
  [
    'a model of two syncs of one integration',
    'b/syncs/twin.ts',
    syncText('await svc.log(1);', { model: 'Bb' }),
    6,
    /^Model "Bb" is defined multiple times$/,
  ],
  [
    '§2.1 endpoints that are not one per model',
    'b/syncs/endpoints.ts',
    syncText('await svc.log(1);', {
      model: 'Cc',
      more: "frequency: 'every hour', endpoints: [{ method: 'GET', path: '/a' }, { method: 'GET', path: '/b' }],",
    }),
    7,
    /^There should be one endpoint per model: found 2 for 1/,
  ],
  [
    'an endpoint of two functions',
    'b/syncs/same-endpoint.ts',
    syncText('await svc.log(1);', {
      model: 'Dd',
      more: "frequency: 'every hour', endpoints: [{ method: 'GET', path: '/a' }],",
    }),
    7,
    /^Endpoint "GET \/a" is defined multiple times$/,
  ],
  [
    'trackDeletes of an incremental sync',
    'b/syncs/incremental.ts',
    syncText('await svc.log(1);', {
      model: 'Ee',
      more: "frequency: 'every hour', syncType: 'incremental', trackDeletes: true,",
    }),
    7,
    /^trackDeletes cannot be used with an incremental sync$/,
  ],
  [
    'a checkpoint with a list',
    'b/syncs/nested.ts',
    syncText('await svc.log(1);', {
      model: 'Ff',
      more: "frequency: 'every hour',\n  // @ts-expect-error the type refuses it too\n  checkpoint: z.object({ seen: z.array(z.string()) }),",
    }),
    9,
    /^A checkpoint should be a flat object/,
  ],
  [
    'a bundle that throws while it loads',
    'b/actions/throws.ts',
    actionText('await svc.log(1);', "if (Date.now() > 0) throw new Error('at the top');"),
    4,
    /at the top/,
  ],
];

describe('what the definitions of a project may not hold', () => {
  let problems: readonly Problem[];
  beforeAll(async () => {
    problems = await problemsOf(
      Object.fromEntries(byValue.map(([, file, text]) => [file, text])),
      sandbox,
    );
  });

  it.each(byValue)('refuses %s: %s', (_what, file, _source, line, message) => {
    const own = problems.filter((problem) => problem.file === file);
    expect(own).toContainEqual(
      expect.objectContaining({ line, message: expect.stringMatching(message) as string }),
    );
  });

  it('refuses nothing else', () => {
    expect(problems.map(({ file }) => file).sort()).toEqual(byValue.map(([, file]) => file).sort());
  });
});

describe('what is allowed', () => {
  it('takes both forms of default export, types, re-exports and imports of either spelling', async () => {
    using project = functionsProject({
      'c/actions/inline.ts': `/// <reference path="../../a-package-of-types.d.ts" />
import * as svc from 'svc';
import * as z from 'zod';
import crypto, { randomUUID } from 'node:crypto';
import { URLSearchParams } from 'url';
import { double } from '../numbers';
import type { Nothing } from 'a-package-of-types';

export type Handle = Nothing;
export { double } from '../numbers.js';

export default svc.createAction({
  description: 'Everything in place',
  input: z.object({ at: z.date().optional() }),
  output: z.array(z.string()),
  exec: async (handle) => {
    const [first] = await Promise.all([handle.get({ endpoint: '/' }), handle.log('x')]);
    handle.log('later').catch(() => undefined);
    await handle.saveCheckpoint({ at: 1 });
    const hash = crypto.createHash('sha256').update('x').digest('hex');
    return [randomUUID(), hash, String(new URLSearchParams({ a: '1' })), String(double(1)), String(first.status)];
  },
});
`,
      'c/numbers.ts': 'export const double = (value: number): number => value * 2;\n',
      'a-package-of-types.d.ts':
        "declare module 'a-package-of-types' {\n  export type Nothing = undefined;\n}\n",
    });
    const { functions, warnings } = await compile(project, sandbox);
    expect(warnings).toEqual([]);
    expect(functions).toHaveLength(1);
    expect(functions[0]?.artifact).toMatchObject({
      type: 'action',
      input: 'ActionInput_c_inline',
      output: ['ActionOutput_c_inline'],
      features: ['checkpoints'],
      json_schema: {
        definitions: {
          ActionInput_c_inline: { properties: { at: { type: 'string', format: 'date-time' } } },
          ActionOutput_c_inline: { type: 'array' },
        },
      },
    });
  });

  it('warns of what is deprecated or goes nowhere', async () => {
    using project = functionsProject({
      'd/syncs/old.ts': syncText("console.log('x');\nawait svc.log(1);", {
        more: "frequency: 'every hour', trackDeletes: true,",
      }),
    });
    const { warnings } = await compile(project, sandbox);
    expect(warnings.map(({ line, message }) => [line, message])).toEqual([
      [7, expect.stringContaining('trackDeletes is deprecated')],
      [9, expect.stringContaining('console.log() has no effect')],
    ]);
  });
});
