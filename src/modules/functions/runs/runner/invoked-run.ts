import { findCaughtUp } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { retrying } from '#kernel/retry.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { Operation, OperationType } from '#ports/operation-log.ts';
import { actionRunRef, type ActionRunEntity } from '../../actions/entity.ts';
import { outputJson } from '../../actions/output.ts';
import type { JoinedWebhooks } from '../../actions/state.ts';
import { functionTypeOf, type DeployedFunction } from '../../functions/function.ts';
import { streamOf } from '../../syncs/reconcile.ts';
import type { SyncInstance } from '../../syncs/state.ts';
import { requireRecording } from '../invocation/recordings.ts';
import type { Attempt, BodyPlace } from '../ledger/events.ts';
import { createDryRun, type DryRunOrder } from '../runtime/dry-run-calls.ts';
import type { HostRun } from '../runtime/open-host.ts';
import { createReplayCalls, type ReplayOrder } from '../runtime/replay-calls.ts';
import { differenceOf } from '../runtime/replay-difference.ts';
import {
  executeUntilDecided,
  attempted,
  deployedTarget,
  isStale,
  keepAlive,
  logEnd,
  outcomeOf,
  reportedFailure,
  runUserCode,
  type Ending,
  type RunDeps,
  connectionOf,
} from './attempt.ts';
import { finishRun, originOf, type FinishedRun } from './finish-run.ts';
import { refOfSync } from './sync-run.ts';

/** The input as JSON text; undefined when the caller sent none. Read while the owner decides on the start. */
export async function inputOf(deps: RunDeps, attempt: Attempt): Promise<string | undefined> {
  return attempt.input === null ? undefined : deps.payloads.get(attempt, 'input', attempt.input);
}

/** How many bodies of joined webhooks are read at the same time. */
const readsMax = 16;

/** The payload of joined webhooks as JSON text: the newest body, or a list of all. */
export async function joinedInput(
  deps: RunDeps,
  attempt: Attempt,
  { payload, inputs }: JoinedWebhooks,
): Promise<string> {
  const bodies: string[] = [];
  for (let at = 0; at < inputs.length; at += readsMax) {
    const some = inputs.slice(at, at + readsMax).map(({ runId, place }) => {
      const { environmentUid, connectionUid } = attempt;
      return deps.payloads.get({ runId, environmentUid, connectionUid }, 'input', place);
    });
    bodies.push(...(await Promise.all(some)));
  }
  return payload === 'last' ? (bodies.at(-1) ?? 'null') : `[${bodies.join(',')}]`;
}

/** Position of the body of an outcome, and its keyed hash. */
interface KeptBody {
  readonly place: BodyPlace | null;
  readonly hash: string | null;
}

export interface InvokedWith {
  readonly input: Promise<string | undefined>;
  readonly depth: number;
  /** Caches the body of the outcome for waiting callers. */
  readonly keepBody: (json: string) => Promise<KeptBody>;
}

/** Stores the body of an outcome on the log. */
export const onLog =
  (deps: RunDeps, attempt: Attempt, closing: AbortSignal): InvokedWith['keepBody'] =>
  (json) =>
    retrying(() => deps.payloads.put(attempt, 'output', json), { signal: closing }).catch(bodyLost);

/**
 * Runs one attempt of an action, an on-event or on-change function, or a webhook, from its `started` to its outcome. Resolves with
 * whether the owner has accepted this outcome; never throws.
 */
export async function invokeRun(
  deps: RunDeps,
  attempt: Attempt,
  { input, depth, keepBody }: InvokedWith,
  abort: AbortController,
  closing: AbortSignal,
): Promise<boolean> {
  const { actor } = attempt;
  const ref = actionRunRef(attempt);
  const operation = beginLog(deps, attempt);
  const body: CommandOf<ActionRunEntity> = { type: 'Heartbeat', attempt: attempt.number };
  using _ = keepAlive(deps, { ref, body, actor }, abort);
  const { signal } = abort;
  const settled = await settledOf(deps, attempt, { input, depth, operation, signal });
  return await report(deps, attempt, settled, { operation, keepBody, closing });
}

interface InvocationInput {
  readonly input: Promise<string | undefined>;
  readonly operation: Operation;
  readonly signal: AbortSignal;
}

async function settledOf(
  deps: RunDeps,
  attempt: Attempt,
  input: InvocationInput & { readonly depth: number },
): Promise<FinishedRun> {
  if (attempt.kind === 'webhook') return performWebhook(deps, attempt, input);
  if (attempt.kind !== 'dryrun') return perform(deps, attempt, input);
  return { ending: await performDryRun(deps, attempt, input), counts: [], positions: [] };
}

async function perform(
  deps: RunDeps,
  attempt: Attempt,
  supplied: InvocationInput & { readonly depth: number },
): Promise<FinishedRun> {
  const { input, ...shown } = supplied;
  const ending = await attempted(deps, async () => {
    const { connection, fn } = await deployedTarget(deps, attempt);
    const json = await input;
    const host = { attempt, connection, fn, instance: null, ...shown };
    return runUserCode(deps, host, json);
  });
  return { ending, counts: [], positions: [] };
}

/** The handle is that of the sync, on its base variant: its saves are counted like a sync's. */
async function performWebhook(
  deps: RunDeps,
  attempt: Attempt,
  { input, operation, signal }: InvocationInput,
): Promise<FinishedRun> {
  const origin = originOf(attempt);
  let streams: readonly Stream[] = [];
  const ending = await attempted(deps, async () => {
    const { connection, fn } = await deployedTarget(deps, attempt);
    const instance = await instanceOf(deps, attempt);
    streams = instance.models.map((model) => streamOf(instance, model));
    const json = await input;
    const host = { attempt, connection, fn, instance, depth: 0, operation, signal };
    return runUserCode(deps, host, json);
  });
  const hasSucceeded = ending.kind === 'ok';
  return finishRun(deps, { streams, origin, ending, hasSucceeded }, signal);
}

/** @throws GatewayError `script_aborted` */
async function instanceOf({ control: { view } }: RunDeps, attempt: Attempt): Promise<SyncInstance> {
  const instance = await findCaughtUp(view, () => view.find(refOfSync(attempt)));
  if (instance?.connectionUid === attempt.connectionUid) return instance;
  throw new GatewayError('script_aborted', { message: 'The sync was removed.' });
}

/** The name of its operation in the log that users read (docs/reference/http.md#logs-and-runs). */
function operationTypeOf({ kind, trigger }: Attempt): OperationType {
  if (kind === 'webhook') return 'webhook:incoming';
  if (kind === 'on-change') return 'change:run';
  return kind === 'on-event' ? `events:${(trigger ?? '').replaceAll('-', '_')}` : 'action:run';
}

const titles = {
  action: 'Action',
  'on-event': 'Function',
  'on-change': 'Function',
  webhook: 'Webhook of',
  sync: 'Sync',
  dryrun: 'Dry run of',
} as const;
const titleOf = ({ kind, functionName }: Attempt): string => `${titles[kind]} ${functionName}`;

function beginLog(deps: RunDeps, attempt: Attempt): Operation {
  const { operationId, functionName, runId, environmentUid, connectionId } = attempt;
  const operation = {
    operationId,
    operationType: operationTypeOf(attempt),
    functionName,
    runId,
    environmentUid,
    integration: attempt.integrationKey,
    connectionId,
  };
  return deps.logs.begin(operation, `${titleOf(attempt)} started`);
}

interface ReportContext extends Pick<InvokedWith, 'keepBody'> {
  readonly operation: Operation;
  readonly closing: AbortSignal;
}

async function report(
  deps: RunDeps,
  attempt: Attempt,
  { ending, counts, positions }: FinishedRun,
  { operation, keepBody, closing }: ReportContext,
): Promise<boolean> {
  const { runId, actor } = attempt;
  const { status, error, json } = await endOf(deps, attempt, ending);
  let isTaken = false;
  try {
    const body = await keepBody(json);
    const fields: CommandOf<ActionRunEntity> = {
      type: 'RunEnded',
      attempt: attempt.number,
      status,
      error,
      output: body.place,
      outputHash: body.hash,
      ...(attempt.kind === 'webhook' ? { counts, positions } : {}),
    };
    await executeUntilDecided(deps, { ref: actionRunRef(attempt), actor, body: fields }, closing);
    isTaken = true;
  } catch (failure) {
    if (!isStale(failure))
      deps.logger.warn({ err: failure, runId }, 'the end of a run was not taken');
  }
  if (ending.kind === 'interrupted')
    operation.end('failed', error?.message ?? '', { isInterrupted: true });
  else operation.end(...logEnd(ending, titleOf(attempt)));
  return isTaken;
}

/** The key was destroyed with the connection: the run still ends, without a body. */
function bodyLost(error: unknown): KeptBody {
  if (error instanceof GatewayError && error.code === 'not_found')
    return { place: null, hash: null };
  throw error;
}

async function endOf(deps: RunDeps, attempt: Attempt, ending: Ending) {
  if (ending.kind === 'ok') {
    return {
      status: 'succeeded',
      error: null,
      json: outputJson({ output: ending.output }),
    } as const;
  }
  if (ending.kind === 'interrupted') {
    const error = new GatewayError('run_interrupted');
    const failure = { code: error.code, message: error.message };
    return { status: 'interrupted', error: failure, json: outputJson({ error }) } as const;
  }
  const { status, error, detail } = ending;
  const json = outputJson({ error, runId: attempt.runId, ...(detail && { detail }) });
  return { status, error: await reportedFailure(deps, attempt, ending), json } as const;
}

/** A dry run: its requests reach the provider, its writes are discarded. The output is `{output, result}`. */
async function performDryRun(
  deps: RunDeps,
  attempt: Attempt,
  supplied: Pick<HostRun, 'operation' | 'signal'> & { readonly input: Promise<string | undefined> },
): Promise<Ending> {
  const { operation, signal } = supplied;
  return attempted(deps, async () => {
    const connection = await connectionOf(deps, attempt);
    // It was made of this type, and sealed.
    const order = parseRawJson((await supplied.input) ?? '{}') as DryRunOrder | ReplayOrder;
    if ('replayOf' in order) return performReplay(deps, { attempt, connection, order }, supplied);
    const definition = await deps.sandbox.describe(order.bundle, 'dryrun.js');
    if (definition.type !== order.functionType) {
      const message = `The code is of the type ${definition.type}, not ${order.functionType}.`;
      throw new GatewayError('invalid_request', { message });
    }
    const fn = tried(order, connection, Object.keys(definition.models));
    const run = { attempt, connection, fn, instance: null, depth: 0, operation, signal };
    const input = order.input === undefined ? undefined : JSON.stringify(order.input);
    let result = {};
    const ending = await runUserCode(deps, run, input, ({ calls, context, mask }) => {
      const dry = createDryRun(calls, connection, order, mask);
      result = dry;
      const { models } = fn;
      const { lastSyncDate = null } = order;
      return {
        calls: dry.calls,
        context: { ...context, models, lastSyncDate, loggerLevel: 'debug' },
      };
    });
    if (ending.kind !== 'ok') return ending;
    const left = (result as ReturnType<typeof createDryRun>).result();
    const output: Json = ending.output === undefined ? null : (parseRawJson(ending.output) as Json);
    return { kind: 'ok', output: JSON.stringify({ output, result: left }) };
  });
}

/**
 * A replay: the code runs on what was recorded of another run, and the output is the difference. It succeeds also where
 * the code fails, as the recorded code may have.
 */
async function performReplay(
  deps: RunDeps,
  run: { readonly attempt: Attempt; readonly connection: Connection; readonly order: ReplayOrder },
  { operation, signal }: Pick<HostRun, 'operation' | 'signal'>,
): Promise<Ending> {
  const { attempt, connection, order } = run;
  const { environmentUid } = connection;
  const { bundle, kind, entry, replayOf } = order;
  const recorded = await requireRecording(deps.payloads, { ...replayOf, environmentUid });
  const { recording } = recorded;
  const definition = await deps.sandbox.describe(bundle, 'replay.js');
  if (definition.type !== functionTypeOf(kind)) {
    const message = `The code is of the type ${definition.type}; the run was one of a function of the kind ${kind}.`;
    throw new GatewayError('invalid_request', { message });
  }
  const models = kind === 'sync' ? Object.keys(definition.models) : recording.context.models;
  const fn = tried({ functionType: kind, bundle }, connection, models);
  const replay = createReplayCalls(recording);
  const host = { attempt, connection, fn, instance: null, depth: 0, operation, signal, entry };
  const ending = await runUserCode(deps, host, recording.input ?? undefined, () => ({
    calls: replay.calls,
    context: { ...recording.context, models },
  }));
  if (ending.kind === 'interrupted') return ending;
  const difference = differenceOf(recording, replay, outcomeOf(ending));
  const result = { run_id: replayOf.runId, attempt: recorded.attempt, ...difference };
  return { kind: 'ok', output: JSON.stringify({ output: null, result }) };
}

/** The function in the format of a deployed one. */
function tried(
  {
    functionType,
    bundle,
  }: { readonly functionType: DeployedFunction['kind']; readonly bundle: string },
  { environmentUid, integrationKey }: Connection,
  models: readonly string[],
): DeployedFunction {
  return {
    id: 0,
    environmentUid,
    integrationKey,
    kind: functionType,
    name: 'dryrun',
    description: '',
    version: '',
    isEnabled: true,
    bundle,
    source: '',
    contentHash: '',
    models,
    jsonSchema: {},
    inputModel: null,
    scopes: [],
    features: [],
    frequency: null,
    autoStart: false,
    trackDeletes: false,
    syncType: 'full',
    webhookSubscriptions: [],
    event: null,
    isInputValidated: true,
    deployedAt: 0,
  };
}
