import { describe, expect, it } from 'vitest';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf, runBundle, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

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

  it('§3 the façade: no prototype, no internals, nothing to change', async () => {
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
