import {
  commandTo,
  type DecisionMeta,
  type EntityDefinition,
  type EntityPath,
  type EntityRef,
  type PublicMessage,
} from '#control-plane/entity.ts';
import { counted } from '#kernel/counted.ts';
import { joinKey } from '#kernel/ids.ts';
import { scrub } from '#kernel/scrub.ts';
import type { Instant } from '#kernel/time.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import { runQueueRef, type RunQueueEntity } from '../run-queues/ref.ts';
import { runsAhead } from '../run-queues/run-queue.ts';
import {
  micros,
  quietEntry,
  quietStep,
  waitingEntry,
  type RunStep,
} from '../runs/ledger/events.ts';
import { action, actionDueAt, kindOf, type ActionCommand } from './decider.ts';
import type { ActionEvent } from './events.ts';
import type { ActionRun, CalledKind, JoinedWebhooks } from './state.ts';

export interface ActionRunEntity {
  readonly kind: 'action-run';
  readonly state: ActionRun;
  readonly command: ActionCommand;
  readonly event: ActionEvent;
  readonly topic: 'svc.runs.v1';
  readonly facts: { readonly ahead: number };
}

export const actionRunRef = (ref: {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly runId: string;
}): EntityRef<ActionRunEntity> => ({
  kind: 'action-run',
  scope: joinKey(ref.environmentUid, ref.integrationKey, ref.connectionId),
  path: [ref.environmentUid, ref.runId],
});

/** What a view finds an invoked run by: the scope is that of its connection. */
export const actionRunPath = (
  environmentUid: string,
  runId: string,
): EntityPath<ActionRunEntity> => ({ kind: 'action-run', path: [environmentUid, runId] });

/** The entity of invoked runs (`action-run`). */
export const actionRunEntity: EntityDefinition<ActionRunEntity> = {
  kind: 'action-run',
  decider: action,
  dueAt: actionDueAt,

  facts(command, _ref, siblings) {
    if (command.type !== 'Queue' || command.concurrency === undefined) return {};
    const ahead = runsAhead(siblings.find(queueOf(command)), command.concurrency);
    return ahead === null ? {} : { ahead };
  },

  follow(event, before) {
    if (event.type === 'ActionQueued' && event.concurrency !== undefined) {
      const { runId, concurrency } = event;
      return [commandTo(queueOf(event), { type: 'Enter', runId, concurrency })];
    }
    if (event.type === 'ActionEnded' && before?.concurrency !== undefined) {
      return [commandTo(queueOf(before), { type: 'Leave', runId: before.runId })];
    }
    return [];
  },

  publishes: { 'svc.runs.v1': true },
  publish(event, before, after, meta) {
    const subject = after ?? before;
    const step = subject === null ? null : runStep(event, subject, meta);
    if (subject === null || step === null) return [];
    return [message(step, subject, meta.ref.scope)];
  },
};

/** The queue of a run whose function has a concurrency. */
const queueOf = ({
  kind = 'action',
  name,
  ...run
}: Pick<ActionRun, 'environmentUid' | 'integrationKey' | 'connectionId' | 'name'> & {
  readonly kind?: CalledKind | undefined;
}): EntityRef<RunQueueEntity> => runQueueRef(connectionPathOf(run), { kind, name });

function message(step: RunStep, subject: ActionRun, scope: string): PublicMessage<'svc.runs.v1'> {
  const { environmentUid, integrationKey: integration, connectionId, runId } = subject;
  return {
    topic: 'svc.runs.v1',
    key: joinKey(environmentUid, integration, connectionId, runId),
    partitionBy: scope,
    type: `svc.run.${step.action}`,
    environmentUid,
    integration,
    connectionId,
    runId,
    value: { ...step },
  };
}

function runStep(event: ActionEvent, subject: ActionRun, { at }: DecisionMeta): RunStep | null {
  const base = {
    ...quietStep,
    kind: kindOf(subject),
    function: subject.name,
    function_version: subject.functionVersion,
    attempt: subject.attempt,
    connection_uid: subject.connectionUid,
    models: subject.models ?? [],
    trigger: triggerOf(subject),
    start_by: micros(subject.startBy),
    started_at: subject.startedAt === null ? null : micros(subject.startedAt),
    input_hash: subject.inputHash,
    body_partition: subject.input?.partition ?? null,
    body_offset: subject.input?.offset ?? null,
    log_id: subject.runId,
  };
  switch (event.type) {
    case 'ActionQueued': {
      const started_at = event.isTaken === true ? micros(at) : null;
      const timeline = [
        ...(event.joined === undefined ? [] : [joins(event.joined, at)]),
        ...(event.ahead === undefined ? [] : [waits(subject, event.ahead, at)]),
      ];
      return { ...base, action: 'queued', started_at, timeline };
    }
    case 'ActionAdmitted':
      return { ...base, action: 'admitted' };
    case 'ActionRequeued':
      return { ...base, action: 'queued' };
    case 'ActionStarted':
      return { ...base, action: 'started' };
    case 'ActionEnded': {
      const { status, output, outputHash, error, counts = [], positions = [] } = event;
      const duration_ms =
        subject.startedAt === null ? null : Math.max(0, event.at - subject.startedAt);
      const body_partition = output?.partition ?? null;
      const body_offset = output?.offset ?? null;
      const error_code = error?.code ?? null;
      const error_message = error === null ? null : scrub(error.message);
      const payloads = { output_hash: outputHash, body_partition, body_offset };
      const failed = { error_code, error_message, failure: error?.detail ?? null };
      const end = { ...payloads, ...failed, duration_ms, counts, positions };
      return { ...base, ...end, action: status };
    }
    case 'ActionHeartbeatReceived':
    case 'ActionForgotten':
      return null;
  }
}

const waits = (
  { concurrency }: ActionRun,
  ahead: number,
  at: Instant,
): RunStep['timeline'][number] => ({
  ...quietEntry,
  at: micros(at),
  what: waitingEntry,
  message: `${concurrency} of its function already run on the connection; ${ahead} wait before it`,
});

const joins = ({ webhooks }: JoinedWebhooks, at: Instant): RunStep['timeline'][number] => ({
  ...quietEntry,
  at: micros(at),
  what: 'joined',
  message: counted(webhooks, 'webhook'),
});

function triggerOf(subject: ActionRun): string {
  const { event, isAsync } = subject;
  if (kindOf(subject) === 'webhook') return 'webhook';
  if (kindOf(subject) === 'on-change') return 'change';
  if (kindOf(subject) === 'dryrun') return 'api';
  return event ?? (isAsync ? 'async' : 'api');
}
