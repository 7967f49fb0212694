import type {
  DecisionMeta,
  EntityDefinition,
  EntityRef,
  PublicMessage,
} from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import { scrub } from '#kernel/scrub.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { connectionRef, type ConnectionPath } from '#modules/connections/connections/entity.ts';
import { formatFrequency } from '../functions/frequency.ts';
import { micros, quietStep, type RunAction, type RunStep } from '../runs/ledger/events.ts';
import { sync, syncDueAt, type SyncCommand } from './decider.ts';
import type { SyncEvent } from './events.ts';
import { effectiveFrequencyMs, type CurrentRun, type SyncInstance } from './state.ts';

export interface SyncEntity {
  readonly kind: 'sync';
  readonly state: SyncInstance;
  readonly command: SyncCommand;
  readonly event: SyncEvent;
  readonly topic: 'svc.syncs.v1' | 'svc.runs.v1';
  readonly facts: { readonly isConnectionLive: boolean };
  readonly index: 'id' | 'run';
}

export const syncRef = (
  connection: ConnectionPath,
  name: string,
  variant: string,
): EntityRef<SyncEntity> => ({
  kind: 'sync',
  scope: joinKey(...connection),
  path: [...connection, name, variant],
});

/** How the owner treats syncs of connections (`sync` entities). */
export const syncEntity: EntityDefinition<SyncEntity> = {
  kind: 'sync',
  indexes: {
    id: ({ id }) => id,
    run: ({ current }) => current?.runId ?? null,
  },
  decider: sync,
  dueAt: syncDueAt,

  facts(command, ref, siblings) {
    if (command.type !== 'Create') return {};
    const [environmentUid = '', integrationKey = '', connectionId = ''] = ref.path;
    const connection = siblings.find(connectionRef(environmentUid, integrationKey, connectionId));
    if (connection?.uid !== command.connectionUid) return { isConnectionLive: false };
    return { isConnectionLive: !connection.isDeleting };
  },

  publishes: { 'svc.syncs.v1': true, 'svc.runs.v1': true },
  publish(event, before, after, meta) {
    const subject = after ?? before;
    if (subject === null) return [];
    return [...syncMessages(event, subject, meta), ...runMessages(event, before, subject, meta)];
  },
};

const syncActions: Partial<Record<SyncEvent['type'], string>> = {
  InstanceCreated: 'enabled',
  InstanceRemoved: 'disabled',
  FunctionRedeployed: 'redeployed',
  ScheduleStarted: 'started',
  SchedulePaused: 'paused',
  FrequencyChanged: 'frequency_changed',
  InstanceReset: 'reset',
  CheckpointSaved: 'checkpoint_saved',
  CheckpointCleared: 'checkpoint_cleared',
};

function syncMessages(
  event: SyncEvent,
  subject: SyncInstance,
  meta: DecisionMeta,
): PublicMessage<'svc.syncs.v1'>[] {
  const isTriggered = event.type === 'RunQueued' && event.trigger === 'api';
  const action = isTriggered ? 'triggered' : syncActions[event.type];
  if (action === undefined) return [];
  const base = {
    topic: 'svc.syncs.v1' as const,
    key: joinKey(...meta.ref.path),
    partitionBy: meta.ref.scope,
    type: `svc.sync.${action}`,
    ...about(subject),
  };
  const { syncName, variant, connectionUid, models, state, checkpoint, nextDueAt } = subject;
  const value = {
    sync_name: syncName,
    variant,
    action,
    connection_uid: connectionUid,
    models,
    frequency: formatFrequency(effectiveFrequencyMs(subject)),
    state,
    checkpoint: text(checkpoint),
    next_due_at: nextDueAt === null ? null : micros(nextDueAt),
  };
  const message = { ...base, value };
  return event.type === 'InstanceRemoved' ? [message, { ...base, value: null }] : [message];
}

function runMessages(
  event: SyncEvent,
  before: SyncInstance | null,
  subject: SyncInstance,
  meta: DecisionMeta,
): PublicMessage<'svc.runs.v1'>[] {
  const step = runStep(event, before, subject);
  if (step === null) return [];
  const { runId, ...fields } = step;
  return [
    {
      topic: 'svc.runs.v1',
      key: joinKey(...meta.ref.path.slice(0, 3), runId),
      partitionBy: meta.ref.scope,
      type: `svc.run.${fields.action}`,
      runId,
      ...about(subject),
      value: { ...fields },
    },
  ];
}

function runStep(
  event: SyncEvent,
  before: SyncInstance | null,
  after: SyncInstance,
): (RunStep & { readonly runId: string }) | null {
  if (event.type === 'RunEnded') {
    const run = before?.current ?? null;
    const { status: action, at, counts, positions, error } = event;
    const { startedAt } = run ?? { startedAt: null };
    const duration_ms = startedAt === null ? null : Math.max(0, at - startedAt);
    const error_code = error?.code ?? null;
    const error_message = error === null ? null : scrub(error.message);
    const checkpoint_to = text(before?.checkpoint ?? null);
    const failed = { error_code, error_message, failure: error?.detail ?? null };
    const end = { counts, positions, duration_ms, ...failed, checkpoint_to };
    return {
      ...ofRun(run, after),
      ...end,
      action,
      runId: event.runId,
      attempt: event.attempt,
      log_id: event.runId,
    };
  }
  const action = runActions[event.type];
  const run = after.current;
  if (action === undefined || run === null) return null;
  const step = { action, runId: run.runId, attempt: run.attempt, log_id: run.runId };
  const isTaken = event.type === 'RunQueued' && event.isTaken === true;
  return { ...ofRun(run, after), ...step, ...(isTaken ? { started_at: micros(event.at) } : {}) };
}

const runActions: Partial<Record<SyncEvent['type'], RunAction>> = {
  RunQueued: 'queued',
  RunRequeued: 'queued',
  RunStarted: 'started',
};

function ofRun(run: CurrentRun | null, instance: SyncInstance) {
  const { syncName, functionVersion, connectionUid, variant, models } = instance;
  const base = {
    ...quietStep,
    kind: 'sync',
    function: syncName,
    function_version: functionVersion,
  } as const;
  const ref = { connection_uid: connectionUid, variant, models };
  if (run === null) return { ...base, ...ref };
  return {
    ...base,
    ...ref,
    trigger: run.trigger,
    start_by: micros(run.startBy),
    empty_cache: run.emptyCache,
    is_initial: run.isInitial,
    started_at: run.startedAt === null ? null : micros(run.startedAt),
    checkpoint_from: text(run.checkpointFrom),
  };
}

const text = (value: JsonObject | null): string | null =>
  value === null ? null : JSON.stringify(value);

const about = (instance: SyncInstance) => ({
  environmentUid: instance.environmentUid,
  integration: instance.integrationKey,
  connectionId: instance.connectionId,
});
