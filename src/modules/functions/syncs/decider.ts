import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { stableJson, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { ModelPosition, ModelResult } from '#modules/records/model/events.ts';
import type { InstanceProperties, EndStatus, RunFailure, RunTrigger, SyncEvent } from './events.ts';
import { evolveSync, isBeyondGrid, slotAfter } from './state.ts';
import type { CurrentRun, SyncInstance } from './state.ts';

/** A started run without a heartbeat for this time is queued again. */
const heartbeatTimeoutMs = 60_000;
/** Number of lost attempts after which a run ends as interrupted. */
const attemptsMax = 5;

type CommandTime = { readonly at: Instant };
/** Names one attempt of one run: reports of another attempt or run are refused as stale. */
type OfAttempt = { readonly runId: string; readonly attempt: number };

/** Commands of a sync instance. The owner of the partition adds `at`. */
export type SyncCommand = CommandTime &
  (
    | ({
        readonly type: 'Create';
        readonly autoStart: boolean;
        readonly runId: string;
        /** Added by the owner: whether the connection with `connectionUid` exists and is not being deleted. */
        readonly isConnectionLive: boolean;
      } & InstanceProperties)
    | { readonly type: 'Remove' }
    | {
        readonly type: 'Redeploy';
        readonly models: readonly string[];
        readonly functionVersion: string;
        readonly frequencyMs: number;
      }
    | { readonly type: 'Start'; readonly runId: string }
    | { readonly type: 'Pause' }
    | {
        readonly type: 'Trigger';
        readonly runId: string;
        readonly reset: boolean;
        readonly emptyCache: boolean;
        /** The requesting process starts the run itself, at once. */
        readonly runner?: string;
      }
    /** Only that run, where one is named. */
    | { readonly type: 'Cancel'; readonly runId?: string }
    /** Null: the deployed frequency. */
    | { readonly type: 'SetFrequency'; readonly frequencyMs: number | null }
    | { readonly type: 'Tick' }
    | ({ readonly type: 'RunStarted'; readonly runner: string } & OfAttempt)
    | ({ readonly type: 'Heartbeat' } & OfAttempt)
    /** The runner stops and returns the run: it is queued again at once. */
    | ({ readonly type: 'Release' } & OfAttempt)
    | ({
        readonly type: 'SaveCheckpoint';
        readonly version: number;
        readonly checkpoint: JsonObject;
      } & OfAttempt)
    | ({ readonly type: 'ClearCheckpoint'; readonly version: number } & OfAttempt)
    | ({
        readonly type: 'RunEnded';
        readonly status: EndStatus;
        readonly counts: readonly ModelResult[];
        readonly positions: readonly ModelPosition[];
        readonly error: RunFailure | null;
        /** Its time budget was used up: the next run continues at once. */
        readonly goesOn?: boolean;
      } & OfAttempt)
  );

/** The rules of a sync of one connection and of its runs: one run at a time (docs/reference/functions.md#schedule). */
export const sync: Decider<SyncInstance | null, SyncCommand, SyncEvent> = {
  initial: null,
  decide(command, state) {
    if (command.type === 'Create') return create(command, state);
    if (state === null) {
      if (command.type === 'Remove' || command.type === 'Tick') return [];
      throw new GatewayError('unknown_sync', {
        message: 'The connection does not have this sync.',
      });
    }
    const events = decideLive(command, state);
    return events.some(setsDueTime) || !isBeyondGrid(state, command.at)
      ? events
      : [...events, dueAfter(state, command.at)];
  },
  evolve: evolveSync,
};

type InstanceCommand = Exclude<SyncCommand, { type: 'Create' }>;

function decideLive(command: InstanceCommand, state: SyncInstance): SyncEvent[] {
  switch (command.type) {
    case 'Remove':
      return [...cancel(state, command.at), { type: 'InstanceRemoved', at: command.at }];
    case 'Redeploy':
      return redeploy(command, state);
    case 'Start':
      if (state.state === 'started') return [];
      return [
        { type: 'ScheduleStarted' },
        dueAfter(state, command.at),
        ...queue(state, command, 'start'),
      ];
    case 'Pause':
      if (state.state === 'paused') return [];
      return [{ type: 'SchedulePaused' }, { type: 'DueTimeSet', nextDueAt: null }];
    case 'Trigger':
      return trigger(command, state);
    case 'Cancel':
      if (command.runId !== undefined && command.runId !== state.current?.runId) return [];
      return cancel(state, command.at);
    case 'SetFrequency':
      return setFrequency(command.frequencyMs, state, command.at);
    case 'Tick':
      return tick(state, command.at);
    default:
      return decideRun(command, state);
  }
}

type OfRun = Extract<InstanceCommand, OfAttempt>;

function decideRun(command: OfRun, state: SyncInstance): SyncEvent[] {
  const { runId, attempt, at } = command;
  if (
    command.type === 'RunEnded' &&
    state.last?.runId === runId &&
    state.last.attempt === attempt
  ) {
    return [];
  }
  const run = state.current;
  if (run?.runId !== runId || run.attempt !== attempt) throw new GatewayError('stale_attempt');
  switch (command.type) {
    case 'RunStarted':
      return start(command, run);
    case 'Heartbeat':
      return run.status === 'started' ? [{ type: 'HeartbeatReceived', at }] : [];
    case 'Release':
      return [requeued(run, at)];
    case 'SaveCheckpoint':
      checkVersion(command.version, state);
      return [{ type: 'CheckpointSaved', checkpoint: command.checkpoint }];
    case 'ClearCheckpoint':
      checkVersion(command.version, state);
      return [{ type: 'CheckpointCleared' }];
    case 'RunEnded': {
      const { status, counts, positions, error, goesOn = false } = command;
      return [
        { type: 'RunEnded', runId, attempt, at, status, counts, positions, error },
        ...(goesOn ? next(state, run, at) : []),
      ];
    }
  }
}

/** A requested run continues although the sync is paused. */
function next(state: SyncInstance, run: CurrentRun, at: Instant): SyncEvent[] {
  if (state.state === 'paused' && run.trigger !== 'api') return [];
  const runId = uuidV5(run.runId, 'goes on');
  return queue({ ...state, current: null }, { runId, at }, run.trigger);
}

function create(
  command: Extract<SyncCommand, { type: 'Create' }>,
  state: SyncInstance | null,
): SyncEvent[] {
  const { type: _, autoStart, runId, at, isConnectionLive, ...born } = command;
  if (!isConnectionLive) throw new GatewayError('unknown_connection');
  if (state?.connectionUid === born.connectionUid) return [];
  const before: SyncEvent[] =
    state === null ? [] : [...cancel(state, at), { type: 'InstanceRemoved', at }];
  const created: SyncEvent = { ...bornOnly(born), type: 'InstanceCreated', at };
  const instance = evolveSync(null, created);
  if (!autoStart || instance === null) return [...before, created];
  const schedule: SyncEvent[] = [{ type: 'ScheduleStarted' }, dueAfter(instance, at)];
  return [...before, created, ...schedule, ...queue(instance, { runId, at }, 'creation')];
}

/** Without the fields of the command that the event does not declare. */
function bornOnly(born: InstanceProperties): InstanceProperties {
  const { id, environmentUid, integrationKey, connectionId, connectionUid } = born;
  const { syncName, variant, models, functionVersion, frequencyMs } = born;
  return {
    id,
    environmentUid,
    integrationKey,
    connectionId,
    connectionUid,
    syncName,
    variant,
    models,
    functionVersion,
    frequencyMs,
  };
}

function redeploy(
  command: Extract<InstanceCommand, { type: 'Redeploy' }>,
  state: SyncInstance,
): SyncEvent[] {
  const { models, functionVersion, frequencyMs, at } = command;
  const isSame =
    frequencyMs === state.frequencyMs &&
    functionVersion === state.functionVersion &&
    stableJson(models) === stableJson(state.models);
  if (isSame) return [];
  const redeployed: SyncEvent = {
    type: 'FunctionRedeployed',
    models,
    functionVersion,
    frequencyMs,
  };
  return [redeployed, ...rescheduled({ ...state, frequencyMs }, state, at)];
}

function setFrequency(frequencyMs: number | null, state: SyncInstance, at: Instant): SyncEvent[] {
  if (frequencyMs !== null && frequencyMs < limits.frequencyMinMs) {
    throw new GatewayError('sync_interval_too_short');
  }
  if (frequencyMs === state.frequencyOverrideMs) return [];
  const changed: SyncEvent = { type: 'FrequencyChanged', overrideMs: frequencyMs };
  return [changed, ...rescheduled({ ...state, frequencyOverrideMs: frequencyMs }, state, at)];
}

/** A running schedule switches to the new grid when the frequency changed. */
function rescheduled(after: SyncInstance, before: SyncInstance, at: Instant): SyncEvent[] {
  if (before.state === 'paused') return [];
  const due = dueAfter(after, at);
  return due.nextDueAt === dueAfter(before, at).nextDueAt ? [] : [due];
}

function trigger(
  command: Extract<InstanceCommand, { type: 'Trigger' }>,
  state: SyncInstance,
): SyncEvent[] {
  if (!command.reset) return queue(state, command, 'api').flatMap((one) => taken(one, command));
  const cancelled = cancel(state, command.at);
  const isReset = state.checkpoint !== null || state.lastSyncDate !== null;
  const reset: SyncEvent[] = isReset ? [{ type: 'InstanceReset' }] : [];
  const idle = { ...state, current: null };
  return [...cancelled, ...reset, ...queue(idle, command, 'api', command.emptyCache)];
}

/** A queued run that the requesting process has a slot for starts in the same decision. */
function taken(
  event: SyncEvent,
  { runId, runner, at }: Extract<InstanceCommand, { type: 'Trigger' }>,
): SyncEvent[] {
  if (event.type !== 'RunQueued' || runner === undefined) return [event];
  return [
    { ...event, isTaken: true },
    { type: 'RunStarted', runId, attempt: 1, at, runner },
  ];
}

/** None while a run is queued or running: one run of an instance at a time. */
function queue(
  state: SyncInstance,
  { runId, at }: { readonly runId: string; readonly at: Instant },
  trigger: RunTrigger,
  emptyCache = false,
): SyncEvent[] {
  if (state.current !== null) return [];
  const startBy = at + limits.syncStartByMs;
  return [{ type: 'RunQueued', runId, at, startBy, trigger, emptyCache }];
}

function start(command: Extract<OfRun, { type: 'RunStarted' }>, run: CurrentRun): SyncEvent[] {
  const { runId, attempt, at, runner } = command;
  if (run.status === 'started') {
    if (run.runner === runner) return [];
    throw new GatewayError('stale_attempt');
  }
  if (at > run.startBy)
    throw new GatewayError('stale_attempt', { message: 'The run can no longer start.' });
  return [{ type: 'RunStarted', runId, attempt, at, runner }];
}

function tick(state: SyncInstance, at: Instant): SyncEvent[] {
  const overdue = state.current === null ? [] : overdueRun(state.current, at);
  if (state.nextDueAt === null || at < state.nextDueAt) return overdue;
  // A run that is due while another is running is skipped.
  const runId = uuidV5(state.id, `due ${state.nextDueAt} ${at}`);
  const isIdle = state.current === null || overdue.some((event) => event.type === 'RunEnded');
  const queued = isIdle ? queue({ ...state, current: null }, { runId, at }, 'schedule') : [];
  return [...overdue, dueAfter(state, at), ...queued];
}

/** The error of a run that did not start in time, or whose runner crashed. */
function overdueRun(run: CurrentRun, at: Instant): SyncEvent[] {
  if (run.status === 'queued') {
    if (at < run.startBy) return [];
    return [
      ended(run, at, 'failed', {
        code: 'execution_environment_unavailable',
        message: 'No runner started the run within an hour.',
      }),
    ];
  }
  if (at < silentAt(run)) return [];
  if (run.attempt < attemptsMax) return [requeued(run, at)];
  return [
    ended(run, at, 'interrupted', {
      code: 'run_interrupted',
      message: `The runner of this run crashed ${attemptsMax} times.`,
    }),
  ];
}

function requeued(run: CurrentRun, at: Instant): SyncEvent {
  const startBy = at + limits.syncStartByMs;
  return { type: 'RunRequeued', runId: run.runId, attempt: run.attempt + 1, at, startBy };
}

function cancel(state: SyncInstance, at: Instant): SyncEvent[] {
  if (state.current === null) return [];
  return [
    ended(state.current, at, 'cancelled', {
      code: 'script_aborted',
      message: 'The run was cancelled.',
    }),
  ];
}

function ended(run: CurrentRun, at: Instant, status: EndStatus, error: RunFailure): SyncEvent {
  const { runId, attempt } = run;
  return { type: 'RunEnded', runId, attempt, at, status, counts: [], positions: [], error };
}

function checkVersion(version: number, state: SyncInstance): void {
  if (version !== state.checkpointVersion) throw new GatewayError('checkpoint_conflict');
}

function dueAfter(state: SyncInstance, at: Instant) {
  return { type: 'DueTimeSet', nextDueAt: slotAfter(state, at) } as const;
}

const setsDueTime = (event: SyncEvent): boolean =>
  event.type === 'DueTimeSet' || event.type === 'InstanceRemoved';

const silentAt = (run: CurrentRun): Instant =>
  Math.max(run.heartbeatAt ?? 0, run.startedAt ?? 0, run.queuedAt) + heartbeatTimeoutMs;

/** Transitions caused by time alone: the schedule, a queued run's start deadline, a started run without heartbeats. */
export function syncDueAt(state: SyncInstance): Instant | null {
  const run = state.current;
  const runDue = run === null ? null : run.status === 'queued' ? run.startBy : silentAt(run);
  if (runDue === null || state.nextDueAt === null) return runDue ?? state.nextDueAt;
  return Math.min(runDue, state.nextDueAt);
}
