import { describe, expect, it } from 'vitest';
import { action, actionDueAt, type ActionCommand } from '#modules/functions/actions/decider.ts';
import type { ActionEvent } from '#modules/functions/actions/events.ts';
import type { ActionRun } from '#modules/functions/actions/state.ts';
import { given } from '#test/support/judges/given.ts';

const t0 = Date.UTC(2026, 0, 1);
const born = {
  runId: 'r1',
  environmentUid: 'env',
  integrationKey: 'crm',
  connectionId: 'acme',
  connectionUid: 'uid-1',
  name: 'create-contact',
  functionVersion: '1',
  isAsync: false,
  depth: 0,
  retriesLeft: 0,
  input: { partition: 1, offset: 2 },
  inputHash: 'h',
} as const;
const queue = (more: object = {}): ActionCommand => ({ ...born, ...more, type: 'Queue', at: t0 });
const queued = (more: object = {}): ActionEvent => ({
  ...born,
  type: 'ActionQueued',
  startBy: t0 + 30_000,
  ...more,
});
const asyncly = { isAsync: true, startBy: t0 + 86_400_000 };
const started: ActionEvent = { type: 'ActionStarted', at: t0 + 5, runner: 'p1' };
const start = (more: object = {}): ActionCommand => ({
  type: 'RunStarted',
  attempt: 1,
  runner: 'p1',
  at: t0 + 5,
  ...more,
});
const end = (more: object = {}): ActionCommand => ({
  type: 'RunEnded',
  attempt: 1,
  status: 'succeeded',
  output: { partition: 1, offset: 3 },
  outputHash: 'o',
  error: null,
  at: t0 + 9,
  ...more,
});
const ended = {
  type: 'ActionEnded',
  status: 'succeeded',
  output: { partition: 1, offset: 3 },
  outputHash: 'o',
  error: null,
  at: t0 + 9,
} as const;
const failure = {
  status: 'failed',
  error: { code: 'script_internal_error', message: 'no' },
} as const;
const stateAfter = (...events: ActionEvent[]): ActionRun | null =>
  events.reduce<ActionRun | null>((state, event) => action.evolve(state, event), null);

describe('a run of an action', () => {
  it('§16 start by: 30 seconds, or a day when it is asynchronous', () => {
    given(action).when(queue()).then(queued());
    given(action)
      .when(queue({ isAsync: true }))
      .then(queued(asyncly));
    given(action, queued()).when(queue()).then();
  });

  it('starts once', () => {
    given(action, queued()).when(start()).then(started);
    given(action, queued(), started).when(start()).then();
    expect(() => action.decide(start({ runner: 'p2' }), stateAfter(queued(), started))).toThrow(
      expect.objectContaining({ code: 'stale_attempt' }),
    );
  });

  it("is queued and started in one decision where the caller's process runs it", () => {
    given(action)
      .when(queue({ runner: 'p1' }))
      .then(queued({ isTaken: true }), { ...started, at: t0 });
    const taken = stateAfter(queued({ isTaken: true }), { ...started, at: t0 });
    expect(taken).toEqual(stateAfter(queued(), { ...started, at: t0 }));
  });

  it('does not start too late, and then ends without having run', () => {
    expect(() => action.decide(start({ at: t0 + 30_001 }), stateAfter(queued()))).toThrow(
      expect.objectContaining({ code: 'stale_attempt' }),
    );
    expect(action.decide({ type: 'Tick', at: t0 + 30_000 }, stateAfter(queued()))).toMatchObject([
      {
        type: 'ActionEnded',
        status: 'timed_out',
        error: { code: 'execution_environment_unavailable' },
      },
    ]);
  });

  it('ends once and leaves nothing behind when its caller waits for it', () => {
    given(action, queued(), started).when(end()).then(ended);
    expect(stateAfter(queued(), started, ended)).toBeNull();
    expect(() => action.decide(end(), stateAfter(queued(), started, ended))).toThrow(
      expect.objectContaining({ code: 'stale_attempt' }),
    );
  });

  it('is never repeated when its runner is lost', () => {
    const at = t0 + 5 + 60_000;
    expect(actionDueAt(stateAfter(queued(), started)!)).toBe(at);
    given(action, queued(), started)
      .when({ type: 'Tick', at: at - 1 })
      .then();
    expect(action.decide({ type: 'Tick', at }, stateAfter(queued(), started))).toMatchObject([
      { type: 'ActionEnded', status: 'interrupted', error: { code: 'run_interrupted' } },
    ]);
  });

  it('is not lost while it sends heartbeats', () => {
    const beat: ActionEvent = { type: 'ActionHeartbeatReceived', at: t0 + 50_000 };
    given(action, queued(), started, beat)
      .when({ type: 'Tick', at: t0 + 70_000 })
      .then();
  });
});

describe('a run that is held', () => {
  const held = (more: object = {}) => queued({ concurrency: 1, ahead: 2, ...more });
  const aDay = { isAsync: true, startBy: t0 + 86_400_000 };

  it('waits no longer than usual for its caller, and a day for none', () => {
    given(action)
      .when(queue({ concurrency: 1, ahead: 2 }))
      .then(held());
    given(action)
      .when(queue({ kind: 'webhook', isAsync: true, concurrency: 1, ahead: 0 }))
      .then(held({ kind: 'webhook', ahead: 0, ...aDay }));
  });

  it('does not start before it is admitted', () => {
    expect(() => action.decide(start(), stateAfter(held()))).toThrow(
      expect.objectContaining({ code: 'stale_attempt' }),
    );
    const admitted: ActionEvent = { type: 'ActionAdmitted', startBy: t0 + 30_000 };
    given(action, held())
      .when({ type: 'Admit', at: t0 + 2_000 })
      .then(admitted);
    given(action, held(), admitted).when(start()).then(started);
    given(action, held(), admitted).when({ type: 'Admit', at: t0 }).then();
  });

  it('has its whole time to start when no caller waits', () => {
    const at = t0 + 3_600_000;
    given(action, held({ kind: 'webhook', ...aDay }))
      .when({ type: 'Admit', at })
      .then({ type: 'ActionAdmitted', startBy: at + 300_000 });
  });

  it('ends in time, and says what it waited for', () => {
    expect(action.decide({ type: 'Tick', at: t0 + 30_000 }, stateAfter(held()))).toMatchObject([
      {
        type: 'ActionEnded',
        status: 'timed_out',
        error: {
          code: 'execution_environment_unavailable',
          message: expect.stringContaining('at most 1 of its function') as string,
        },
      },
    ]);
  });
});

describe('a run that is cancelled', () => {
  const error = { code: 'script_aborted', message: 'The run was cancelled.' };
  const cancelled = { status: 'cancelled', at: t0 + 7, output: null, outputHash: null, error };

  it('ends at once, also before it started, and whatever retries are left', () => {
    const cancel: ActionCommand = { type: 'Cancel', at: t0 + 7 };
    const end: ActionEvent = { type: 'ActionEnded', ...cancelled } as const as ActionEvent;
    given(action, queued()).when(cancel).then(end);
    given(action, queued({ ...asyncly, retriesLeft: 3 }), started)
      .when(cancel)
      .then(end);
    given(action, queued(asyncly), started, ended).when(cancel).then();
    given(action).when(cancel).then();
  });
});

describe('a run that is no action', () => {
  it.each([
    ['on-event', 30_000],
    ['webhook', 300_000],
  ] as const)(
    'of kind %s starts within its own time limit, whatever the caller waits for',
    (kind, startMs) => {
      const startBy = t0 + startMs;
      given(action)
        .when(queue({ kind, isAsync: true }))
        .then(queued({ kind, isAsync: true, startBy }));
    },
  );
});

describe('an asynchronous run', () => {
  const retried = queued({ ...asyncly, retriesLeft: 1 });

  it('keeps its end as long as its output', () => {
    const state = stateAfter(queued(asyncly), started, ended)!;
    expect(state).toMatchObject({ status: 'succeeded', output: { offset: 3 } });
    const at = t0 + 9 + 7 * 86_400_000;
    expect(actionDueAt(state)).toBe(at);
    given(action, queued(asyncly), started, ended)
      .when({ type: 'Tick', at })
      .then({ type: 'ActionForgotten' });
  });

  it('§15 async retries: tried again after a failure while retries are left', () => {
    const again: ActionEvent = { type: 'ActionRequeued', attempt: 2, startBy: t0 + 9 + 86_400_000 };
    given(action, retried, started).when(end(failure)).then(again);
    given(action, retried, started, again, started)
      .when(end({ ...failure, attempt: 2 }))
      .then({ ...ended, ...failure });
    given(action, retried, started).when(end()).then(ended);
  });

  it('is tried again when its runner was lost and retries are left', () => {
    const at = t0 + 5 + 60_000;
    expect(action.decide({ type: 'Tick', at }, stateAfter(retried, started))).toMatchObject([
      { type: 'ActionRequeued', attempt: 2 },
    ]);
  });
});
