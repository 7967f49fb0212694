import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../../src/kernel/errors.ts';
import { sync, syncDueAt, type SyncCommand } from '../../../../../src/modules/syncs/decider.ts';
import type { SyncEvent } from '../../../../../src/modules/syncs/events.ts';
import { slotAfter, type SyncInstance } from '../../../../../src/modules/syncs/state.ts';
import { given } from '../../../../support/given.ts';

const hourMs = 3_600_000;
const t0 = Date.UTC(2026, 0, 1);
const born = {
  id: '7b0cbd43-9b53-4d5c-8d0c-3f6f8a1f7d11',
  environmentUid: 'env',
  integrationKey: 'crm',
  connectionId: 'acme',
  connectionUid: 'uid-1',
  syncName: 'contacts',
  variant: 'base',
  models: ['Contact'],
  functionVersion: '1',
  frequencyMs: hourMs,
} as const;
const create = (more: object = {}): SyncCommand => ({
  ...born,
  type: 'Create',
  autoStart: true,
  runId: 'r1',
  isConnectionLive: true,
  at: t0,
  ...more,
});
const created: SyncEvent = { ...born, type: 'InstanceCreated', at: t0 };
const fresh = sync.evolve(null, created)!;
const due = (after: number): SyncEvent => ({
  type: 'DueTimeSet',
  nextDueAt: slotAfter(fresh, after),
});
const scheduled: SyncEvent[] = [created, { type: 'ScheduleStarted' }, due(t0)];
const queued = (runId: string, at = t0, more: object = {}): SyncEvent => ({
  type: 'RunQueued',
  runId,
  at,
  startBy: at + hourMs,
  trigger: 'api',
  emptyCache: false,
  ...more,
});
const started = (runId: string, at = t0 + 10, attempt = 1): SyncEvent => ({
  type: 'RunStarted',
  runId,
  attempt,
  at,
  runner: 'p1',
});
const counts = [{ model: 'Contact', added: 1, updated: 0, deleted: 0, unchanged: 4 }];
const positions = [{ model: 'Contact', partition: 1, offset: 9 }];
const ended = (
  runId: string,
  at: number,
  status: 'succeeded' | 'failed' = 'succeeded',
  attempt = 1,
) =>
  ({
    type: 'RunEnded',
    runId,
    attempt,
    at,
    status,
    counts: status === 'succeeded' ? counts : [],
    positions: status === 'succeeded' ? positions : [],
    error: status === 'succeeded' ? null : { code: 'script_internal_error', message: 'no' },
  }) as const satisfies SyncEvent;
const cancelled = (runId: string, at: number, attempt = 1): SyncEvent => ({
  type: 'RunEnded',
  runId,
  attempt,
  at,
  status: 'cancelled',
  counts: [],
  positions: [],
  error: { code: 'script_aborted', message: 'The run was cancelled.' },
});

const stateAfter = (...events: SyncEvent[]): SyncInstance =>
  events.reduce<SyncInstance | null>((state, event) => sync.evolve(state, event), null)!;
const refusal = (command: SyncCommand, state: SyncInstance | null): string => {
  try {
    sync.decide(command, state);
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
  return 'accepted';
};

describe('a sync of a connection that is made', () => {
  it('starts its schedule and runs at once with autoStart', () => {
    given(sync)
      .when(create())
      .then(...scheduled, queued('r1', t0, { trigger: 'creation' }));
  });

  it('stays paused without autoStart', () => {
    given(sync)
      .when(create({ autoStart: false }))
      .then(created);
  });

  it('is made once', () => {
    given(sync, created).when(create()).then();
  });

  it('is made anew for a connection that was made again under the same id', () => {
    const again = { connectionUid: 'uid-2', at: t0 + 5 };
    given(sync, created)
      .when(create({ ...again, autoStart: false }))
      .then({ type: 'InstanceRemoved', at: t0 + 5 }, { ...created, ...again });
  });

  it('is refused for a connection that is gone or going', () => {
    expect(refusal(create({ isConnectionLive: false }), null)).toBe('unknown_connection');
  });
});

describe('the schedule of a sync', () => {
  it('lies on a grid from its creation, spread by at most a tenth of the frequency', () => {
    const first = slotAfter(fresh, t0);
    expect(first).toBeGreaterThanOrEqual(t0 + hourMs);
    expect(first).toBeLessThan(t0 + 1.1 * hourMs);
    expect(slotAfter(fresh, first)).toBe(first + hourMs);
    expect(slotAfter(fresh, first + 5.5 * hourMs)).toBe(first + 6 * hourMs);
  });

  it('queues a run when it is due, and names the next slot', () => {
    const at = slotAfter(fresh, t0);
    const events = sync.decide({ type: 'Tick', at }, stateAfter(...scheduled));
    expect(events).toEqual([
      due(at),
      expect.objectContaining({ type: 'RunQueued', trigger: 'schedule', at }),
    ]);
  });

  it('leaves a run out that is due while one is going', () => {
    const at = slotAfter(fresh, t0);
    given(sync, ...scheduled, queued('r1', at - 100), started('r1', at - 50))
      .when({ type: 'Tick', at })
      .then(due(at));
  });

  it('makes up for no missed slot', () => {
    const at = slotAfter(fresh, t0) + 10 * hourMs;
    const events = sync.decide({ type: 'Tick', at }, stateAfter(...scheduled));
    expect(events.filter(({ type }) => type === 'RunQueued')).toHaveLength(1);
    expect(events[0]).toEqual(due(at));
  });

  it('gives each scheduled run an id of its own', () => {
    const at = slotAfter(fresh, t0);
    const idOf = (tick: number): unknown =>
      sync.decide({ type: 'Tick', at: tick }, stateAfter(...scheduled, due(tick - hourMs))).at(-1);
    expect(idOf(at)).not.toEqual(idOf(at + hourMs));
  });

  it('does nothing before it is due', () => {
    given(sync, ...scheduled)
      .when({ type: 'Tick', at: t0 + 1 })
      .then();
  });

  it('comes nearer again after the wall clock went back', () => {
    const late: SyncEvent = { type: 'DueTimeSet', nextDueAt: t0 + 30 * hourMs };
    given(sync, ...scheduled, late, queued('r1'), started('r1'))
      .when({ type: 'Heartbeat', runId: 'r1', attempt: 1, at: t0 + 20 })
      .then({ type: 'HeartbeatReceived', at: t0 + 20 }, due(t0 + 20));
  });

  it('goes over to another frequency at once, and back to the deployed one', () => {
    const changed: SyncEvent = { type: 'FrequencyChanged', overrideMs: 60_000 };
    const nextDueAt = slotAfter({ ...fresh, frequencyOverrideMs: 60_000 }, t0);
    const moved: SyncEvent = { type: 'DueTimeSet', nextDueAt };
    given(sync, ...scheduled)
      .when({ type: 'SetFrequency', frequencyMs: 60_000, at: t0 })
      .then(changed, moved);
    given(sync, ...scheduled, changed, moved)
      .when({ type: 'SetFrequency', frequencyMs: null, at: t0 })
      .then({ type: 'FrequencyChanged', overrideMs: null }, due(t0));
  });

  it('refuses less than 30 seconds', () => {
    const command = { type: 'SetFrequency', frequencyMs: 29_999, at: t0 } as const;
    expect(refusal(command, stateAfter(...scheduled))).toBe('sync_interval_too_short');
  });

  it('stops with a pause, which lets the run that is going end', () => {
    given(sync, ...scheduled, queued('r1'), started('r1'))
      .when({ type: 'Pause', at: t0 + 20 })
      .then({ type: 'SchedulePaused' }, { type: 'DueTimeSet', nextDueAt: null });
  });

  it('starts with a run at once, and only once', () => {
    const run = queued('r2', t0, { trigger: 'start' });
    given(sync, created)
      .when({ type: 'Start', runId: 'r2', at: t0 })
      .then({ type: 'ScheduleStarted' }, due(t0), run);
    given(sync, ...scheduled, run)
      .when({ type: 'Start', runId: 'r3', at: t0 })
      .then();
  });

  it('keeps the frequency of the connection when a new version is deployed', () => {
    const command = {
      type: 'Redeploy',
      models: ['Contact', 'Deal'],
      functionVersion: '2',
      frequencyMs: 2 * hourMs,
      at: t0,
    } as const;
    const { at: _, ...facts } = command;
    const redeployed: SyncEvent = { ...facts, type: 'FunctionRedeployed' };
    const own: SyncEvent = { type: 'FrequencyChanged', overrideMs: 60_000 };
    const moved: SyncEvent = {
      type: 'DueTimeSet',
      nextDueAt: slotAfter({ ...fresh, frequencyOverrideMs: 60_000 }, t0),
    };
    given(sync, ...scheduled, own, moved)
      .when(command)
      .then(redeployed);
    given(sync, ...scheduled, own, moved, redeployed)
      .when(command)
      .then();
  });
});

describe('a trigger', () => {
  const trigger = (more: object = {}): SyncCommand => ({
    type: 'Trigger',
    runId: 'r2',
    reset: false,
    emptyCache: false,
    at: t0 + 20,
    ...more,
  });

  it('runs a paused sync once', () => {
    given(sync, created)
      .when(trigger())
      .then(queued('r2', t0 + 20));
  });

  it('keeps the run that is going', () => {
    given(sync, created, queued('r1'), started('r1')).when(trigger()).then();
  });

  it('with reset cancels it, clears checkpoint and last sync date, and runs anew', () => {
    const saved: SyncEvent = { type: 'CheckpointSaved', checkpoint: { page: 2 } };
    given(sync, created, queued('r1'), started('r1'), saved)
      .when(trigger({ reset: true, emptyCache: true }))
      .then(
        cancelled('r1', t0 + 20),
        { type: 'InstanceReset' },
        queued('r2', t0 + 20, { emptyCache: true }),
      );
    const after = stateAfter(
      created,
      queued('r1'),
      saved,
      cancelled('r1', t0),
      { type: 'InstanceReset' },
      queued('r2'),
    );
    expect(after).toMatchObject({
      checkpoint: null,
      lastSyncDate: null,
      current: { isInitial: true },
    });
  });

  it('empties nothing without reset', () => {
    given(sync, created)
      .when(trigger({ emptyCache: true }))
      .then(queued('r2', t0 + 20));
  });
});

describe('a run', () => {
  const going = [created, queued('r1'), started('r1')];
  const report = (type: 'Heartbeat' | 'Release', more: object = {}): SyncCommand =>
    ({ type, runId: 'r1', attempt: 1, at: t0 + 100, ...more }) as SyncCommand;
  const start = (more: object = {}): SyncCommand => ({
    type: 'RunStarted',
    runId: 'r1',
    attempt: 1,
    runner: 'p1',
    at: t0 + 10,
    ...more,
  });
  const end = (more: object = {}): SyncCommand =>
    ({ ...ended('r1', t0 + 50), ...more }) as SyncCommand;

  it('starts once: the same runner may say it again, another is refused', () => {
    given(sync, created, queued('r1')).when(start()).then(started('r1'));
    given(sync, ...going)
      .when(start())
      .then();
    expect(refusal(start({ runner: 'p2' }), stateAfter(...going))).toBe('stale_attempt');
  });

  it('does not start after its start-by time', () => {
    const late = start({ at: t0 + hourMs + 1 });
    expect(refusal(late, stateAfter(created, queued('r1')))).toBe('stale_attempt');
  });

  it('ends once, with counts, and makes its start the last sync date', () => {
    given(sync, ...going)
      .when(end())
      .then(ended('r1', t0 + 50));
    given(sync, ...going, ended('r1', t0 + 50))
      .when(end())
      .then();
    expect(stateAfter(...going, ended('r1', t0 + 50))).toMatchObject({
      current: null,
      lastSyncDate: t0 + 10,
      last: {
        runId: 'r1',
        status: 'succeeded',
        counts: { Contact: { added: 1, updated: 0, deleted: 0 } },
      },
    });
  });

  it('keeps checkpoint and last sync date when it fails', () => {
    const saved: SyncEvent = { type: 'CheckpointSaved', checkpoint: { page: 2 } };
    const after = stateAfter(...going, saved, ended('r1', t0 + 50, 'failed'));
    expect(after).toMatchObject({
      checkpoint: { page: 2 },
      lastSyncDate: null,
      last: { status: 'failed' },
    });
  });

  it('is queued again as a next attempt after a minute of silence', () => {
    const at = t0 + 10 + 60_000;
    expect(syncDueAt(stateAfter(...going))).toBe(at);
    given(sync, ...going)
      .when({ type: 'Tick', at: at - 1 })
      .then();
    given(sync, ...going)
      .when({ type: 'Tick', at })
      .then({ type: 'RunRequeued', runId: 'r1', attempt: 2, at, startBy: at + hourMs });
  });

  it('is not lost while it gives signs of life', () => {
    const beat: SyncEvent = { type: 'HeartbeatReceived', at: t0 + 50_000 };
    given(sync, ...going, beat)
      .when({ type: 'Tick', at: t0 + 70_000 })
      .then();
  });

  it('ends as interrupted when its runners are lost again and again', () => {
    const lost = [2, 3, 4, 5].flatMap((attempt): SyncEvent[] => [
      { type: 'RunRequeued', runId: 'r1', attempt, at: t0, startBy: t0 + hourMs },
      started('r1', t0 + 10, attempt),
    ]);
    const [end] = sync.decide({ type: 'Tick', at: t0 + 61_000 }, stateAfter(...going, ...lost));
    expect(end).toMatchObject({
      type: 'RunEnded',
      status: 'interrupted',
      error: { code: 'run_interrupted' },
    });
  });

  it('is queued again at once when its runner gives it back', () => {
    const at = t0 + 100;
    given(sync, ...going)
      .when(report('Release'))
      .then({ type: 'RunRequeued', runId: 'r1', attempt: 2, at, startBy: at + hourMs });
  });

  it('keeps its first start over its attempts', () => {
    const again: SyncEvent = {
      type: 'RunRequeued',
      runId: 'r1',
      attempt: 2,
      at: t0 + 100,
      startBy: t0 + hourMs,
    };
    const after = stateAfter(
      ...going,
      again,
      started('r1', t0 + 200, 2),
      ended('r1', t0 + 300, 'succeeded', 2),
    );
    expect(after.lastSyncDate).toBe(t0 + 10);
  });

  it('fails when no runner starts it within an hour', () => {
    const at = t0 + hourMs;
    expect(syncDueAt(stateAfter(created, queued('r1')))).toBe(at);
    const [end] = sync.decide({ type: 'Tick', at }, stateAfter(created, queued('r1')));
    expect(end).toMatchObject({
      status: 'failed',
      error: { code: 'execution_environment_unavailable' },
    });
  });

  it('hears nothing from an attempt or a run before it', () => {
    const again: SyncEvent = {
      type: 'RunRequeued',
      runId: 'r1',
      attempt: 2,
      at: t0 + 100,
      startBy: t0 + hourMs,
    };
    const second = stateAfter(...going, again, started('r1', t0 + 200, 2));
    expect(refusal(report('Heartbeat'), second)).toBe('stale_attempt');
    expect(refusal(end(), second)).toBe('stale_attempt');
    expect(refusal(report('Heartbeat'), stateAfter(created))).toBe('stale_attempt');
    expect(refusal(report('Heartbeat'), null)).toBe('unknown_sync');
  });

  it('saves its checkpoint against the version it has seen', () => {
    const save = (version: number): SyncCommand => ({
      type: 'SaveCheckpoint',
      runId: 'r1',
      attempt: 1,
      version,
      checkpoint: { page: 3 },
      at: t0 + 30,
    });
    given(sync, ...going)
      .when(save(0))
      .then({ type: 'CheckpointSaved', checkpoint: { page: 3 } });
    expect(refusal(save(1), stateAfter(...going))).toBe('checkpoint_conflict');
    const clear: SyncCommand = {
      type: 'ClearCheckpoint',
      runId: 'r1',
      attempt: 1,
      version: 1,
      at: t0 + 40,
    };
    given(sync, ...going, { type: 'CheckpointSaved', checkpoint: { page: 3 } })
      .when(clear)
      .then({ type: 'CheckpointCleared' });
  });

  it('is cancelled when its sync is removed', () => {
    given(sync, ...going)
      .when({ type: 'Remove', at: t0 + 60 })
      .then(cancelled('r1', t0 + 60), { type: 'InstanceRemoved', at: t0 + 60 });
    given(sync)
      .when({ type: 'Remove', at: t0 + 60 })
      .then();
  });
});
