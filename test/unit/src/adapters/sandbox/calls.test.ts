import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

const never = () => new Promise<string>(() => undefined);

describe('abort', () => {
  it('§16 abort: the calls under way and all later ones fail, and the function may clean up', async () => {
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

  it('§16 grace: a run that does not listen is ended', async () => {
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
