import { describe, expect, it, vi } from 'vitest';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import { childPids } from '#test/support/processes/sandbox-processes.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { bundleOf, bundleSource, outputOf, runBundle, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

const never = () => new Promise<string>(() => undefined);

describe('a run', () => {
  it('gets its input and its context, and its output comes back as JSON text', async () => {
    const result = await runGuest(
      sandbox,
      'return { input, of: [svc.connectionId, svc.providerConfigKey, svc.provider, svc.environmentName, svc.environmentId, svc.variant, svc.lastSyncDate] };',
      { input: { a: [1, null] } },
    );
    expect(result).toEqual({
      status: 'ok',
      output: '{"input":{"a":[1,null]},"of":["c-1","crm","crm-provider","dev",7,"base",null]}',
    });
  });

  it('has no output when the function returns nothing, and none for a sync', async () => {
    expect(await runGuest(sandbox, '')).toEqual({ status: 'ok', output: undefined });
    const sync = await runGuest(sandbox, 'return 5;', { type: 'sync' });
    expect(sync).toEqual({ status: 'ok', output: undefined });
  });

  it('§12.4 lastSyncDate is a Date', async () => {
    const lastSyncDate = '2026-01-02T03:04:05.000Z';
    const body = 'return [svc.lastSyncDate instanceof Date, svc.lastSyncDate];';
    expect(await outputOf(sandbox, body, { context: { lastSyncDate } })).toEqual([
      true,
      lastSyncDate,
    ]);
  });

  it('§3 a realm of its own: starts with nothing that an earlier run left behind', async () => {
    const head =
      'let count = (globalThis.count ?? 0) + 1; globalThis.count = count; Array.prototype.left = 1;';
    const body = 'return [count, Object.keys(Object.getPrototypeOf([]))];';
    for (let run = 0; run < 3; run++) {
      expect(await outputOf(sandbox, body, { head })).toEqual([1, ['left']]);
    }
    expect(await outputOf(sandbox, 'return [].left ?? "none";')).toBe('none');
  });

  it('runs a bundle of the compiler with zod and the create functions', async () => {
    const bundle = await bundleSource(`
      import { createAction } from 'svc';
      import * as z from 'zod';
      import crypto, { createHash } from 'crypto';
      const action = createAction({
        description: 'd', input: z.object({ n: z.number() }), output: z.string(),
        exec: async (svc, input) => [input.n, createHash('md5').update('a').digest('hex'), typeof crypto.randomUUID()],
      });
      export default action;
    `);
    const result = await runBundle(sandbox, bundle, { input: { n: 4 } });
    expect(result).toEqual({
      status: 'ok',
      output: '[4,"0cc175b9c0f1b6a831c399e269772661","string"]',
    });
  });

  it('§2.1 onWebhook: called with the payload', async () => {
    const bundle = `exports.default = { type: 'sync', exec() {}, onWebhook: async (svc, payload) => svc.saveCheckpoint({ kind: payload.kind }) };`;
    const saveCheckpoint = vi.fn(async () => 'null');
    const result = await runBundle(sandbox, bundle, {
      type: 'sync',
      entry: 'onWebhook',
      input: { kind: 'made' },
      host: { saveCheckpoint },
    });
    expect(result.status).toBe('ok');
    expect(saveCheckpoint).toHaveBeenCalledWith('{"checkpoint":{"kind":"made"}}');
  });

  it('fails when the bundle is no JavaScript, has no definition, or asks for a module it may not have', async () => {
    const cases = [
      ['}}} not JavaScript', 'SyntaxError'],
      ['exports.default = 5;', 'Error'],
      ['exports.default = { type: "sync" };', 'Error'],
      ['require("fs"); exports.default = { type: "action", exec() {} };', 'Error'],
    ] as const;
    for (const [bundle, name] of cases) {
      const result = await runBundle(sandbox, bundle);
      expect(result).toMatchObject({ status: 'error', error: { kind: 'error', name } });
    }
    const result = await runBundle(sandbox, 'require("fs")');
    expect(result).toMatchObject({ error: { message: "Module 'fs' is not allowed" } });
  });

  it('ends at once when it waits for a promise that nothing settles', async () => {
    const result = await runGuest(sandbox, 'await new Promise(() => {});');
    expect(result).toMatchObject({
      error: { kind: 'error', message: expect.stringContaining('cannot settle') as string },
    });
  });

  it('is not harmed by a rejection that is handled late, or never', async () => {
    const body = `
      const late = Promise.reject(new Error('late'));
      Promise.reject(new Error('floating'));
      await svc.getCheckpoint();
      return late.catch((error) => error.message);`;
    const host = { getCheckpoint: async () => 'null' };
    expect(await outputOf(sandbox, body, { host })).toBe('late');
  });

  it('runs many at the same time, over several processes, each with its own answers', async () => {
    const before = childPids();
    await using wide = await openSandbox({ runsPerChild: 2, childrenMax: 5 });
    const all = Promise.withResolvers<undefined>();
    let [begun, processes] = [0, 0];
    const outputs = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        outputOf(wide, 'return (await svc.getCheckpoint()).index;', {
          host: {
            getCheckpoint: async () => {
              if (++begun === 10) all.resolve(undefined);
              await all.promise;
              processes = childPids().filter((pid) => !before.includes(pid)).length;
              return JSON.stringify({ index });
            },
          },
        }),
      ),
    );
    expect(outputs).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(processes).toBe(5);
  });

  it('is refused when every place is taken', async () => {
    await using small = await openSandbox({ runsPerChild: 1, childrenMax: 1 });
    const begun = Promise.withResolvers<undefined>();
    const end = new AbortController();
    const first = runGuest(small, 'await svc.getCheckpoint();', {
      signal: end.signal,
      limits: { graceMs: 0 },
      host: {
        getCheckpoint: () => {
          begun.resolve(undefined);
          return never();
        },
      },
    });
    await begun.promise;
    await expect(runGuest(small, '')).rejects.toMatchObject({
      code: 'execution_environment_unavailable',
    });
    end.abort();
    expect(await first).toMatchObject({ error: { kind: 'aborted' } });
    expect(await runGuest(small, '')).toMatchObject({ status: 'ok' });
  });
});

describe('what is thrown', () => {
  it.each([
    ['throw null', { name: 'Error', message: 'null' }],
    ['throw undefined', { message: 'undefined' }],
    ['throw "text"', { message: 'text' }],
    ['throw 10n', { message: '10' }],
    ['throw new TypeError("no")', { name: 'TypeError', message: 'no' }],
    ['throw Object.assign(new Error("m"), { code: "E1" })', { message: 'm', code: 'E1' }],
    [
      'throw new Proxy({}, { get() { throw 1; } })',
      { message: 'The function threw a value that cannot be read.' },
    ],
    ['throw new Proxy({}, { get() { return { toString() { throw 1; } }; } })', { name: 'Error' }],
    ['const a = {}; a.a = a; throw a', { name: 'Error' }],
    [
      'throw { get message() { throw 1; } }',
      { message: 'The function threw a value that cannot be read.' },
    ],
    ['return 10n', { name: 'TypeError' }],
    ['const a = {}; a.a = a; return a', { name: 'TypeError' }],
    ['return { toJSON() { throw new Error("json"); } }', { message: 'json' }],
  ])('%s', async (body, expected) => {
    const result = await runGuest(sandbox, body);
    expect(result).toMatchObject({ status: 'error', error: { kind: 'error', ...expected } });
  });

  it('§15 any other throw is described with at most ten lines of the function', async () => {
    const body =
      'const deep = (n) => { if (n === 0) throw new Error("deep"); deep(n - 1); }; deep(30);';
    const result = await runGuest(sandbox, body);
    const { stack = '' } = result.status === 'error' ? result.error : {};
    const lines = stack.split('\n');
    expect(lines.length).toBe(10);
    for (const line of lines) expect(line).toContain('crm/function.cjs');
  });

  it.each([
    ['new svc.ActionError({ a: 1, b: [2] })', { a: 1, b: [2] }],
    ['new svc.ActionError("text")', { message: 'text' }],
    ['new svc.ActionError([1])', { message: [1] }],
    ['new svc.ActionError()', {}],
    ['new (require("svc").ActionError)({ a: 1 })', { a: 1 }],
  ])('an ActionError: %s', async (made, payload) => {
    const result = await runBundle(
      sandbox,
      bundleOf(`throw ${made};`).replace(
        'exports.default',
        'const require2 = require; exports.default',
      ),
    );
    expect(result).toMatchObject({ error: { kind: 'action_error', name: 'ActionError', payload } });
  });

  it('§15 the size of an error payload: whole properties are cut', async () => {
    const result = await runGuest(
      sandbox,
      'throw new svc.ActionError({ small: 1, large: "x".repeat(200_000) });',
    );
    expect(result).toMatchObject({ error: { kind: 'action_error', payload: { small: 1 } } });
    expect(result.status === 'error' && result.error.payload).not.toHaveProperty('large');
  });

  it('returns odd keys as data', async () => {
    const body = 'return JSON.parse(\'{"__proto__":{"a":1},"constructor":2}\');';
    const result = await runGuest(sandbox, body);
    expect(result).toEqual({ status: 'ok', output: '{"__proto__":{"a":1},"constructor":2}' });
  });
});

describe('describe', () => {
  it('gives the definition with draft-7 schemas', async () => {
    const bundle = await bundleSource(`
      import { createSync } from 'svc';
      import { z } from 'zod';
      export default createSync({
        description: 'Contacts', version: '1.2.0', frequency: 'every hour', autoStart: true,
        models: { Contact: z.object({ id: z.string(), born: z.date(), odd: z.bigint(), note: z.string().optional() }) },
        metadata: z.object({ team: z.string() }), checkpoint: z.object({ after: z.string() }),
        webhookSubscriptions: ['*'], scopes: ['read'], exec: async () => {}, onWebhook: async () => {},
      });`);
    expect(await sandbox.describe(bundle, 'crm/contacts.cjs')).toEqual({
      type: 'sync',
      description: 'Contacts',
      version: '1.2.0',
      scopes: ['read'],
      frequency: 'every hour',
      autoStart: true,
      syncType: 'full',
      trackDeletes: false,
      webhookSubscriptions: ['*'],
      hasExec: true,
      hasOnWebhook: true,
      endpoints: [],
      endpoint: null,
      event: null,
      input: null,
      output: null,
      models: {
        Contact: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            born: { type: 'string', format: 'date-time' },
            odd: {},
            note: { type: 'string' },
          },
          required: ['id', 'born', 'odd'],
          additionalProperties: false,
        },
      },
      metadata: {
        type: 'object',
        properties: { team: { type: 'string' } },
        required: ['team'],
        additionalProperties: false,
      },
      checkpoint: {
        type: 'object',
        properties: { after: { type: 'string' } },
        required: ['after'],
        additionalProperties: false,
      },
    });
  });

  it('§2.1 autoStart that is left out is said; void is null', async () => {
    const action = await sandbox.describe(
      `const { z } = require('zod'); exports.default = { type: 'action', description: '', input: z.void(), output: z.void(), metadata: z.void(), exec() {} };`,
      'a.cjs',
    );
    expect(action).toMatchObject({
      input: { type: 'null' },
      output: { type: 'null' },
      metadata: null,
      autoStart: false,
    });
  });

  it.each([
    [
      'exports.default = 1;',
      'Invalid default export: should be createSync(), createAction() or another of svc',
    ],
    ['throw new Error("at the top");', 'at the top'],
    ['require("lodash")', "Module 'lodash' is not allowed"],
    ['exports.default = { type: "action", input: {} };', 'input should be a zod schema'],
  ])('refuses %s', async (bundle, message) => {
    await expect(sandbox.describe(bundle, 'a.cjs')).rejects.toMatchObject({
      code: 'compilation_error',
      message: expect.stringContaining(message) as string,
    });
  });

  it('does not believe a bundle that changed how it is described', async () => {
    const bundle = `Object.fromEntries = () => 5; exports.default = { type: 'action', exec() {} };`;
    await expect(sandbox.describe(bundle, 'a.cjs')).rejects.toMatchObject({
      code: 'compilation_error',
    });
  });
});
