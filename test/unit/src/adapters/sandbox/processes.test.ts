import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setImmediate as breathe } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import { childPids } from '#test/support/processes/sandbox-processes.ts';
import { outputOf, runGuest } from './guest.ts';

const never = () => new Promise<string>(() => undefined);

describe('the processes', () => {
  it('have no environment, and end when the sandbox is closed', async () => {
    const before = childPids();
    const own = await openSandbox({ warmChildren: 2 });
    const pids = childPids().filter((pid) => !before.includes(pid));
    expect(pids.length).toBe(2);
    for (const pid of pids) {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
      for (const variable of variables) expect(variable).toMatch(/^(?:NODE_CHANNEL_|TZ=UTC$)/);
    }
    await own[Symbol.asyncDispose]();
    for (const pid of pids) expect(existsSync(`/proc/${pid}`)).toBe(false);
    await expect(runGuest(own, '')).rejects.toMatchObject({
      code: 'execution_environment_unavailable',
    });
  });

  it('start with the first run when they are on demand, or once they are asked for', async () => {
    const before = childPids();
    const started = (): number => childPids().filter((pid) => !before.includes(pid)).length;
    await using own = await openSandbox({ isOnDemand: true });
    await using warmed = await openSandbox({ isOnDemand: true });
    expect(started()).toBe(0);
    expect(await outputOf(own, 'return 1;')).toBe(1);
    expect(started()).toBe(1);
    warmed.warm();
    expect(started()).toBe(2);
    expect(await outputOf(warmed, 'return 2;')).toBe(2);
    expect(started()).toBe(2);
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

  it('that wait for the processor use none: a run is not ended for it', async () => {
    const before = childPids();
    await using own = await openSandbox();
    const [pid] = childPids().filter((candidate) => !before.includes(candidate));
    const body =
      'await svc.getCheckpoint(); let sum = 0; for (let n = 0; n < 2e8; n++) sum = (sum + n) | 0; return sum;';
    const host = {
      async getCheckpoint() {
        // While it computes.
        setTimeout(() => process.kill(pid!, 'SIGSTOP'), 20);
        setTimeout(() => process.kill(pid!, 'SIGCONT'), 2_000);
        return 'null';
      },
    };
    const result = await runGuest(own, body, { host, limits: { cpuMs: 1_500 } });
    expect(result).toMatchObject({ status: 'ok' });
  });

  it.each([
    // Of one process, two places are left to actions; with more, a sync may take two beside them.
    { childrenMax: 1, syncs: 2, processes: 1 },
    { childrenMax: 2, syncs: 6, processes: 2 },
  ])('keep places for actions beside syncs: $childrenMax', async ({ processes, ...given }) => {
    const before = childPids();
    await using own = await openSandbox({ runsPerChild: 4, childrenMax: given.childrenMax });
    const end = new AbortController();
    const sync = async (begun: () => void) =>
      runGuest(own, 'await svc.getCheckpoint();', {
        type: 'sync',
        signal: end.signal,
        limits: { graceMs: 0 },
        host: { getCheckpoint: () => (begun(), never()) },
      });
    const begun = Array.from({ length: given.syncs }, () => Promise.withResolvers<undefined>());
    const syncs = begun.map(({ resolve }) => sync(() => resolve(undefined)));
    await Promise.all(begun.map(({ promise }) => promise));
    await expect(sync(() => undefined)).rejects.toMatchObject({
      code: 'execution_environment_unavailable',
    });
    expect(await Promise.all([1, 2].map((n) => outputOf(own, `return ${n};`)))).toEqual([1, 2]);
    const pids = childPids().filter((pid) => !before.includes(pid));
    const below = pids.map((pid) => getPriority(pid) - getPriority()).sort((a, b) => a - b);
    expect(below).toEqual([0, 10].slice(0, processes));
    end.abort();
    for (const { error } of (await Promise.all(syncs)) as { error?: object }[])
      expect(error).toMatchObject({ kind: 'aborted' });
    expect(await sync(() => end.abort())).toMatchObject({ error: { kind: 'aborted' } });
  });

  it('start at full priority, also for syncs: at a lower one a busy machine would never start them', async () => {
    const before = childPids();
    await using own = await openSandbox({ runsPerChild: 1, childrenMax: 2 });
    const fresh = () => childPids().filter((pid) => !before.includes(pid));
    const [warm] = fresh();
    const end = new AbortController();
    const begun = Promise.withResolvers<undefined>();
    const sync = runGuest(own, 'await svc.getCheckpoint();', {
      type: 'sync',
      signal: end.signal,
      limits: { graceMs: 0 },
      host: { getCheckpoint: () => (begun.resolve(undefined), never()) },
    });
    // Its message that it is ready comes in a later turn than its start.
    while (fresh().length < 2) await breathe();
    const pid = fresh().find((one) => one !== warm)!;
    const stepsBack = (thread: number): number => getPriority(thread) - getPriority();
    expect(stepsBack(pid)).toBe(0);
    await begun.promise;
    const threads = readdirSync(`/proc/${pid}/task`).map(Number);
    expect(threads.length).toBeGreaterThan(1);
    expect(new Set(threads.map(stepsBack))).toEqual(new Set([10]));
    end.abort();
    await sync;
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

  it('leave signals to the group to the process that supervises them', async () => {
    const before = childPids();
    await using own = await openSandbox();
    const [pid] = childPids().filter((candidate) => !before.includes(candidate));
    const host = {
      getCheckpoint: async () => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid!, signal);
        return '"goes on"';
      },
    };
    expect(await outputOf(own, 'return svc.getCheckpoint();', { host })).toBe('goes on');
    expect(await outputOf(own, 'return 1;')).toBe(1);
    expect(childPids()).toContain(pid);
  });

  it('end with their last run when a loop of V8 in them hears of no end', async () => {
    const before = childPids();
    await using own = await openSandbox();
    const fresh = () => childPids().filter((pid) => !before.includes(pid));
    const [first] = fresh();
    const beside = Promise.withResolvers<string>();
    const host = { getCheckpoint: () => beside.promise };
    const waiting = outputOf(own, 'await svc.getCheckpoint(); return 1;', { host });
    const limits = { wallMs: 200, graceMs: 50 };
    const looping = await runGuest(own, 'new Array(2 ** 32 - 1).fill(0);', { limits });
    expect(looping).toMatchObject({ error: { kind: 'timeout', code: 'execution_timeout' } });
    await vi.waitFor(() => expect(fresh().length).toBe(2), { timeout: 20_000 });
    expect(fresh()).toContain(first);
    beside.resolve('null');
    expect(await waiting).toBe(1);
    await vi.waitFor(() => expect(fresh()).not.toContain(first), { timeout: 20_000 });
    expect(await outputOf(own, 'return 2;')).toBe(2);
  });

  it('go on when a loop with a short one in it is ended: V8 hears of the end', async () => {
    const before = childPids();
    await using own = await openSandbox();
    const pids = childPids().filter((pid) => !before.includes(pid));
    const threadMs = (): number =>
      Number(readFileSync(`/proc/${pids[0]!}/stat`, 'utf8').split(') ')[1]!.split(' ')[11]) * 10;
    const body = 'const list = []; for (;;) list[0] = new Array(1000);';
    const looping = await runGuest(own, body, { limits: { cpuMs: 300 } });
    expect(looping).toMatchObject({ error: { kind: 'timeout' } });
    // It is at rest: a run takes some processor time, a loop all of it.
    await vi.waitFor(
      async () => {
        const start = threadMs();
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(threadMs() - start).toBeLessThan(100);
      },
      { timeout: 20_000 },
    );
    expect(childPids().filter((pid) => !before.includes(pid))).toEqual(pids);
  });

  it('over their limit of memory take no more runs, let the others end, and are replaced', async () => {
    const before = childPids();
    await using own = await openSandbox({ residentMb: 1 });
    const fresh = () => childPids().filter((pid) => !before.includes(pid));
    const [first] = fresh();
    const released = Promise.withResolvers<string>();
    const host = { getCheckpoint: () => released.promise };
    const waiting = [1, 2, 3].map((n) =>
      outputOf(own, `await svc.getCheckpoint(); return ${n};`, { host }),
    );
    await vi.waitFor(() => expect(fresh().length).toBeGreaterThan(1), { timeout: 20_000 });
    expect(await outputOf(own, 'return 4;')).toBe(4);
    expect(fresh()).toContain(first);
    released.resolve('null');
    expect(await Promise.all(waiting)).toEqual([1, 2, 3]);
    await vi.waitFor(() => expect(fresh()).not.toContain(first), { timeout: 20_000 });
  });

  it('are killed at the hard limit of memory; what ran in one that was closed before is interrupted', async () => {
    await using own = await openSandbox({ residentMb: 1, residentMbMax: 20_000 });
    const released = Promise.withResolvers<string>();
    const host = { getCheckpoint: () => released.promise };
    const pids = childPids();
    const earlier = outputOf(own, 'return 1;');
    const waiting = runGuest(own, 'await svc.getCheckpoint();', { host });
    expect(await earlier).toBe(1);
    await vi.waitFor(() => expect(childPids().length).toBeGreaterThan(pids.length), {
      timeout: 20_000,
    });
    for (const pid of childPids()) if (pids.includes(pid)) process.kill(pid, 'SIGKILL');
    expect(await waiting).toMatchObject({ error: { kind: 'interrupted' } });
  });

  it('are replaced after a number of runs', async () => {
    const before = childPids();
    await using own = await openSandbox({ runsPerLife: 3 });
    const fresh = () => childPids().filter((pid) => !before.includes(pid));
    const [first] = fresh();
    for (let run = 0; run < 4; run++) expect(await outputOf(own, 'return 1;')).toBe(1);
    await vi.waitFor(() => expect(fresh()).not.toContain(first));
  });

  it('that grew are replaced once they are idle', async () => {
    const before = childPids();
    await using own = await openSandbox({ idleMs: 20, grownMbMax: -1_000 });
    const fresh = () => childPids().filter((pid) => !before.includes(pid));
    const [first] = fresh();
    expect(await outputOf(own, 'return 1;')).toBe(1);
    await vi.waitFor(() => expect(fresh()).not.toContain(first), { timeout: 20_000 });
    await vi.waitFor(() => expect(fresh().length).toBe(1), { timeout: 20_000 });
    expect(await outputOf(own, 'return 2;')).toBe(2);
  });

  it('that a rush has started beside the warm one end once they are idle', async () => {
    const before = childPids();
    await using own = await openSandbox({
      ...{ runsPerChild: 1, childrenMax: 3 },
      ...{ idleMs: 20, grownMbMax: 10_000 },
    });
    const fresh = () => childPids().filter((pid) => !before.includes(pid));
    const runs = [1, 2, 3].map((n) => outputOf(own, `return ${n};`));
    expect(fresh().length).toBe(3);
    expect(await Promise.all(runs)).toEqual([1, 2, 3]);
    await vi.waitFor(() => expect(fresh().length).toBe(1), { timeout: 20_000 });
    expect(await outputOf(own, 'return 4;')).toBe(4);
  });
});
