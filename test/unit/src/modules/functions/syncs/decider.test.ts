import { describe, expect, it } from 'vitest';
import { hourMs } from '#kernel/time.ts';
import { sync, type SyncCommand } from '#modules/functions/syncs/decider.ts';
import type { SyncEvent } from '#modules/functions/syncs/events.ts';
import { slotAfter } from '#modules/functions/syncs/state.ts';
import { given } from '#test/support/judges/given.ts';
import {
  t0,
  create,
  created,
  fresh,
  due,
  scheduled,
  queued,
  started,
  cancelled,
  stateAfter,
  refusal,
} from '#test/support/judges/sync-facts.ts';

describe('a sync of a connection that is made', () => {
  it('§12.1 creation: starts its schedule and runs at once with autoStart', () => {
    given(sync)
      .when(create())
      .then(...scheduled, queued('r1', t0, { trigger: 'creation' }));
  });

  it('§12.1 creation: stays paused without autoStart', () => {
    given(sync)
      .when(create({ autoStart: false }))
      .then(created);
  });

  it('is made once', () => {
    given(sync, created).when(create()).then();
  });

  it('is rebuilt for a connection that was made again under the same id', () => {
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

  it('§12.1 no overlap: a run that is due while one is going is left out', () => {
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

  it('§12.1 a start runs at once, and only once', () => {
    const run = queued('r2', t0, { trigger: 'start' });
    given(sync, created)
      .when({ type: 'Start', runId: 'r2', at: t0 })
      .then({ type: 'ScheduleStarted' }, due(t0), run);
    given(sync, ...scheduled, run)
      .when({ type: 'Start', runId: 'r3', at: t0 })
      .then();
  });

  it('§12.1 a new version lets the run end that is going', () => {
    const facts = { models: ['Contact'], functionVersion: '2', frequencyMs: fresh.frequencyMs };
    const going = [created, queued('r1'), started('r1')];
    given(sync, ...going)
      .when({ type: 'Redeploy', ...facts, at: t0 + 20 })
      .then({ ...facts, type: 'FunctionRedeployed' });
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

  it('§12.5 reset cancels the run, clears checkpoint and last sync date, and runs again', () => {
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

  it('§12.5 emptyCache empties nothing without reset', () => {
    given(sync, created)
      .when(trigger({ emptyCache: true }))
      .then(queued('r2', t0 + 20));
  });
});
