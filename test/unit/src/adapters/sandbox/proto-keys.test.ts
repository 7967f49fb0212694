import { describe, expect, it } from 'vitest';
import { reportOf } from '#adapters/sandbox/failures.ts';
import { definitionSchema } from '#adapters/sandbox/sandbox.ts';
import type { HostCalls } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { runBundle, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

/** An object as JSON has it; a literal would set its prototype. */
const odd = '{"a":1,"__proto__":{"b":[{"__proto__":2}]}}';
const head = `const odd = JSON.parse('${odd}');`;

/** The texts of what a function asks for. */
function listening(...methods: (keyof HostCalls)[]) {
  const asked: string[] = [];
  const answers = {
    http: { outcome: 'reply', status: 200, statusText: '', headers: {}, url: '' },
    triggerAction: { output: null },
  } as Partial<Record<keyof HostCalls, unknown>>;
  const host = Object.fromEntries(
    methods.map((method) => [
      method,
      async (args: string) => {
        asked.push(args);
        return { json: JSON.stringify(answers[method] ?? null), body: '' };
      },
    ]),
  ) as HostCalls;
  return { asked, host };
}

describe('a key __proto__ in a function', () => {
  it.each([
    ['setMetadata', 'svc.setMetadata(odd)'],
    ['saveCheckpoint', `svc.saveCheckpoint(JSON.parse('{"__proto__":1}'))`],
    ['triggerAction', `svc.triggerAction('a', odd)`],
    ['triggerSync', `svc.triggerSync('crm', 'c', 's', odd)`],
    ['http', `svc.post({ endpoint: '/', data: odd })`],
    ['http', `svc.get({ endpoint: '/', params: JSON.parse('{"__proto__":1}') })`],
    ['http', `svc.get({ endpoint: '/', headers: JSON.parse('{"__proto__":"x"}') })`],
    ['http', `svc.post({ endpoint: '/', data: Object.assign(odd, { file: Buffer.from('x') }) })`],
    ['batchSave', `svc.batchSave([{ ...odd, id: '1' }], 'Contact')`],
    ['batchUpdate', `svc.batchUpdate([{ ...odd, id: '1' }], 'Contact')`],
    ['log', `svc.log('said', odd)`],
  ] as const)('crosses with %s as %s', async (method, statement) => {
    const { asked, host } = listening(method);
    const result = await runGuest(sandbox, `await ${statement};`, { type: 'sync', host, head });
    expect(result).toMatchObject({ status: 'ok' });
    expect(asked.join()).toMatch(/\\?"__proto__\\?"/);
  });

  it('comes out as it went in, and in a payload of an error', async () => {
    const output = await runGuest(sandbox, 'return odd;', { head });
    expect(output).toEqual({ status: 'ok', output: odd });
    const failed = await runGuest(sandbox, 'throw new svc.ActionError(odd);', { head });
    expect(JSON.stringify(failed)).toContain(`"payload":${odd}`);
    const upstream = `{"status":500,"headers":{},"body":${odd}}`;
    const report = `{"kind":"http","name":"E","message":"m","payload":${odd},"upstream":${upstream}}`;
    expect(JSON.stringify(reportOf(report))).toBe(report);
  });
});

const sync = (models: string): string => `{
  "type":"sync","description":"","version":"","scopes":[],"metadata":null,"checkpoint":null,"hasExec":true,
  "frequency":"every day","models":${models},"autoStart":true,"syncType":"full","trackDeletes":false,
  "webhookSubscriptions":[],"hasOnWebhook":false,"endpoints":[],"input":${odd},"output":null,"endpoint":null,
  "event":null}`;

describe('a definition with a key __proto__', () => {
  it('keeps it in its schemas', () => {
    const schema = '{"type":"object","properties":{"__proto__":{"type":"string"}}}';
    const described = definitionSchema.parse(JSON.parse(sync(`{"Contact":${schema}}`)));
    expect(JSON.stringify(described.models)).toBe(`{"Contact":${schema}}`);
    expect(JSON.stringify(described.input)).toBe(odd);
  });

  it('keeps it as the name of a model, which the compiler refuses', () => {
    const described = definitionSchema.parse(JSON.parse(sync('{"__proto__":{}}')));
    expect(Object.keys(described.models)).toEqual(['__proto__']);
  });

  it.each([
    ['z.record(z.string(), z.number())', '{"__proto__":"no number"}', 'error'],
    ['z.record(z.string(), z.number())', '{"__proto__":7}', 'ok'],
    ['z.looseObject({ a: z.string() })', '{"a":"x","__proto__":7}', 'error'],
    ['z.object({ a: z.object({}) })', '{"a":{"__proto__":7}}', 'error'],
    ['z.object({ a: z.unknown() })', '{"a":{"__proto__":7}}', 'ok'],
  ])('checks %s against %s: %s', async (schema, input, status) => {
    const bundle = `const { z } = require('zod');
      exports.default = { type: 'action', input: ${schema}, exec: async (svc, input) => input };`;
    const given: unknown = JSON.parse(input);
    const context = { inputValidation: 'error' } as const;
    const result = await runBundle(sandbox, bundle, { input: given, context });
    if (status === 'ok') expect(result).toEqual({ status: 'ok', output: input });
    else expect(result).toMatchObject({ error: { code: 'invalid_action_input' } });
    if (status === 'error') expect(JSON.stringify(result)).toContain('__proto__: ');
  });
});
