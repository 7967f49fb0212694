import { describe, expect, it } from 'vitest';
import { hourMs } from '#kernel/time.ts';
import { sync, syncDueAt, type SyncCommand } from '#modules/functions/syncs/decider.ts';
import type { SyncEvent } from '#modules/functions/syncs/events.ts';
import { given } from '#test/support/judges/given.ts';
import {
  t0,
  created,
  queued,
  started,
  ended,
  cancelled,
  stateAfter,
  refusal,
} from '#test/support/judges/sync-facts.ts';

/** The first attempt was lost. */
const again: SyncEvent = {
  type: 'RunRequeued',
  runId: 'r1',
  attempt: 2,
  at: t0 + 100,
  startBy: t0 + hourMs,
};

describe('a run', () => {
  const going = [created, queued('r1'), started('r1')];
  const report = (type: 'Heartbeat' | 'Release', more: object = {}): SyncCommand => ({
    type,
    runId: 'r1',
    attempt: 1,
    at: t0 + 100,
    ...more,
  });
  const start = (more: object = {}): SyncCommand => ({
    type: 'RunStarted',
    runId: 'r1',
    attempt: 1,
    runner: 'p1',
    at: t0 + 10,
    ...more,
  });
  const end = (more: object = {}): SyncCommand => ({ ...ended('r1', t0 + 50), ...more });

  it('starts once: the same runner may say it again, another is refused', () => {
    given(sync, created, queued('r1')).when(start()).then(started('r1'));
    given(sync, ...going)
      .when(start())
      .then();
    expect(refusal(start({ runner: 'p2' }), stateAfter(...going))).toBe('stale_attempt');
  });

  it('starts where it is triggered, in the same decision, if that process has a slot for it', () => {
    const trigger = {
      type: 'Trigger',
      runId: 'r1',
      at: t0,
      reset: false,
      emptyCache: false,
    } as const;
    const taken = { ...queued('r1'), isTaken: true } as const;
    const begun = { ...started('r1'), at: t0, runner: 'p1' };
    given(sync, created)
      .when({ ...trigger, runner: 'p1' })
      .then(taken, begun);
    given(sync, ...going)
      .when({ ...trigger, runId: 'r2', runner: 'p1' })
      .then();
    expect(refusal(start({ runner: 'p2' }), stateAfter(created, taken, begun))).toBe(
      'stale_attempt',
    );
  });

  it('does not start after its start-by time', () => {
    const late = start({ at: t0 + hourMs + 1 });
    expect(refusal(late, stateAfter(created, queued('r1')))).toBe('stale_attempt');
  });

  it('§12.3 success: ends once, with counts, and makes its start the last sync date', () => {
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

  it('§9 four fifths of the time: the next run is queued when the run ends whose time was used up', () => {
    const [over, next] = sync.decide(end({ goesOn: true }), stateAfter(...going));
    expect(over).toEqual(ended('r1', t0 + 50));
    expect(next).toMatchObject({ type: 'RunQueued', at: t0 + 50, emptyCache: false });
    const bySchedule = queued('r1', t0, { trigger: 'schedule' });
    const paused = stateAfter(created, bySchedule, started('r1'));
    expect(sync.decide(end({ goesOn: true }), paused)).toEqual([ended('r1', t0 + 50)]);
  });

  it('§9 a checkpoint survives a redeploy', () => {
    const saved: SyncEvent = { type: 'CheckpointSaved', checkpoint: { n: 1 } };
    const { models, frequencyMs } = stateAfter(created);
    const facts = { models, frequencyMs, functionVersion: '2' };
    const redeployed: SyncEvent = { type: 'FunctionRedeployed', ...facts };
    expect(stateAfter(...going, saved, redeployed)).toMatchObject({ checkpoint: { n: 1 } });
  });

  it('knows when all of its streams noted a run, until its function is deployed again', () => {
    const { models, frequencyMs } = stateAfter(created);
    const positions = models.map((model) => ({ model, partition: 0, offset: 1 }));
    const noted = { ...ended('r1', t0 + 50), positions };
    expect(stateAfter(...going, noted)).toMatchObject({ notedAt: t0 + 50 });
    expect(stateAfter(...going, { ...noted, positions: [] })).not.toHaveProperty('notedAt');
    const redeployed: SyncEvent = {
      ...{ type: 'FunctionRedeployed', models, frequencyMs, functionVersion: '2' },
    };
    expect(stateAfter(...going, noted, redeployed)).not.toHaveProperty('notedAt');
  });

  it('§9 a checkpoint survives a run that fails, and so does the last sync date', () => {
    const saved: SyncEvent = { type: 'CheckpointSaved', checkpoint: { page: 2 } };
    const after = stateAfter(...going, saved, ended('r1', t0 + 50, 'failed'));
    expect(after).toMatchObject({
      checkpoint: { page: 2 },
      lastSyncDate: null,
      last: { status: 'failed' },
    });
  });

  it('§16 heartbeat: queued again as a next attempt after a minute of silence', () => {
    const at = t0 + 10 + 60_000;
    expect(syncDueAt(stateAfter(...going))).toBe(at);
    given(sync, ...going)
      .when({ type: 'Tick', at: at - 1 })
      .then();
    given(sync, ...going)
      .when({ type: 'Tick', at })
      .then({ type: 'RunRequeued', runId: 'r1', attempt: 2, at, startBy: at + hourMs });
  });

  it('is not lost while it sends heartbeats', () => {
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
    const after = stateAfter(
      ...going,
      again,
      started('r1', t0 + 200, 2),
      ended('r1', t0 + 300, 'succeeded', 2),
    );
    expect(after.lastSyncDate).toBe(t0 + 10);
  });

  it('§16 a sync has to start within an hour', () => {
    const at = t0 + hourMs;
    expect(syncDueAt(stateAfter(created, queued('r1')))).toBe(at);
    const [end] = sync.decide({ type: 'Tick', at }, stateAfter(created, queued('r1')));
    expect(end).toMatchObject({
      status: 'failed',
      error: { code: 'execution_environment_unavailable' },
    });
  });

  it('hears nothing from an attempt or a run before it', () => {
    const second = stateAfter(...going, again, started('r1', t0 + 200, 2));
    expect(refusal(report('Heartbeat'), second)).toBe('stale_attempt');
    expect(refusal(end(), second)).toBe('stale_attempt');
    expect(refusal(report('Heartbeat'), stateAfter(created))).toBe('stale_attempt');
    expect(refusal(report('Heartbeat'), null)).toBe('unknown_sync');
  });

  it('§9 the lock of a checkpoint: saved against the version that was seen', () => {
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
