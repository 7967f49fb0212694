import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { outputOf, runGuest } from './guest.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const never = () => new Promise<string>(() => undefined);

describe('limits', () => {
  it.each([
    ['a loop', 'for (;;);'],
    ['a loop in finally', 'await null; try { for (;;); } finally { for (;;); }'],
    ['a loop in a getter of the output', 'return { get a() { for (;;); } };'],
    ['a loop in toJSON', 'return { toJSON() { for (;;); } };'],
    ['a loop of microtasks', 'for (;;) await null;'],
    ['a loop with a short one in it', 'const list = []; for (;;) list[0] = new Array(1000);'],
    ['a loop in the message of an error', 'throw { get message() { for (;;); } };'],
    ['a loop of timers', 'for (;;) clearTimeout(setTimeout(() => {}, 0));'],
    ['a slow regular expression', '/^(a+)+$/.test("a".repeat(50) + "b");'],
  ])('processor time: %s', async (_, body) => {
    const result = await runGuest(sandbox, body, { limits: { cpuMs: 60 } });
    expect(result).toMatchObject({ error: { kind: 'timeout', code: 'execution_timeout' } });
  });

  it('§16 the time of a run: calls fail with execution_timeout, and after its grace the run is ended', async () => {
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
  ])('§16 memory: %s', async (_, body) => {
    const result = await runGuest(sandbox, body, { limits: { heapMb: 32, cpuMs: 30_000 } });
    expect(result).toMatchObject({
      error: { kind: 'memory', code: 'function_runtime_out_of_memory' },
    });
  });

  it('a run within its limit goes on in a process that is over its own', async () => {
    await using watched = await openSandbox({ spares: 0, residentMb: 260, residentMbMax: 4000 });
    const end = Promise.withResolvers<string>();
    const host = { getCheckpoint: () => end.promise };
    const beside = outputOf(watched, 'return svc.getCheckpoint();', { host });
    const large = outputOf(
      watched,
      'const all = []; for (let n = 0; n < 400; n++) { all.push(new Uint8Array(1e6).fill(1)); await new Promise((r) => setTimeout(r, 1)); } return all.length;',
      { limits: { heapMb: 1000 } },
    );
    expect(await large).toBe(400);
    end.resolve('1');
    expect(await beside).toBe(1);
  });

  it.each([
    [
      'closures',
      'let f = () => 0; for (;;) { const g = f, p = new Array(1000).fill(0); f = () => g() + p.length; }',
    ],
    ['maps', 'const all = new Map(); for (let n = 0; ; n++) all.set(n, { n });'],
  ])('a run out of memory ends no other: %s', async (_, body) => {
    await using watched = await openSandbox({ spares: 0 });
    const end = Promise.withResolvers<string>();
    const host = { getCheckpoint: () => end.promise };
    const beside = Array.from({ length: 6 }, () =>
      outputOf(watched, 'return svc.getCheckpoint();', { host }),
    );
    expect(await runGuest(watched, body)).toMatchObject({ error: { kind: 'memory' } });
    expect(await outputOf(watched, 'return 2;')).toBe(2);
    end.resolve('1');
    expect(await Promise.all(beside)).toEqual([1, 1, 1, 1, 1, 1]);
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

  it('§16 action output above its limit is an error', async () => {
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
