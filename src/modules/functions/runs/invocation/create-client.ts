import { randomUUID } from 'node:crypto';
import { type ControlPlane, findCaughtUp } from '#control-plane/control-plane.ts';
import type { CommandOf, EntityPath } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import type { Json } from '#kernel/stable-json.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { actionRunPath, type ActionRunEntity } from '#modules/functions/actions/entity.ts';
import { kindOf } from '../../actions/decider.ts';
import { actionRunRef } from '../../actions/entity.ts';
import { readOutput } from '../../actions/output.ts';
import type { ActionRun, CalledKind } from '../../actions/state.ts';
import type { DeployedFunction } from '../../functions/function.ts';
import { requireFunction } from '../../functions/queries.ts';
import { actorOf, type Attempt, type BodyPlace, type RunChanged } from '../ledger/events.ts';
import type { DryRunOrder } from '../runtime/dry-run-calls.ts';
import type { ReplayOrder } from '../runtime/replay-calls.ts';
import type {
  ActionRequest,
  ChangesRequest,
  EventRequest,
  RunsClient,
  WebhookRequest,
} from './client.ts';
import type { DirectRuns, TakenRun } from './direct-runs.ts';
import { joinWebhook } from './join-webhook.ts';
import type { BodyOwner, PayloadStore } from './payload-store.ts';
import { requireRecording } from './recordings.ts';
import type { RunCompletions } from './run-completions.ts';
import { triggerSyncs } from './trigger-syncs.ts';

export interface RunsClientDeps {
  readonly control: ControlPlane;
  readonly payloads: PayloadStore;
  readonly ends: RunCompletions;
  readonly direct: DirectRuns;
}

const unknownAction = {
  message: 'The action run does not exist or was deleted.',
  fix: 'Send the id from the response of POST /action/trigger, and a key of the same environment.',
};
const runningAction = {
  message: 'The action has not finished yet.',
  fix: 'Repeat the request later, or wait for the webhook of type async_action.',
};

/** Time between the deadline of a run and the detection of a crashed runner. */
const noticeMs = 90_000;
/** Start deadline, run time, and the minute until a crashed runner is detected. */
const actionWaitMs = limits.actionStartByMs + limits.actionRunMaxMs + noticeMs;
const eventWaitMs = limits.eventStartByMs + limits.eventRunMaxMs + noticeMs;

export function createRunsClient(deps: RunsClientDeps): RunsClient {
  return {
    async triggerAction(request, signal) {
      const runTarget = await findRunTarget(deps.control, request);
      const { name, input, actor, depth = 0, runId } = request;
      const called = { ...runTarget, kind: 'action', name, input, actor, depth } as const;
      return awaited(deps, called, { signal, waitMs: actionWaitMs, runId });
    },

    triggerSyncs: (wanted, how, options) => triggerSyncs(deps, wanted, how, options),

    async queueAction(request, { retries }) {
      const ground = await findRunTarget(deps.control, request);
      const { name, input, actor, depth = 0, runId = randomUUID() } = request;
      const called = { ...ground, kind: 'action', name, input, actor, depth } as const;
      await queue(deps, called, { runId, isAsync: true, retries });
      return runId;
    },

    async actionOutput(environmentUid, runId) {
      const { view } = deps.control;
      const ref = actionRunPath(environmentUid, runId);
      const run = await findCaughtUp(view, () => view.find(ref));
      if (run === null || kindOf(run) !== 'action')
        throw new GatewayError('not_found', unknownAction);
      if (run.endedAt === null) throw new GatewayError('not_found', runningAction);
      const { connectionUid, output, error } = run;
      return readEnd(deps.payloads, { runId, environmentUid, connectionUid }, output, error);
    },

    async actionInput(ref) {
      const json = await deps.payloads.find(ref, 'input');
      return json === null ? undefined : (parseRawJson(json) as Json);
    },

    openText: (owner, sealed) => deps.payloads.openText(owner, sealed),

    async runEvent(request, signal) {
      const { runId } = request;
      await awaited(deps, eventCall(request), { signal, waitMs: eventWaitMs, runId });
    },

    async runEventOnce(request, runId, signal) {
      await queue(deps, eventCall(request), { runId, isAsync: true });
      await endOf(deps.control, actionRunPath(request.connection.environmentUid, runId), signal);
    },

    queueWebhook: (request, runId) => queueWebhook(deps, request, runId),

    runChanges: (request, runId, signal) => runOnChanges(deps, request, runId, signal),

    async queueDryRun({ connection, order, actor, runId = randomUUID() }) {
      const run = { kind: 'dryrun', name: 'dryrun', event: eventOfOrder(order) } as const;
      // Absent fields of the request stay absent.
      const input = order as unknown as Json;
      const called = { ...run, connection, fn: { version: '' }, input, actor };
      await queue(deps, called, { runId, isAsync: true });
      return runId;
    },

    recordedRun: (sought) => requireRecording(deps.payloads, sought),

    async dryRunOutput({ runId, environmentUid, connectionUid, output, error }) {
      return readEnd(deps.payloads, { runId, environmentUid, connectionUid }, output, error);
    },
  };
}

async function queueWebhook(
  deps: RunsClientDeps,
  request: WebhookRequest,
  runId: string,
): Promise<string> {
  const { connection, fn, payload, actor } = request;
  if (fn.debounce !== undefined) return joinWebhook(deps, request, fn.debounce, runId);
  const { name, models } = fn;
  const called = { connection, fn, kind: 'webhook', name, models, actor } as const;
  await queue(deps, { ...called, input: payload }, { runId, isAsync: true });
  return runId;
}

const eventOfOrder = (order: DryRunOrder | ReplayOrder): string =>
  'replayOf' in order ? order.kind : order.functionType;

async function runOnChanges(
  deps: RunsClientDeps,
  { connection, fn, changes, actor }: ChangesRequest,
  runId: string,
  signal: AbortSignal,
): Promise<ActionRun> {
  const { name, models } = fn;
  const input = parseRawJson(`[${changes.join(',')}]`) as Json;
  const called = { connection, fn, kind: 'on-change', name, models, actor, input } as const;
  await queue(deps, called, { runId, isAsync: true });
  const ref = actionRunPath(connection.environmentUid, runId);
  await endOf(deps.control, ref, signal);
  const run = deps.control.view.find(ref);
  if (run === null) throw new GatewayError('run_interrupted');
  return run;
}

const eventCall = ({ connection, fn, event, actor }: EventRequest) =>
  ({ connection, fn, kind: 'on-event', name: fn.name, event, actor, input: undefined }) as const;

/**
 * Queues the run, or starts it in this process if a slot is free, and resolves with its output. With an existing
 * `runId` the output is that of the existing run.
 * @throws GatewayError the error of the run; `script_aborted`: the caller disconnected; `execution_timeout`
 */
async function awaited(
  deps: RunsClientDeps,
  call: FunctionCall,
  options: {
    readonly signal: AbortSignal;
    readonly waitMs: number;
    readonly runId?: string | undefined;
  },
): Promise<Json | undefined> {
  const { ends, payloads, direct } = deps;
  const { signal, waitMs, runId = randomUUID() } = options;
  const isKept = options.runId !== undefined;
  // A run that may have to wait needs its input on the log.
  const isDirect = call.fn.concurrency === undefined;
  using taken = isDirect ? direct.take(firstAttempt(call, runId)) : null;
  const deadline = AbortSignal.timeout(waitMs);
  const settled = new AbortController();
  const end = ends.next(runId, AbortSignal.any([signal, deadline, settled.signal]));
  // A refused command is thrown before the outcome is awaited.
  end.catch(() => undefined);
  try {
    const run = await queue(deps, call, { runId, isAsync: false, isKept, taken });
    if (run?.endedAt != null) return await keptOutput(payloads, run);
    return await firstOutput(payloads, end, taken);
  } catch (error) {
    if (deadline.aborted) throw new GatewayError('execution_timeout', {}, { cause: error });
    if (signal.aborted && error === signal.reason) {
      const message = 'The caller disconnected.';
      throw new GatewayError('script_aborted', { message }, { cause: error });
    }
    throw error;
  } finally {
    settled.abort();
  }
}

interface RunTarget {
  readonly connection: Connection;
  readonly fn: DeployedFunction;
}

/** @throws GatewayError `unknown_connection` and `unknown_provider_config` (400), `not_found`, `disabled_resource` */
async function findRunTarget(control: ControlPlane, request: ActionRequest): Promise<RunTarget> {
  const { environmentUid, integrationKey, connectionId, name } = request;
  const where = [control, environmentUid, integrationKey] as const;
  const connection = await requireConnection(...where, connectionId, { status: 400 });
  const fn = await requireFunction(...where, 'action', name);
  if (!fn.isEnabled) throw new GatewayError('disabled_resource');
  return { connection, fn };
}

/** An invoked function with its input. */
interface FunctionCall {
  readonly connection: Connection;
  readonly fn: Pick<DeployedFunction, 'version' | 'concurrency'>;
  readonly kind: CalledKind;
  readonly name: string;
  readonly event?: string;
  readonly models?: readonly string[];
  readonly input: Json | undefined;
  readonly actor: string;
  readonly depth?: number;
}

/** As a message about it would say, if it started in another process. */
function firstAttempt(
  { connection, kind, name, event = 'api' }: FunctionCall,
  runId: string,
): Attempt {
  const { environmentUid, integrationKey, connectionId, uid: connectionUid } = connection;
  return {
    kind,
    runId,
    number: 1,
    actor: actorOf(runId),
    operationId: runId,
    functionName: name,
    variant: 'base',
    trigger: event,
    environmentUid,
    integrationKey,
    connectionId,
    connectionUid,
    startBy: null,
    input: null,
    emptyCache: false,
  };
}

interface QueuedRun {
  readonly runId: string;
  readonly isAsync: boolean;
  /** Its outcome is kept for repeated requests. */
  readonly isKept?: boolean;
  readonly retries?: number;
  /** Starts when it is queued. */
  readonly taken?: TakenRun | null;
}

/**
 * Resolves with the run in the owner's state, which may have existed before.
 * @throws GatewayError `request_too_large`
 */
async function queue(
  deps: RunsClientDeps,
  call: FunctionCall,
  run: QueuedRun,
): Promise<ActionRun | null> {
  const { connection, fn, kind, name, event, models, actor } = call;
  const { environmentUid, integrationKey, connectionId, uid: connectionUid } = connection;
  const { runId, isAsync, isKept = false, retries = 0, taken = null } = run;
  const json = call.input === undefined ? null : JSON.stringify(call.input);
  if (kind === 'action' && json !== null && Buffer.byteLength(json) > limits.actionInputBytesMax) {
    throw new GatewayError('request_too_large', {
      message: 'The input of an action exceeds 2 MB of JSON.',
    });
  }
  const owner = { runId, environmentUid, connectionUid };
  const input = await keepInput(deps.payloads, owner, json, taken);
  const payloadOwner = { runId, environmentUid, integrationKey, connectionId };
  const body: CommandOf<ActionRunEntity> = {
    type: 'Queue',
    ...payloadOwner,
    kind,
    ...(event === undefined ? {} : { event }),
    ...(models === undefined ? {} : { models }),
    connectionUid,
    name,
    functionVersion: fn.version,
    isAsync,
    ...(isKept ? { isKept } : {}),
    ...(fn.concurrency === undefined ? {} : { concurrency: fn.concurrency }),
    depth: call.depth ?? 0,
    retriesLeft: retries,
    input: input?.place ?? null,
    inputHash: input?.hash ?? null,
    ...(taken === null ? {} : { runner: taken.runner }),
  };
  // A local run is not looked up in the view: it continues here.
  const queued = await deps.control.execute(actionRunRef(payloadOwner), body, {
    actor,
    isViewAwaited: taken === null,
    isDirect: true,
  });
  if (queued?.status === 'started' && queued.runner === taken?.runner) {
    taken.begin({ input: json ?? undefined, depth: body.depth, isKept });
    if (json !== null) deps.payloads.keep(owner, 'input', json);
  }
  return queued;
}

/**
 * The output of a run that had finished before the repeated request.
 * @throws GatewayError the error of the run
 */
async function keptOutput(payloads: PayloadStore, run: ActionRun): Promise<Json | undefined> {
  const { runId, environmentUid, connectionUid, output, error } = run;
  // The run has finished, but its output is lost.
  if (output === null && error === null) throw new GatewayError('run_interrupted');
  return readEnd(payloads, { runId, environmentUid, connectionUid }, output, error);
}

/** A local run gets its input directly; it is stored beside the run, which does not wait for it. */
async function keepInput(
  payloads: PayloadStore,
  owner: BodyOwner,
  json: string | null,
  taken: TakenRun | null,
): Promise<{ readonly place: BodyPlace | null; readonly hash: string } | null> {
  if (json === null) return null;
  if (taken !== null) return { place: null, hash: payloads.hash(json) };
  return payloads.put(owner, 'input', json);
}

/** The runner of this process may know the outcome before the view of this node. */
function firstOutput(
  payloads: PayloadStore,
  end: Promise<RunChanged>,
  taken: TakenRun | null,
): Promise<Json | undefined> {
  const outputs = [end.then((ended) => outputOf(payloads, ended, taken))];
  if (taken !== null) outputs.push(taken.ended.then(({ json }) => readOutput(json)));
  return Promise.race(outputs);
}

async function outputOf(
  payloads: PayloadStore,
  end: RunChanged,
  taken: TakenRun | null,
): Promise<Json | undefined> {
  taken?.stop();
  const own = taken?.end ?? null;
  // The owner may have ended the run before it received the outcome.
  if (own !== null && own.hash === end.output_hash) return readOutput(own.json);
  const { run_id, environment_id: environmentUid, connection_uid: connectionUid } = end;
  const { body_partition: partition, body_offset: offset, error_code: code } = end;
  const position = partition === null || offset === null ? null : { partition, offset };
  const error = code === null ? null : { code, message: end.error_message ?? '' };
  return readEnd(payloads, { runId: run_id ?? '', environmentUid, connectionUid }, position, error);
}

/** The body contains the complete error; an outcome without one (a crashed runner) has only its code. */
async function readEnd(
  payloads: PayloadStore,
  owner: Parameters<PayloadStore['get']>[0],
  bodyPlace: BodyPlace | null,
  error: { readonly code: string; readonly message: string } | null,
): Promise<Json | undefined> {
  if (bodyPlace !== null) return readOutput(await payloads.get(owner, 'output', bodyPlace));
  if (error === null) return undefined;
  throw GatewayError.from({ code: error.code, details: { message: error.message } });
}

/** Resolves when this node knows that the asynchronous run has ended. @throws the signal's reason */
async function endOf(
  { view }: ControlPlane,
  ref: EntityPath<ActionRunEntity>,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<null>();
  const look = (): void => {
    const run = view.find(ref);
    if (run === null || run.endedAt !== null) resolve(null);
  };
  const give = (): void => reject(signal.reason as Error);
  const stop = view.onChange([ref], look);
  signal.addEventListener('abort', give, { once: true });
  if (signal.aborted) give();
  look();
  try {
    await promise;
  } finally {
    stop();
    signal.removeEventListener('abort', give);
  }
}
