import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import {
  runQueue,
  runsAhead,
  type RunQueue,
  type RunQueueCommand,
} from '#modules/functions/run-queues/run-queue.ts';
import { given } from '#test/support/judges/given.ts';

const at = 0;
const enter = (runId: string, concurrency = 1): RunQueueCommand => ({
  type: 'Enter',
  runId,
  concurrency,
  at,
});
const leave = (runId: string): RunQueueCommand => ({ type: 'Leave', runId, at });
const entered = (runId: string, concurrency = 1) =>
  ({ type: 'RunEntered', runId, concurrency }) as const;
const admitted = (runId: string) => ({ type: 'RunAdmitted', runId }) as const;
const left = (runId: string) => ({ type: 'RunLeft', runId }) as const;

const after = (...commands: RunQueueCommand[]): RunQueue | null =>
  commands.reduce<RunQueue | null>(
    (state, command) =>
      runQueue.decide(command, state).reduce((one, event) => runQueue.evolve(one, event), state),
    null,
  );

describe('a queue of runs', () => {
  it('admits as many as its concurrency, and lets the others wait in order', () => {
    const state = after(enter('a', 2), enter('b', 2), enter('c', 2), enter('d', 2));
    expect(state).toEqual({ concurrency: 2, admitted: ['a', 'b'], waiting: ['c', 'd'] });
    expect(runsAhead(state, 2)).toBe(2);
    expect(runsAhead(after(enter('a', 2)), 2)).toBeNull();
    expect(runsAhead(null, 1)).toBeNull();
  });

  it('admits the next one when a run ends', () => {
    given(runQueue, entered('a'), entered('b'), entered('c'))
      .when(leave('a'))
      .then(left('a'), admitted('b'));
  });

  it('forgets a run that ends before its turn, and admits no other for it', () => {
    given(runQueue, entered('a'), entered('b'), entered('c')).when(leave('b')).then(left('b'));
    expect(after(enter('a'), enter('b'), leave('b'), leave('a'))).toBeNull();
  });

  it('takes a run once, and ignores one that it does not have', () => {
    given(runQueue, entered('a')).when(enter('a')).then();
    given(runQueue, entered('a')).when(leave('b')).then();
    given(runQueue).when(leave('b')).then();
  });

  it('follows a concurrency that was raised or lowered with the next run', () => {
    const state = after(enter('a'), enter('b'), enter('c', 3));
    expect(state).toEqual({ concurrency: 3, admitted: ['a', 'b', 'c'], waiting: [] });
    const lowered = after(enter('a', 2), enter('b', 2), enter('c', 1), leave('a'));
    expect(lowered).toEqual({ concurrency: 1, admitted: ['b'], waiting: ['c'] });
  });

  it('refuses a run where too many wait', () => {
    const waiting = Array.from({ length: limits.heldRunsMax }, (_, n) => String(n));
    const full: RunQueue = { concurrency: 1, admitted: ['a'], waiting };
    expect(() => runQueue.decide(enter('b'), full)).toThrow(
      expect.objectContaining({ code: 'execution_environment_unavailable' }),
    );
  });

  it('never has more than its concurrency, whatever happens in which order', () => {
    let state: RunQueue | null = null;
    const apply = (command: RunQueueCommand): void => {
      for (const event of runQueue.decide(command, state)) state = runQueue.evolve(state, event);
      if (state !== null) expect(state.admitted.length).toBeLessThanOrEqual(3);
    };
    for (let n = 0; n < 300; n += 1) {
      apply(enter(String(n), 3));
      if (n % 2 === 1) apply(leave(String((n * 7) % (n + 1))));
    }
    for (let n = 0; n < 300; n += 1) apply(leave(String(n)));
    expect(state).toBeNull();
  });
});
