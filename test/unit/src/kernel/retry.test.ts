import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import { pauseMs, retrying } from '#kernel/retry.ts';

/** Fails the given number of times. */
function failing(times: number, error: Error = new GatewayError('log_unavailable')) {
  let calls = 0;
  return {
    task: async () => {
      calls++;
      if (calls <= times) throw error;
      return calls;
    },
    calls: () => calls,
  };
}

describe('a task that is retried', () => {
  it('succeeds once the outage is over', async () => {
    const reported: unknown[] = [];
    const { task } = failing(3);
    expect(await retrying(task, { firstMs: 1, failed: (error) => reported.push(error) })).toBe(4);
    expect(reported).toHaveLength(3);
  });

  it('fails at once with an error that is no outage', async () => {
    const { task, calls } = failing(1, new Error('wrong'));
    await expect(retrying(task, {})).rejects.toThrow('wrong');
    expect(calls()).toBe(1);
  });

  it('decides by the number of attempts', async () => {
    const { task, calls } = failing(9, new Error('wrong'));
    const isRetryable = (_: unknown, attempts: number) => attempts < 4;
    await expect(retrying(task, { firstMs: 0, isRetryable })).rejects.toThrow('wrong');
    expect(calls()).toBe(4);
  });

  it('fails with its last error when the next pause would end too late', async () => {
    const { task, calls } = failing(9);
    const late = retrying(task, { firstMs: 60_000, lastMs: 60_000, withinMs: 10_000 });
    await expect(late).rejects.toMatchObject({ code: 'log_unavailable' });
    expect(calls()).toBe(1);
  });

  it('ends during a pause when its signal aborts', async () => {
    const ending = new AbortController();
    const { task, calls } = failing(9);
    const failed = () => ending.abort(new Error('closed'));
    const ended = retrying(task, { signal: ending.signal, firstMs: 60_000, failed });
    await expect(ended).rejects.toThrow('closed');
    expect(calls()).toBe(1);
  });

  it('pauses twice as long each time, less up to a quarter, up to the longest pause', () => {
    for (const [attempts, longest] of [
      [1, 100],
      [2, 200],
      [4, 800],
      [7, 5_000],
      [5_000, 5_000],
    ] as const) {
      const ms = pauseMs(attempts, 100, 5_000);
      expect(ms).toBeLessThanOrEqual(longest);
      expect(ms).toBeGreaterThan(longest * 0.75 - 1);
    }
  });
});
