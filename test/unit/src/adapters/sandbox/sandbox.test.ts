import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openSandbox } from '../../../../../src/adapters/sandbox/sandbox.ts';
import { GatewayError } from '../../../../../src/kernel/errors.ts';
import type { Sandbox } from '../../../../../src/ports/sandbox.ts';
import { bundleOf, bundleSource, outputOf, runBundle, runGuest } from './guest.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

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

  it('sees the last sync date as a Date', async () => {
    const lastSyncDate = '2026-01-02T03:04:05.000Z';
    const body = 'return [svc.lastSyncDate instanceof Date, svc.lastSyncDate];';
    expect(await outputOf(sandbox, body, { context: { lastSyncDate } })).toEqual([
      true,
      lastSyncDate,
    ]);
  });

  it('starts with nothing that an earlier run left behind', async () => {
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

  it('calls onWebhook of a sync with the payload', async () => {
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
      error: { kind: 'error', message: expect.stringContaining('never settle') as string },
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
    await using wide = await openSandbox({ runsPerChild: 2, childrenMax: 3 });
    const outputs = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        outputOf(wide, 'return (await svc.getCheckpoint()).index;', {
          host: { getCheckpoint: async () => JSON.stringify({ index }) },
        }),
      ),
    );
    expect(outputs).toEqual([0, 1, 2, 3, 4, 5]);
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
      { message: 'The function threw something unreadable.' },
    ],
    ['throw new Proxy({}, { get() { return { toString() { throw 1; } }; } })', { name: 'Error' }],
    ['const a = {}; a.a = a; throw a', { name: 'Error' }],
    [
      'throw { get message() { throw 1; } }',
      { message: 'The function threw something unreadable.' },
    ],
    ['return 10n', { name: 'TypeError' }],
    ['const a = {}; a.a = a; return a', { name: 'TypeError' }],
    ['return { toJSON() { throw new Error("json"); } }', { message: 'json' }],
  ])('%s', async (body, expected) => {
    const result = await runGuest(sandbox, body);
    expect(result).toMatchObject({ status: 'error', error: { kind: 'error', ...expected } });
  });

  it('is described with at most ten lines of the function, none of ours', async () => {
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

  it('cuts the payload of an ActionError by whole properties', async () => {
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

describe('limits', () => {
  it.each([
    ['a loop', 'for (;;);'],
    ['a loop in finally', 'await null; try { for (;;); } finally { for (;;); }'],
    ['a loop in a getter of the output', 'return { get a() { for (;;); } };'],
    ['a loop in toJSON', 'return { toJSON() { for (;;); } };'],
    ['a loop of microtasks', 'for (;;) await null;'],
    ['a loop in the message of an error', 'throw { get message() { for (;;); } };'],
    ['a loop of timers', 'for (;;) clearTimeout(setTimeout(() => {}, 0));'],
    ['a slow regular expression', '/^(a+)+$/.test("a".repeat(50) + "b");'],
  ])('processor time: %s', async (_, body) => {
    const result = await runGuest(sandbox, body, { limits: { cpuMs: 60 } });
    expect(result).toMatchObject({ error: { kind: 'timeout', code: 'execution_timeout' } });
  });

  it('wall time: calls fail with execution_timeout, and after its grace the run is ended', async () => {
    const seen: string[] = [];
    const host = {
      getCheckpoint: never,
      saveCheckpoint: async (args: string) => {
        seen.push(args);
        return 'null';
      },
    };
    const body = `
      try { await svc.getCheckpoint(); } catch (error) { globalThis.code = error.code; }
      await svc.saveCheckpoint({ code: globalThis.code }).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 60_000));`;
    const result = await runGuest(sandbox, body, { host, limits: { wallMs: 100, graceMs: 50 } });
    expect(result).toMatchObject({ error: { kind: 'timeout', code: 'execution_timeout' } });
    expect(seen).toEqual([]);
  });

  it.each([
    ['lists', 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length));'],
    [
      'texts',
      'let text = "x"; const all = []; for (;;) all.push((text += text.slice(0, 1e6)) + all.length);',
    ],
    ['buffers', 'const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));'],
    ['buffers, untouched', 'const all = []; for (;;) all.push(new ArrayBuffer(1e7));'],
    [
      'resizable buffers',
      'const all = []; for (;;) all.push(new ArrayBuffer(1e7, { maxByteLength: 1e9 }));',
    ],
    ['log lines', 'for (;;) svc.log("x".repeat(1000), { level: "error" });'],
  ])('memory: %s', async (_, body) => {
    const result = await runGuest(sandbox, body, { limits: { heapMb: 32, cpuMs: 30_000 } });
    expect(result).toMatchObject({
      error: { kind: 'memory', code: 'function_runtime_out_of_memory' },
    });
  });

  it('memory that V8 does not count ends the largest run, and no other', async () => {
    await using watched = await openSandbox({ spares: 0, residentMb: 260, residentMbMax: 4000 });
    const host = { getCheckpoint: never };
    const end = new AbortController();
    const innocent = runGuest(watched, 'try { await svc.getCheckpoint(); } catch { return 1; }', {
      host,
      signal: end.signal,
    });
    const hog = await runGuest(
      watched,
      'const all = []; for (let n = 0; n < 400; n++) { all.push(new Uint8Array(1e6).fill(1)); await new Promise((r) => setTimeout(r, 1)); } await svc.getCheckpoint();',
      { host, limits: { heapMb: 1000 } },
    );
    expect(hog).toMatchObject({ error: { kind: 'memory' } });
    end.abort();
    expect(await innocent).toMatchObject({ error: { kind: 'aborted' } });
  });

  it('memory beyond what the process may have kills it, and the next run starts in a new one', async () => {
    await using watched = await openSandbox({ spares: 0, residentMb: 4000, residentMbMax: 250 });
    const hog = await runGuest(
      watched,
      'const all = []; for (;;) { all.push(new Uint8Array(1e6).fill(1)); await new Promise((r) => setTimeout(r, 1)); }',
      { limits: { heapMb: 1000 } },
    );
    expect(hog).toMatchObject({ error: { kind: 'memory' } });
    expect(await outputOf(watched, 'return 1;')).toBe(1);
  });

  it('output above its limit is an error', async () => {
    const large = await runGuest(sandbox, 'return "é".repeat(1.1 * 1024 ** 2);');
    expect(large).toMatchObject({
      error: { kind: 'output_too_large', code: 'script_output_too_large' },
    });
    const fits = await runGuest(sandbox, 'return "é".repeat(1024 ** 2 - 1);');
    expect(fits.status).toBe('ok');
  });

  it('arguments of a call above 4 MB are refused, and the run goes on', async () => {
    const body =
      'try { await svc.setMetadata({ a: "é".repeat(2.2 * 1024 ** 2) }); } catch (error) { return error.code; }';
    expect(await outputOf(sandbox, body, { host: { setMetadata: never } })).toBe(
      'request_too_large',
    );
  });

  it('at most 64 calls are in flight; the others wait for their turn', async () => {
    let inFlight = 0;
    let most = 0;
    const getCheckpoint = async () => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      return '1';
    };
    const body =
      'return (await Promise.all(Array.from({ length: 300 }, () => svc.getCheckpoint()))).length;';
    expect(await outputOf(sandbox, body, { host: { getCheckpoint } })).toBe(300);
    expect(most).toBeLessThanOrEqual(64);
    expect(most).toBeGreaterThan(1);
  });

  it('calls beyond their number end the run', async () => {
    const host = { getCheckpoint: async () => 'null' };
    const body = 'for (;;) await svc.getCheckpoint();';
    const result = await runGuest(sandbox, body, { host, limits: { hostCalls: 50 } });
    expect(result).toMatchObject({ error: { kind: 'limit', code: 'function_runtime_other' } });
  });

  it('timers are limited in number', async () => {
    const body =
      'try { for (;;) setTimeout(() => {}, 60_000); } catch (error) { return error.name; }';
    expect(await outputOf(sandbox, body)).toBe('RangeError');
  });

  it('a busy realm keeps no other run from going on', async () => {
    const end = new AbortController();
    const busy = runGuest(sandbox, 'for (;;);', { signal: end.signal, limits: { graceMs: 0 } });
    expect(await outputOf(sandbox, 'return 1;')).toBe(1);
    end.abort();
    expect(await busy).toMatchObject({ error: { kind: 'aborted' } });
  });
});

describe('abort', () => {
  it('fails the calls under way and all later ones, and lets the function clean up', async () => {
    const end = new AbortController();
    const host = {
      getCheckpoint: () => {
        end.abort(new GatewayError('script_aborted'));
        return never();
      },
      saveCheckpoint: vi.fn(async () => 'null'),
    };
    const body = `
      const codes = [];
      for (let n = 0; n < 3; n++) await svc.getCheckpoint().catch((error) => codes.push(error.code));
      try { await svc.log('x'); } catch (error) { codes.push(error.code); }
      throw new Error(codes.join());`;
    const result = await runGuest(sandbox, body, {
      host,
      signal: end.signal,
      limits: { graceMs: 60_000 },
    });
    expect(result).toMatchObject({ error: { kind: 'aborted', code: 'script_aborted' } });
    expect(host.saveCheckpoint).not.toHaveBeenCalled();
  });

  it('says execution_timeout when that is the reason', async () => {
    const signal = AbortSignal.abort(new GatewayError('execution_timeout'));
    const result = await runGuest(sandbox, 'await svc.getCheckpoint();', {
      signal,
      host: { getCheckpoint: never },
    });
    expect(result).toMatchObject({ error: { kind: 'timeout', code: 'execution_timeout' } });
  });

  it('ends a run that does not listen, after its grace', async () => {
    const end = new AbortController();
    const begun = Promise.withResolvers<undefined>();
    const host = {
      getCheckpoint: async () => {
        begun.resolve(undefined);
        return 'null';
      },
    };
    const body =
      'await svc.getCheckpoint(); for (;;) { try { for (;;) await svc.getCheckpoint(); } catch {} }';
    const running = runGuest(sandbox, body, { host, signal: end.signal, limits: { graceMs: 50 } });
    await begun.promise;
    end.abort();
    expect(await running).toMatchObject({ error: { kind: 'aborted' } });
  });
});

describe('host calls', () => {
  it('reject with the code and message of a GatewayError, as an Error of the realm', async () => {
    const host = {
      getCheckpoint: () =>
        Promise.reject(new GatewayError('conflict', { message: 'why', payload: { a: 1 } })),
    };
    const body = `try { await svc.getCheckpoint(); } catch (error) {
      return [error instanceof Error, error.message, error.code, error.status, error.payload]; }`;
    expect(await outputOf(sandbox, body, { host })).toEqual([
      true,
      'why',
      'conflict',
      409,
      { a: 1 },
    ]);
  });

  it('reject without a word of ours for any other error', async () => {
    const host = { getCheckpoint: () => Promise.reject(new Error('SELECT secret FROM table')) };
    const body = `try { await svc.getCheckpoint(); } catch (error) { return [error.message, error.code, error.stack]; }`;
    const [message, code, stack] = (await outputOf(sandbox, body, { host })) as string[];
    expect(code).toBe('server_error');
    expect(`${message}${stack}`).not.toContain('secret');
  });

  it('are looked up in the table of the run only', async () => {
    const body = `try { await svc.getCheckpoint(); } catch (error) { return error.code; }`;
    expect(await outputOf(sandbox, body, { host: {} })).toBe('forbidden');
    const inherited = Object.create({ getCheckpoint: async () => '1' }) as object;
    expect(await outputOf(sandbox, body, { host: inherited })).toBe('forbidden');
  });

  it('have no effect after the run has ended', async () => {
    const late = vi.fn(async () => 'null');
    const body = 'setTimeout(() => svc.clearCheckpoint(), 20); svc.getCheckpoint(); return 1;';
    const answer = Promise.withResolvers<string>();
    const host = { getCheckpoint: () => answer.promise, clearCheckpoint: late };
    expect(await outputOf(sandbox, body, { host })).toBe(1);
    answer.resolve('null');
    expect(await outputOf(sandbox, 'await new Promise((r) => setTimeout(r, 60)); return 2;')).toBe(
      2,
    );
    expect(late).not.toHaveBeenCalled();
  });
});

describe('the realm', () => {
  it('has no way to the host, and makes no code of text', async () => {
    const body = `
      const tried = {};
      for (const name of ['process', 'fetch', 'setInterval', 'setImmediate', 'module', 'WebAssembly',
        'SharedArrayBuffer', 'Atomics', 'eval', '__svcStart', 'ivm', 'global', 'importScripts', 'Deno']) {
        if (name in globalThis) tried[name] = typeof globalThis[name];
      }
      const makers = [Function, (async () => {}).constructor, (function* () {}).constructor,
        (async function* () {}).constructor, svc.get.constructor, svc.ActionError.constructor,
        Object.getPrototypeOf(class {}).constructor, Reflect.getPrototypeOf(Function.prototype.bind).constructor];
      makers.forEach((maker, index) => { try { maker('return 1')(); tried[index] = 'made'; } catch (error) {
        if (!(error instanceof EvalError)) tried[index] = String(error); } });
      try { await import('fs'); tried.import = 'imported'; } catch {}
      return tried;`;
    expect(await outputOf(sandbox, body)).toEqual({});
  });

  it('shows nothing of isolated-vm or of the bridge', async () => {
    const body = `
      const seen = new Set();
      const odd = [];
      const visit = (value, path) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
        seen.add(value);
        let name; try { name = value.constructor?.name; } catch {}
        if (/^(Reference|ExternalCopy|Isolate|Context|Callback|Script|Module|Session)$/.test(name ?? '')) odd.push(path);
        for (const key of Reflect.ownKeys(value)) {
          let inner; try { inner = value[key]; } catch { continue; }
          visit(inner, path + '.' + String(key));
        }
        visit(Object.getPrototypeOf(value), path + '.[[proto]]');
      };
      visit(globalThis, 'globalThis');
      visit(svc, 'svc');
      for (const name of ['svc', 'zod', 'crypto', 'url']) visit(require2(name), name);
      return odd;`;
    expect(await outputOf(sandbox, body, { head: 'const require2 = require;' })).toEqual([]);
  });

  it('gives a façade: no prototype, no internals, nothing to change', async () => {
    const body = `
      'use strict';
      const denied = (name) => { try { svc[name]; return 'reached'; } catch (error) { return error.message; } };
      const { getCheckpoint } = svc;
      let changed; try { svc.get = 1; changed = true; } catch { changed = false; }
      return { proto: Object.getPrototypeOf(svc), constructor: denied('constructor'), proto2: denied('__proto__'),
        internals: denied('abortSignal'), batchSave: denied('batchSave'), bound: await getCheckpoint(), changed, then: typeof svc.then };`;
    const host = { getCheckpoint: async () => '"here"' };
    expect(await outputOf(sandbox, body, { host })).toEqual({
      proto: null,
      constructor: 'Access to "constructor" is not allowed.',
      proto2: 'Access to "__proto__" is not allowed.',
      internals: 'Access to "abortSignal" is not allowed.',
      batchSave: 'Access to "batchSave" is not allowed.',
      bound: 'here',
      changed: false,
      then: 'undefined',
    });
  });

  it('is not escaped by a bundle that closes the function around it', async () => {
    const bundle = `}); globalThis.broke = typeof process + typeof require; (function () {
      exports.default = { type: 'action', exec: () => 1 };`;
    const result = await runBundle(sandbox, bundle);
    expect(result).toMatchObject({ error: { kind: 'error', name: 'ReferenceError' } });
  });

  it('survives changed intrinsics: the run fails or ends, the next one is whole', async () => {
    const bodies = [
      'Promise.prototype.then = () => { throw 1; }; return 1;',
      'JSON.stringify = () => "{"; return 1;',
      'JSON.parse = () => null; return svc.getCheckpoint();',
      'Array.prototype.push = () => { throw 1; }; await svc.log("x"); return 1;',
      'Map.prototype.get = () => { throw 1; }; await svc.getCheckpoint(); return 1;',
      'Object.defineProperty(Object.prototype, "kind", { get() { return "memory"; } }); throw 1;',
    ];
    for (const body of bodies) {
      const host = { getCheckpoint: async () => 'null', log: async () => 'null' };
      const result = await runGuest(sandbox, body, { host, limits: { wallMs: 1000, graceMs: 0 } });
      expect(['ok', 'error']).toContain(result.status);
      if (result.status === 'error') expect(['error', 'timeout']).toContain(result.error.kind);
      expect(await outputOf(sandbox, 'return 1;')).toBe(1);
    }
  });
});

describe('the processes', () => {
  it('have no environment, and end when the sandbox is closed', async () => {
    const before = childPids();
    const own = await openSandbox({ warmChildren: 2 });
    const pids = childPids().filter((pid) => !before.includes(pid));
    expect(pids.length).toBe(2);
    for (const pid of pids) {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
      for (const variable of variables) expect(variable).toMatch(/^NODE_CHANNEL_/);
    }
    await own[Symbol.asyncDispose]();
    for (const pid of pids) expect(existsSync(`/proc/${pid}`)).toBe(false);
    await expect(runGuest(own, '')).rejects.toMatchObject({
      code: 'execution_environment_unavailable',
    });
  });

  it('are replaced when they die; the run that was in one says so', async () => {
    const before = childPids();
    await using own = await openSandbox();
    const [pid] = childPids().filter((candidate) => !before.includes(candidate));
    const begun = Promise.withResolvers<undefined>();
    const host = {
      getCheckpoint: () => {
        begun.resolve(undefined);
        return never();
      },
    };
    const [first, second] = [1, 2].map(() => runGuest(own, 'await svc.getCheckpoint();', { host }));
    await begun.promise;
    process.kill(pid!, 'SIGKILL');
    expect(await first).toMatchObject({ error: { kind: 'interrupted' } });
    expect(await second).toMatchObject({ error: { kind: 'interrupted' } });
    expect(await outputOf(own, 'return 1;')).toBe(1);
  });

  it('end with the process that started them, however it ends', async () => {
    const source = fileURLToPath(
      new URL('../../../../../src/adapters/sandbox/sandbox.ts', import.meta.url),
    );
    const script = `const { openSandbox } = await import(${JSON.stringify(source)}); await openSandbox(); console.log('open'); setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    const pids = childPids(parent.pid);
    expect(pids.length).toBe(1);
    parent.kill('SIGKILL');
    await vi.waitFor(() => expect(existsSync(`/proc/${pids[0]!}`)).toBe(false), {
      timeout: 10_000,
    });
  });

  it('are replaced after a number of runs', async () => {
    const before = childPids();
    await using own = await openSandbox({ runsPerLife: 3 });
    const fresh = () => childPids().filter((pid) => !before.includes(pid));
    const [first] = fresh();
    for (let run = 0; run < 4; run++) expect(await outputOf(own, 'return 1;')).toBe(1);
    await vi.waitFor(() => expect(fresh()).not.toContain(first));
  });
});

/** Processes started by the given one. */
function childPids(parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]) === parent;
      } catch {
        return false;
      }
    })
    .filter((name) => readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('sandbox/child'))
    .map(Number);
}

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

  it('gives void as null, and says when autoStart is left out', async () => {
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
      'Invalid default export: should be createAction(), createSync() or createOnEvent()',
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
