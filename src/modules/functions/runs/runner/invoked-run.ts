import { findCaughtUp } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { retrying } from '#kernel/retry.ts';
import { scrub } from '#kernel/scrub.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { WriteOrigin } from '#modules/records/write/writer.ts';
import type { Operation } from '#ports/operation-log.ts';
import { actionRunRef, type ActionRunEntity } from '../../actions/entity.ts';
import { outputJson } from '../../actions/output.ts';
import type { DeployedFunction } from '../../functions/function.ts';
import { streamOf } from '../../syncs/reconcile.ts';
import type { SyncInstance } from '../../syncs/state.ts';
import type { CalledRun } from '../invocation/direct-runs.ts';
import type { BodyOwner } from '../invocation/payload-store.ts';
import type { BodyPlace, RunChanged } from '../ledger/events.ts';
import { createDryRun, type DryRunOrder } from '../runtime/dry-run-calls.ts';
import type { HostRun } from '../runtime/open-host.ts';
import {
  executeUntilDecided,
  attempted,
  deployedTarget,
  isStale,
  keepAlive,
  logEnd,
  runUserCode,
  type Ending,
  type RunDeps,
  connectionOf,
} from './attempt.ts';
import { finishRun, type FinishedRun } from './finish-run.ts';
import { refOfSync } from './sync-run.ts';

export const refOfInvoked = (change: CalledRun) =>
  actionRunRef({
    environmentUid: change.environment_id,
    integrationKey: change.integration ?? '',
    connectionId: change.connection_id ?? '',
    runId: change.run_id ?? '',
  });

const ownerOf = (change: CalledRun): BodyOwner => ({
  runId: change.run_id ?? '',
  environmentUid: change.environment_id,
  connectionUid: change.connection_uid,
});

/** The input as JSON text; undefined when the caller sent none. Read while the owner decides on the start. */
export async function inputOf(deps: RunDeps, change: RunChanged): Promise<string | undefined> {
  const { body_partition: partition, body_offset: offset } = change;
  if (partition === null || offset === null) return undefined;
  return deps.payloads.get(ownerOf(change), 'input', { partition, offset });
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
  (deps: RunDeps, change: CalledRun, closing: AbortSignal): InvokedWith['keepBody'] =>
  (json) =>
    retrying(() => deps.payloads.put(ownerOf(change), 'output', json), { signal: closing }).catch(
      bodyLost,
    );

/**
 * Runs one attempt of an action, an on-event function or a webhook, from its `started` to its outcome. Resolves with
 * whether the owner has accepted this outcome; never throws.
 */
export async function invokeRun(
  deps: RunDeps,
  change: CalledRun,
  { input, depth, keepBody }: InvokedWith,
  abort: AbortController,
  closing: AbortSignal,
): Promise<boolean> {
  const { attempt } = change;
  const actor = `run:${change.run_id ?? ''}`;
  const ref = refOfInvoked(change);
  const operation = beginLog(deps, change);
  const body: CommandOf<ActionRunEntity> = { type: 'Heartbeat', attempt };
  using _ = keepAlive(deps, { ref, body, actor, isDirect: true }, abort);
  const { signal } = abort;
  const settled = await settledOf(deps, change, { input, depth, operation, signal });
  return await report(deps, change, settled, { operation, keepBody, closing });
}

interface InvocationInput {
  readonly input: Promise<string | undefined>;
  readonly operation: Operation;
  readonly signal: AbortSignal;
}

async function settledOf(
  deps: RunDeps,
  change: CalledRun,
  input: InvocationInput & { readonly depth: number },
): Promise<FinishedRun> {
  if (change.kind === 'webhook') return performWebhook(deps, change, input);
  if (change.kind !== 'dryrun') return perform(deps, change, input);
  return { ending: await performDryRun(deps, change, input), counts: [], positions: [] };
}

async function perform(
  deps: RunDeps,
  change: CalledRun,
  supplied: InvocationInput & { readonly depth: number },
): Promise<FinishedRun> {
  const { input, ...shown } = supplied;
  const ending = await attempted(deps, async () => {
    const { connection, fn } = await deployedTarget(deps, change);
    const json = await input;
    const host = { ...runOf(change), connection, fn, instance: null, ...shown };
    return runUserCode(deps, host, json);
  });
  return { ending, counts: [], positions: [] };
}

/** The handle is that of the sync, on its base variant: its saves are counted like a sync's. */
async function performWebhook(
  deps: RunDeps,
  change: CalledRun,
  { input, operation, signal }: InvocationInput,
): Promise<FinishedRun> {
  const run = runOf(change);
  const actor = `run:${run.runId}`;
  const origin: WriteOrigin = { ...run, syncName: change.function, actor };
  let streams: readonly Stream[] = [];
  const ending = await attempted(deps, async () => {
    const { connection, fn } = await deployedTarget(deps, change);
    const instance = await instanceOf(deps, change);
    streams = instance.models.map((model) => streamOf(instance, model));
    const json = await input;
    const host = { ...run, connection, fn, instance, depth: 0, operation, signal };
    return runUserCode(deps, host, json);
  });
  const hasSucceeded = ending.kind === 'ok';
  return finishRun(deps, { streams, origin, ending, hasSucceeded }, signal);
}

const runOf = (change: CalledRun) => ({
  kind: change.kind,
  runId: change.run_id ?? '',
  attempt: change.attempt,
});

/** @throws GatewayError `script_aborted` */
async function instanceOf(
  { control: { view } }: RunDeps,
  change: CalledRun,
): Promise<SyncInstance> {
  const instance = await findCaughtUp(view, () => view.find(refOfSync(change)));
  if (instance?.connectionUid === change.connection_uid) return instance;
  throw new GatewayError('script_aborted', { message: 'The sync was removed.' });
}

/** The name of its operation in the log that users read (docs/reference/http.md#logs-and-runs). */
function operationTypeOf({ kind, trigger }: CalledRun): string {
  if (kind === 'webhook') return 'webhook:incoming';
  return kind === 'on-event' ? `events:${(trigger ?? '').replaceAll('-', '_')}` : 'action:run';
}

const titles = {
  action: 'Action',
  'on-event': 'Function',
  webhook: 'Webhook of',
  sync: 'Sync',
  dryrun: 'Dry run of',
} as const;
const titleOf = ({ kind, function: name }: CalledRun): string => `${titles[kind]} ${name}`;

function beginLog(deps: RunDeps, change: CalledRun): Operation {
  const { log_id, run_id, environment_id, integration, connection_id } = change;
  const operation = {
    operationId: log_id,
    operationType: operationTypeOf(change),
    functionName: change.function,
    runId: run_id ?? '',
    environmentUid: environment_id,
    integration: integration ?? '',
    connectionId: connection_id ?? '',
  };
  return deps.logs.begin(operation, `${titleOf(change)} started`);
}

interface ReportContext extends Pick<InvokedWith, 'keepBody'> {
  readonly operation: Operation;
  readonly closing: AbortSignal;
}

async function report(
  deps: RunDeps,
  change: CalledRun,
  { ending, counts, positions }: FinishedRun,
  { operation, keepBody, closing }: ReportContext,
): Promise<boolean> {
  const { attempt } = change;
  const runId = change.run_id ?? '';
  const { status, error, json } = endOf(ending);
  let isTaken = false;
  try {
    const body = await keepBody(json);
    const fields: CommandOf<ActionRunEntity> = {
      type: 'RunEnded',
      attempt,
      status,
      error,
      output: body.place,
      outputHash: body.hash,
      ...(change.kind === 'webhook' ? { counts, positions } : {}),
    };
    await executeUntilDecided(
      deps,
      { ref: refOfInvoked(change), actor: `run:${runId}`, body: fields, isDirect: true },
      closing,
    );
    isTaken = true;
  } catch (failure) {
    if (!isStale(failure))
      deps.logger.warn({ err: failure, runId }, 'the end of a run was not taken');
  }
  if (ending.kind === 'interrupted')
    operation.end('failed', error?.message ?? '', { isInterrupted: true });
  else operation.end(...logEnd(ending, titleOf(change)));
  return isTaken;
}

/** The key was destroyed with the connection: the run still ends, without a body. */
function bodyLost(error: unknown): KeptBody {
  if (error instanceof GatewayError && error.code === 'not_found')
    return { place: null, hash: null };
  throw error;
}

function endOf(ending: Ending) {
  if (ending.kind === 'ok') {
    return {
      status: 'succeeded',
      error: null,
      json: outputJson({ output: ending.output }),
    } as const;
  }
  const isInterrupted = ending.kind === 'interrupted';
  const error = isInterrupted ? new GatewayError('run_interrupted') : ending.error;
  const status = isInterrupted ? 'interrupted' : ending.status;
  const failure = { code: error.code, message: scrub(error.message) };
  return { status, error: failure, json: outputJson({ error }) } as const;
}

/** A dry run: its requests reach the provider, its writes are discarded. The output is `{output, result}`. */
async function performDryRun(
  deps: RunDeps,
  change: CalledRun,
  supplied: Pick<HostRun, 'operation' | 'signal'> & { readonly input: Promise<string | undefined> },
): Promise<Ending> {
  const { operation, signal } = supplied;
  return attempted(deps, async () => {
    const connection = await connectionOf(deps, change);
    // It was made of this type, and sealed.
    const order = parseRawJson((await supplied.input) ?? '{}') as DryRunOrder;
    const definition = await deps.sandbox.describe(order.bundle, 'dryrun.js');
    if (definition.type !== order.functionType) {
      const message = `The code is of the type ${definition.type}, not ${order.functionType}.`;
      throw new GatewayError('invalid_request', { message });
    }
    const fn = tried(order, connection, Object.keys(definition.models));
    const dryRun = { kind: 'dryrun', runId: change.run_id ?? '', attempt: change.attempt } as const;
    const run = { ...dryRun, connection, fn, instance: null, depth: 0, operation, signal };
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

/** The function in the format of a deployed one. */
function tried(
  { functionType, bundle }: DryRunOrder,
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
    deployedAt: 0,
  };
}
