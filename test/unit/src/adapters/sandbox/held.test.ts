import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox } from '../../../../../src/adapters/sandbox/sandbox.ts';
import type { Sandbox } from '../../../../../src/ports/sandbox.ts';
import { outputOf, recording, runBundle, runGuest } from './guest.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ childrenMax: 1 });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** Runs something else meanwhile, by which time the held run is as ready as it gets. */
const meanwhile = () => outputOf(sandbox, 'return 1;');

describe('a run that is held', () => {
  it('runs nothing of its bundle before it may begin', async () => {
    const { promise: mayBegin, resolve } = Promise.withResolvers<boolean>();
    const head = 'const loaded = Date.now();';
    const body = 'return [loaded, input, (await svc.getCheckpoint()).page];';
    const { host, asked } = recording({ getCheckpoint: { page: 2 } });
    const running = outputOf(sandbox, body, { head, mayBegin, host, input: 'x' });
    await meanwhile();
    await new Promise((passed) => setTimeout(passed, 5));
    expect(asked).toEqual([]);
    const released = Date.now();
    resolve(true);
    const [loaded, ...others] = (await running) as [number, string, number];
    expect(loaded).toBeGreaterThanOrEqual(released);
    expect(others).toEqual(['x', 2]);
  });

  it('ends as aborted when it may not, and none of it has run', async () => {
    const { host, asked } = recording({ getCheckpoint: null });
    const mayBegin = meanwhile().then(() => false);
    const ended = await runGuest(sandbox, '', { head: 'for (;;);', mayBegin, host });
    expect(ended).toMatchObject({ error: { kind: 'aborted', code: 'script_aborted' } });
    const body = 'await svc.getCheckpoint();';
    expect(await runGuest(sandbox, body, { mayBegin, host })).toMatchObject({ status: 'error' });
    expect(asked).toEqual([]);
  });

  it('ends at once when it is aborted, and does not begin any more', async () => {
    const { promise: mayBegin, resolve } = Promise.withResolvers<boolean>();
    const { host, asked } = recording({ getCheckpoint: null });
    const end = new AbortController();
    const options = { mayBegin, host, signal: end.signal };
    const running = runGuest(sandbox, 'await svc.getCheckpoint();', options);
    await meanwhile();
    end.abort();
    expect(await running).toMatchObject({ error: { kind: 'aborted' } });
    resolve(true);
    await meanwhile();
    expect(asked).toEqual([]);
  });

  it('fails for a bundle that is no JavaScript once it may begin', async () => {
    const mayBegin = meanwhile().then(() => true);
    const ended = await runBundle(sandbox, 'exports.default = {', { mayBegin });
    expect(ended).toMatchObject({ error: { kind: 'error', name: 'SyntaxError' } });
  });
});
