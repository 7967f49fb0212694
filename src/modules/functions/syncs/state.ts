import { uuidV5 } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { ModelPosition } from '#modules/records/model/events.ts';
import type { InstanceProperties, RunStatus, RunTrigger, SyncEvent } from './events.ts';

export type { EndStatus, RunStatus } from './events.ts';

export interface CurrentRun {
  readonly runId: string;
  /** From 1; grows when a run whose runner fell silent is queued again. */
  readonly attempt: number;
  readonly status: 'queued' | 'started';
  readonly trigger: RunTrigger;
  /** Of this attempt. */
  readonly queuedAt: Instant;
  /** A queued attempt that has not started by this time fails. */
  readonly startBy: Instant;
  /** Of the first attempt. */
  readonly startedAt: Instant | null;
  readonly heartbeatAt: Instant | null;
  /** Made by the runner of the attempt: distinguishes its repeated report from that of another runner. */
  readonly runner: string | null;
  /** The records of all models are removed before user code runs. */
  readonly emptyCache: boolean;
  /** No successful run precedes it, or a reset does. */
  readonly isInitial: boolean;
  readonly checkpointFrom: JsonObject | null;
}

export interface LastRun {
  readonly runId: string;
  readonly attempt: number;
  readonly status: RunStatus;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly isInitial: boolean;
  readonly counts: Readonly<Record<string, { added: number; updated: number; deleted: number }>>;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Position of its last change of records. Absent in runs of release 0.70.0 and earlier. */
  readonly positions?: readonly ModelPosition[];
}

/** A sync of one connection. Scope = that of the connection; path [...connection path, sync name, variant]. */
export interface SyncInstance extends InstanceProperties {
  /** Whether its schedule is active. */
  readonly state: 'started' | 'paused';
  /** Set by the API for this connection; kept across deployments. */
  readonly frequencyOverrideMs: number | null;
  readonly nextDueAt: Instant | null;
  readonly checkpoint: JsonObject | null;
  readonly checkpointVersion: number;
  readonly lastSyncDate: Instant | null;
  readonly current: CurrentRun | null;
  readonly last: LastRun | null;
  /** End of the last run that the streams of all models have noted. Absent: of none since the last deployment. */
  readonly notedAt?: Instant;
  readonly createdAt: Instant;
}

/** The frequency of the schedule: that of the connection, or the deployed one. */
export function effectiveFrequencyMs(
  instance: Pick<SyncInstance, 'frequencyMs' | 'frequencyOverrideMs'>,
): number {
  return instance.frequencyOverrideMs ?? instance.frequencyMs;
}

type ScheduleFields = Pick<
  SyncInstance,
  'id' | 'createdAt' | 'frequencyMs' | 'frequencyOverrideMs'
>;

/**
 * The first time after `at` on the instance's grid. The grid begins at the creation plus up to a tenth of the
 * frequency, derived from the id, so that instances created by one deployment do not run together. It depends on
 * nothing else, so that runs never drift.
 */
export function slotAfter(instance: ScheduleFields, at: Instant): Instant {
  const frequencyMs = effectiveFrequencyMs(instance);
  const anchor = instance.createdAt + spreadMs(instance.id, frequencyMs);
  const passed = Math.floor((at - anchor) / frequencyMs);
  return anchor + (Math.max(passed, 0) + 1) * frequencyMs;
}

/**
 * A due time further away than two periods was computed before the wall clock went back: it is recomputed, so that no
 * run is lost.
 */
export function isBeyondGrid(instance: SyncInstance, at: Instant): boolean {
  return (
    instance.nextDueAt !== null && instance.nextDueAt > at + 2 * effectiveFrequencyMs(instance)
  );
}

function spreadMs(id: string, frequencyMs: number): number {
  const part = Number.parseInt(uuidV5(id, 'schedule').slice(0, 8), 16) / 2 ** 32;
  return Math.floor((part * frequencyMs) / 10);
}

/** Applies an event. */
export function evolveSync(state: SyncInstance | null, event: SyncEvent): SyncInstance | null {
  if (event.type === 'InstanceCreated') {
    const { type: _, at, ...born } = event;
    return { ...born, ...blank, createdAt: at };
  }
  if (state === null || event.type === 'InstanceRemoved') return null;
  switch (event.type) {
    case 'FunctionRedeployed': {
      const { models, functionVersion, frequencyMs } = event;
      const { notedAt: _, ...kept } = state;
      return { ...kept, models, functionVersion, frequencyMs };
    }
    case 'ScheduleStarted':
      return { ...state, state: 'started' };
    case 'SchedulePaused':
      return { ...state, state: 'paused' };
    case 'FrequencyChanged':
      return { ...state, frequencyOverrideMs: event.overrideMs };
    case 'DueTimeSet':
      return { ...state, nextDueAt: event.nextDueAt };
    case 'InstanceReset':
      return { ...state, ...checkpointed(state, null), lastSyncDate: null };
    case 'CheckpointSaved':
      return { ...state, ...checkpointed(state, event.checkpoint) };
    case 'CheckpointCleared':
      return { ...state, ...checkpointed(state, null) };
    case 'RunEnded':
      return afterEnd(state, event);
    default:
      return { ...state, current: evolveRun(state, event) };
  }
}

type RunStep = Extract<
  SyncEvent,
  { type: 'RunQueued' | 'RunRequeued' | 'RunStarted' | 'HeartbeatReceived' }
>;

function evolveRun(state: SyncInstance, event: RunStep): CurrentRun | null {
  const run = state.current;
  if (event.type === 'RunQueued') {
    const { runId, at, startBy, trigger, emptyCache } = event;
    const facts = { isInitial: state.lastSyncDate === null, checkpointFrom: state.checkpoint };
    const unstarted = { startedAt: null, heartbeatAt: null, runner: null };
    return {
      runId,
      attempt: 1,
      status: 'queued',
      trigger,
      queuedAt: at,
      startBy,
      emptyCache,
      ...unstarted,
      ...facts,
    };
  }
  if (run === null) return null;
  switch (event.type) {
    case 'RunRequeued': {
      const { attempt, at, startBy } = event;
      return {
        ...run,
        attempt,
        status: 'queued',
        queuedAt: at,
        startBy,
        heartbeatAt: null,
        runner: null,
      };
    }
    case 'RunStarted': {
      const { at, runner } = event;
      return { ...run, status: 'started', startedAt: run.startedAt ?? at, heartbeatAt: at, runner };
    }
    case 'HeartbeatReceived':
      return { ...run, heartbeatAt: event.at };
  }
}

function afterEnd(
  state: SyncInstance,
  event: Extract<SyncEvent, { type: 'RunEnded' }>,
): SyncInstance {
  const { runId, attempt, status, at: endedAt, error } = event;
  const startedAt = state.current?.startedAt ?? endedAt;
  const counts = Object.fromEntries(
    event.counts.map(({ model, added, updated, deleted }) => [model, { added, updated, deleted }]),
  );
  const isInitial = state.current?.isInitial ?? false;
  const { positions } = event;
  const last = { runId, attempt, status, startedAt, endedAt, isInitial, counts, error, positions };
  const lastSyncDate = status === 'succeeded' ? startedAt : state.lastSyncDate;
  const isNoted = state.models.every((one) => positions.some(({ model }) => model === one));
  return { ...state, current: null, last, lastSyncDate, ...(isNoted ? { notedAt: endedAt } : {}) };
}

function checkpointed(state: SyncInstance, checkpoint: JsonObject | null) {
  return { checkpoint, checkpointVersion: state.checkpointVersion + 1 };
}

const blank = {
  state: 'paused',
  frequencyOverrideMs: null,
  nextDueAt: null,
  checkpoint: null,
  checkpointVersion: 0,
  lastSyncDate: null,
  current: null,
  last: null,
} as const;
