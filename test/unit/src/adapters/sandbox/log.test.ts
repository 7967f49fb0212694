import { describe, expect, it } from 'vitest';
import type { HostCalls, LogLine } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

describe('log', () => {
  async function linesOf(
    body: string,
    loggerLevel: 'debug' | 'warn' | 'off' = 'debug',
  ): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    const host: HostCalls = {
      log: async (args) => {
        lines.push(...(JSON.parse(args) as { lines: LogLine[] }).lines);
        return 'null';
      },
    };
    const result = await runGuest(sandbox, body, { host, context: { loggerLevel } });
    expect(result.status).toBe('ok');
    return lines;
  }

  it('§11 message, payload and level', async () => {
    const lines = await linesOf(
      `svc.log('a'); svc.log('b', { x: 1 }, { level: 'error' }); svc.log({ o: 1 }, { level: 'debug' }); svc.log('list', ['x', 'y']); svc.log('odd', { level: 'nope' });`,
    );
    expect(lines).toEqual([
      { level: 'info', message: 'a', payload: null },
      { level: 'error', message: 'b', payload: '{"x":1}' },
      { level: 'debug', message: '{"o":1}', payload: null },
      { level: 'info', message: 'list', payload: '{"0":"x","1":"y"}' },
      { level: 'info', message: 'odd', payload: null },
    ]);
  });

  it('§11 levels: what is below is dropped; setLogger changes it unless it is off', async () => {
    const body = `await svc.log('1'); await svc.log('2', { level: 'warn' }); svc.setLogger({ level: 'debug' }); await svc.log('3');
      svc.setLogger({ level: 'off' }); await svc.log('4', { level: 'error' }); svc.setLogger({ level: 'debug' }); await svc.log('5');`;
    expect((await linesOf(body, 'warn')).map(({ message }) => message)).toEqual(['2', '3']);
    expect(await linesOf(body, 'off')).toEqual([]);
  });

  it.each([
    ['returns', '', 'ok'],
    ['throws', `throw new Error('no');`, 'error'],
    ['loops', 'for (;;);', 'timeout'],
    ['loops after its abort', 'try { await svc.getMetadata(); } catch {} for (;;);', 'timeout'],
    [
      'takes all the memory',
      'const all = []; for (;;) all.push(new Array(1e6).fill(1));',
      'memory',
    ],
  ])('the lines that were dropped are counted of a run that %s', async (_how, ends, kind) => {
    const body = `await svc.log('1'); svc.log('2', { level: 'debug' }); svc.log('3'); ${ends}`;
    const limits = { cpuMs: kind === 'memory' ? 30_000 : 100, heapMb: 32, graceMs: 50 };
    const host = { log: async () => 'null', getConnection: async () => 'null' };
    const result = await runGuest(sandbox, body, {
      host,
      limits,
      context: { loggerLevel: 'warn' },
    });
    expect(result.status === 'ok' ? 'ok' : result.error.kind).toBe(kind);
    expect(result.dropped).toEqual({
      level: 'warn',
      isOwnLevel: false,
      counts: { debug: 1, info: 2 },
    });
  });

  it('counts under the level that the function chose, and nothing where nothing was dropped', async () => {
    const dropped = async (body: string) => (await runGuest(sandbox, body)).dropped;
    const body = `svc.setLogger({ level: 'off' }); await svc.log('1', { level: 'error' });`;
    const counts = { error: 1 };
    expect(await dropped(body)).toEqual({ level: 'off', isOwnLevel: true, counts });
    expect(await dropped(`await svc.log('1', { level: 'debug' });`)).toBeUndefined();
  });

  it('§11 authorization is hidden; cycles, depth and size are cut', async () => {
    const lines = await linesOf(`
      const cycle = { Authorization: 'secret', inner: { authorization: 'secret' } }; cycle.self = cycle;
      let deep = 'end'; for (let n = 0; n < 20; n++) deep = { deep };
      await svc.log('x', cycle); await svc.log('x', deep); await svc.log('y'.repeat(200_000)); await svc.log('e', new Error('why')); await svc.log('n', { n: 10n, f() {} });`);
    const [cycle, deep, long, error, odd] = lines;
    expect(cycle?.payload).toBe(
      '{"Authorization":"[redacted]","inner":{"authorization":"[redacted]"},"self":"[circular]"}',
    );
    expect(deep?.payload).toContain('[cut]');
    expect(long?.message.length).toBeLessThan(99_100);
    expect(long?.message).toContain('truncated');
    expect(JSON.parse(error?.payload ?? '')).toMatchObject({ name: 'Error', message: 'why' });
    expect(odd?.payload).toBe('{"n":"10"}');
  });

  it('§11 a log never fails the run, and crosses before it ends', async () => {
    let calls = 0;
    const host: HostCalls = {
      log: async () => {
        calls += 1;
        throw new Error('down');
      },
    };
    const result = await runGuest(sandbox, 'for (let n = 0; n < 50; n++) svc.log("x"); return 1;', {
      host,
    });
    expect(result).toEqual({ status: 'ok', output: '1' });
    expect(calls).toBe(1);
  });
});
