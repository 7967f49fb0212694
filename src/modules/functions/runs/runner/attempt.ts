import type { Logger } from 'pino';
import { type ControlPlane, findCaughtUp } from '#control-plane/control-plane.ts';
import type { CommandOf, EntityRef, EntityTypes } from '#control-plane/entity.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import { currentTrace, inSpan, inTrace, type SpanDescription } from '#control-plane/trace.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Mask } from '#kernel/mask.ts';
import { retrying } from '#kernel/retry.ts';
import { scrub } from '#kernel/scrub.ts';
import { connectionRef } from '#modules/connections/connections/entity.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import type { OperationState, OperationLogs } from '#ports/operation-log.ts';
import {
  missingEntry,
  type EntryPoint,
  type HostCall,
  type HostCalls,
  type RunFailure,
  type RunResult,
  type Sandbox,
} from '#ports/sandbox.ts';
import { callerError } from '#rules/caller-error.ts';
import { droppedText } from '#rules/dropped-lines.ts';
import { locationSuffix, type FailureDetail } from '#rules/failure-detail.ts';
import { locateFailure, type FailedCode } from '#rules/locate-failure.ts';
import { runLimits } from '#rules/run-limits.ts';
import { functionRef } from '../../functions/entity.ts';
import { functionTypeOf, type DeployedFunction } from '../../functions/function.ts';
import type { RunFailure as ReportedFailure } from '../../syncs/events.ts';
import type { EndStatus } from '../../syncs/state.ts';
import type { BodyOwner, PayloadStore } from '../invocation/payload-store.ts';
import { missingText } from '../invocation/recordings.ts';
import type { Attempt } from '../ledger/events.ts';
import { scrubFailure } from '../ledger/failure.ts';
import type { Timeline, Timelines } from '../ledger/timeline.ts';
import { CallRecorder } from '../runtime/call-recorder.ts';
import type { HostRun, OpenedHost } from '../runtime/open-host.ts';
import type { RecordedOutcome } from '../runtime/recording.ts';

export interface RunDeps extends ProcessPorts {
  readonly control: ControlPlane;
  readonly records: RecordWriter;
  readonly sandbox: Sandbox;
  readonly payloads: PayloadStore;
  readonly logs: OperationLogs;
  readonly timelines: Timelines;
  /** @throws GatewayError when the run cannot get its inputs, for example the connection's key. */
  openHost(run: HostRun): Promise<OpenedHost>;
  /** Heartbeat interval of a started run; default 15 s. */
  readonly heartbeatMs?: number;
  /** `runs:after-start`, `runs:before-end`, `runs:after-end`: around the reports of a sync. */
  readonly faultPoint?: (name: string) => void;
}

const heartbeatMs = 15_000;
/** How long a runner may fail to report before it gives the run up, earlier than another one takes it. */
const silenceMaxMs = 50_000;

/** A command to the owner of the run. */
export interface Report<E extends EntityTypes> {
  readonly ref: EntityRef<E>;
  readonly body: CommandOf<E>;
  readonly actor: string;
}

/** The outcome of an attempt, before it is reported to the owner. */
export type Ending =
  | AttemptResult
  /** The run did not cause it: a sync is queued again. */
  | { readonly kind: 'interrupted' };
export type AttemptResult =
  | { readonly kind: 'ok'; readonly output: string | undefined }
  | {
      readonly kind: 'failed';
      readonly status: EndStatus;
      readonly error: GatewayError;
      /** Of the code of the function. Absent: none of it failed. */
      readonly detail?: FailureDetail;
    };

type AttemptRun = Omit<HostRun, 'timeline'> & {
  /** Of a replay; otherwise by the kind of the run. */
  readonly entry?: EntryPoint;
};

type Dress = Pick<OpenedHost, 'calls' | 'context'>;

/** Runs the user's code of one attempt; never throws. `dress` changes its host. */
export function runUserCode(
  deps: RunDeps,
  run: AttemptRun,
  input?: string,
  dress: (host: OpenedHost) => Dress = (host) => host,
): Promise<Ending> {
  return inSpan(
    () => spanOf(run),
    async (span) => {
      const ending = await runInSandbox(deps, run, input, dress);
      if (ending.kind === 'failed') span?.fail(ending.error.code);
      if (ending.kind === 'interrupted') span?.fail('run_interrupted');
      return ending;
    },
  );
}

const spanOf = ({ attempt, fn }: AttemptRun): SpanDescription => ({
  name: `run ${attempt.kind} ${fn.name}`,
  kind: 'internal',
  attributes: {
    'svc.run.id': attempt.runId,
    'svc.run.kind': attempt.kind,
    'svc.run.attempt': attempt.number,
    'svc.function': fn.name,
    'svc.integration': fn.integrationKey,
  },
});

async function runInSandbox(
  deps: RunDeps,
  run: AttemptRun,
  input: string | undefined,
  dress: (host: OpenedHost) => Dress,
): Promise<Ending> {
  try {
    const { fn, signal } = run;
    const { kind } = run.attempt;
    const timeline = timelineOf(deps, run);
    await using host = await deps.openHost({ ...run, timeline });
    const fileName = `${fn.integrationKey}/${fn.name}.js`;
    const entry = run.entry ?? (kind === 'webhook' ? 'onWebhook' : 'exec');
    const how = { fileName, entry, limits: runLimits[kind] } as const;
    const recorder = recorderOf(deps, run);
    const dressed = dress(host);
    const { context } = dressed;
    const calls = recorder?.recorded(dressed.calls, host.mask) ?? dressed.calls;
    const checkpoint = recorder === null ? 'null' : await checkpointOf(dressed.calls);
    const type = functionTypeOf(run.fn.kind);
    const wanted = { ...how, type, input, bundle: fn.bundle, context, signal };
    const result = await deps.sandbox.run(wanted, inCurrentTrace(calls));
    const ending = endingOfRun(run, { result, entry, fileName, mask: host.mask });
    if (result.dropped !== undefined) {
      const message = droppedText(result.dropped);
      run.operation.write('info', message);
      timeline({ what: 'log', level: 'info', message });
    }
    if (recorder !== null && ending.kind !== 'interrupted') {
      const { contentHash, version: functionVersion } = fn;
      const past = { contentHash, functionVersion, context, input: input ?? null, checkpoint };
      const kept = await recorder.end({ ...past, outcome: outcomeOf(ending) });
      timeline({ what: 'recorded', count: kept.calls, message: priceOf(kept) });
    }
    return ending;
  } catch (error) {
    return failedBy(error, deps.logger);
  }
}

/** The outcome of the code, before any other step of the run. */
function endingOfRun(
  run: AttemptRun,
  ended: {
    readonly result: RunResult;
    readonly entry: EntryPoint;
    readonly fileName: string;
    readonly mask: Mask;
  },
): Ending {
  const { fn, attempt, signal } = run;
  const { result, entry, fileName, mask } = ended;
  if (result.status === 'ok') return { kind: 'ok', output: result.output };
  const { error } = result;
  if (attempt.kind === 'webhook' && error.code === missingEntry) return unheard(run, error);
  const located = locateFailure(error, { ...codeOf(fn, fileName), called: entry });
  return endingOf(mask.data({ failure: error, detail: located }), signal);
}

/** Null: the calls of the function are not recorded. */
function recorderOf({ payloads }: RunDeps, { attempt, fn }: AttemptRun): CallRecorder | null {
  if (fn.recordsCalls !== true) return null;
  return new CallRecorder((number, bytes) =>
    payloads.putCalls(attempt, { attempt: attempt.number, number, bytes }),
  );
}

async function checkpointOf({ getCheckpoint }: HostCalls): Promise<string> {
  const answer = await getCheckpoint?.('{}');
  return typeof answer === 'string' ? answer : 'null';
}

/** What a recording keeps of the outcome, and a replay compares with it. */
export function outcomeOf(ending: AttemptResult): RecordedOutcome {
  if (ending.kind === 'ok') {
    return { status: 'succeeded', output: ending.output ?? null, error: null };
  }
  const { code, message } = ending.error;
  return { status: ending.status, output: null, error: { code, message } };
}

/** What recording a run costs, for its timeline. */
const priceOf = ({ bytes, missing }: Awaited<ReturnType<CallRecorder['end']>>): string =>
  `${bytes} bytes are kept of its calls for ${limits.runBodiesKeptDays} days${missing === null ? '' : `; incomplete: ${missingText[missing]}`}`;

/** The messages of a sandbox process arrive outside of any trace: its calls belong to that of their run. */
function inCurrentTrace(calls: HostCalls): HostCalls {
  const trace = currentTrace();
  const bound = Object.entries(calls).map(([name, call]): [string, HostCall] => [
    name,
    (args) => inTrace(trace, () => call(args)),
  ]);
  return Object.fromEntries(bound);
}

function timelineOf(
  { timelines }: Pick<RunDeps, 'timelines'>,
  { attempt, connection, fn, instance }: AttemptRun,
): Timeline {
  const { environmentUid, integrationKey, connectionId, uid: connectionUid } = connection;
  return timelines.of({
    kind: attempt.kind,
    runId: attempt.runId,
    attempt: attempt.number,
    functionName: fn.name,
    functionVersion: fn.version,
    variant: instance?.variant ?? 'base',
    models: instance?.models ?? [],
    environmentUid,
    integrationKey,
    connectionId,
    connectionUid,
  });
}

/** An error of ours ends the run with its code; anything else is a bug: logged completely, shown without its text. */
function failedBy(error: unknown, logger: Logger): Ending {
  const isInterrupted = error instanceof GatewayError && error.code === 'run_interrupted';
  return isInterrupted ? { kind: 'interrupted' } : failedAttempt(error, logger);
}

/** Runs the steps of an attempt; an error becomes its outcome. */
export async function attempted<E extends Ending>(
  { logger }: { readonly logger: Logger },
  task: () => Promise<E>,
): Promise<E | Ending> {
  try {
    return await task();
  } catch (error) {
    return failedBy(error, logger);
  }
}

export function failedAttempt(error: unknown, logger: Logger): AttemptResult {
  if (error instanceof GatewayError) {
    const status = error.code === 'script_aborted' ? 'cancelled' : 'failed';
    return { kind: 'failed', status, error };
  }
  logger.error({ err: error }, 'a run failed outside its function');
  return { kind: 'failed', status: 'failed', error: new GatewayError('server_error') };
}

/** A webhook for a sync without `onWebhook` is an error in the log, and not a failure of the sync. */
function unheard({ operation }: AttemptRun, { message }: RunFailure): Ending {
  operation.write('error', message);
  return {
    kind: 'failed',
    status: 'cancelled',
    error: new GatewayError('script_aborted', { message }),
  };
}

const folders = {
  sync: 'syncs',
  action: 'actions',
  'on-event': 'on-events',
  'on-change': 'on-changes',
} as const;

function codeOf(
  { integrationKey, kind, name, bundle, source }: DeployedFunction,
  fileName: string,
): FailedCode {
  const file = `${integrationKey}/${folders[kind]}/${name}.ts`;
  return { bundle, fileName, entry: { file, source } };
}

function endingOf(
  { failure, detail }: { readonly failure: RunFailure; readonly detail: FailureDetail },
  signal: AbortSignal,
): Ending {
  const reason: unknown = signal.reason;
  if (signal.aborted && reason instanceof GatewayError && reason.code === 'run_interrupted') {
    return { kind: 'interrupted' };
  }
  if (failure.kind === 'interrupted') return { kind: 'interrupted' };
  const ends = { aborted: 'cancelled', timeout: 'timed_out' } as const;
  const isCut = failure.kind === 'aborted' || failure.kind === 'timeout';
  const status = isCut ? ends[failure.kind] : 'failed';
  const error = callerError(failure, detail);
  return { kind: 'failed', status, error, detail: scrubFailure(detail) };
}

/** The failure as events hold it. The provider's response may hold personal data: it is destroyed with the connection. */
export async function reportedFailure(
  { payloads, logger }: Pick<RunDeps, 'payloads' | 'logger'>,
  owner: BodyOwner,
  { error, detail }: Extract<AttemptResult, { kind: 'failed' }>,
): Promise<ReportedFailure> {
  const failure = { code: error.code, message: scrub(error.message) };
  if (detail === undefined) return failure;
  const { call } = detail;
  if (call?.body == null) return { ...failure, detail };
  const sealed = await payloads.sealText(owner, call.body).catch((err: unknown) => {
    logger.debug({ err, runId: owner.runId }, 'the response in a failure was not kept');
    return null;
  });
  return { ...failure, detail: { ...detail, call: { ...call, body: sealed } } };
}

/**
 * Repeats the command until the owner has decided, over outages.
 * @throws GatewayError the refusal of the owner; the signal's reason
 */
export async function executeUntilDecided<E extends EntityTypes>(
  { control }: { readonly control: ControlPlane },
  report: Report<E>,
  signal: AbortSignal,
): Promise<E['state'] | null> {
  return retrying(() => requestReport(control, report), { signal });
}

const requestReport = <E extends EntityTypes>(
  control: ControlPlane,
  { ref, body, actor }: Report<E>,
): Promise<E['state'] | null> =>
  // The view is not used for the outcome.
  control.execute(ref, body, { actor, isDirect: true, isViewAwaited: false });

/** The owner does not have the attempt: another one runs, or the run was ended. */
export const isStale = (error: unknown): boolean =>
  error instanceof GatewayError &&
  (error.code === 'stale_attempt' || error.code === 'unknown_sync');

/**
 * Sends heartbeats until stopped. Aborts the run when the owner replies that the attempt is over, or does not reply for
 * too long.
 */
export function keepAlive<E extends EntityTypes>(
  deps: RunDeps,
  report: Report<E>,
  abort: AbortController,
): Disposable {
  let lastOk = performance.now();
  let isAsking = false;
  const beat = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    try {
      await requestReport(deps.control, report);
      lastOk = performance.now();
    } catch (error) {
      if (isStale(error)) abort.abort(new GatewayError('script_aborted'));
      else if (performance.now() - lastOk > silenceMaxMs)
        abort.abort(new GatewayError('run_interrupted'));
    } finally {
      isAsking = false;
    }
  };
  const timer = setInterval(() => void beat(), deps.heartbeatMs ?? heartbeatMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** The connection of the run. @throws GatewayError `script_aborted`: it was deleted */
export async function connectionOf(
  { control: { view } }: { readonly control: ControlPlane },
  { environmentUid, integrationKey, connectionId, connectionUid }: Attempt,
): Promise<Connection> {
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  const connection = await findCaughtUp(view, () => {
    const found = view.find(ref);
    return found?.uid === connectionUid && !found.isDeleting ? found : null;
  });
  if (connection !== null) return connection;
  throw new GatewayError('script_aborted', { message: 'The connection was deleted.' });
}

/**
 * The connection and the function as deployed now.
 * @throws GatewayError when the connection or the function was deleted
 */
export async function deployedTarget(
  deps: { readonly control: ControlPlane },
  attempt: Attempt,
): Promise<{ readonly connection: Connection; readonly fn: DeployedFunction }> {
  const { view } = deps.control;
  const connection = await connectionOf(deps, attempt);
  // A webhook is for the sync that subscribes to it.
  const kind = attempt.kind === 'webhook' ? 'sync' : attempt.kind;
  const { environmentUid, integrationKey, functionName } = attempt;
  const find = () =>
    kind === 'dryrun'
      ? null
      : view.find(functionRef(environmentUid, integrationKey, kind, functionName));
  const fn = await findCaughtUp(view, find);
  if (fn === null)
    throw new GatewayError('script_aborted', { message: 'The function was deleted.' });
  if (!fn.isEnabled) throw new GatewayError('function_disabled');
  return { connection, fn };
}

/** The log message of the outcome. `what` is for example `Sync contacts`. */
export function logEnd(ending: AttemptResult, what: string): [OperationState, string] {
  if (ending.kind === 'ok') return ['success', `${what} succeeded`];
  const states = { cancelled: 'cancelled', timed_out: 'timeout' } as const;
  const state =
    ending.status === 'cancelled' || ending.status === 'timed_out'
      ? states[ending.status]
      : 'failed';
  return [state, `${scrub(ending.error.message)}${locationSuffix(ending.detail)}`];
}
