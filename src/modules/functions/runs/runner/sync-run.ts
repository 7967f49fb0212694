import type { CommandOf } from '#control-plane/entity.ts';
import type { Clock } from '#kernel/time.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import { runNotedMs, type Stream } from '#modules/records/model/stream.ts';
import type { Operation } from '#ports/operation-log.ts';
import { runLimits } from '#rules/run-limits.ts';
import { deletePassesOf } from '../../functions/function.ts';
import { syncRef, type SyncEntity } from '../../syncs/entity.ts';
import { streamOf } from '../../syncs/reconcile.ts';
import type { SyncInstance } from '../../syncs/state.ts';
import type { BodyOwner } from '../invocation/payload-store.ts';
import type { Attempt } from '../ledger/events.ts';
import { RunTimeBudget } from '../runtime/run-time-budget.ts';
import {
  executeUntilDecided,
  attempted,
  deployedTarget,
  logEnd,
  isStale,
  keepAlive,
  reportedFailure,
  runUserCode,
  type AttemptResult,
  type Ending,
  type Report,
  type RunDeps,
} from './attempt.ts';
import { finishRun, originOf, type FinishedRun } from './finish-run.ts';

/** How long a stopping runner tries to release a run; after that the owner detects missing heartbeats. */
const releaseWithinMs = 5_000;

export const refOfSync = (attempt: Attempt) =>
  syncRef(connectionPathOf(attempt), attempt.functionName, attempt.variant);

/** Runs one attempt of a sync from its `started` to its end. Never throws. */
export async function runSync(
  deps: RunDeps,
  attempt: Attempt,
  instance: SyncInstance,
  abort: AbortController,
  closing: AbortSignal,
): Promise<void> {
  const { runId, actor, functionName, operationId } = attempt;
  const ref = refOfSync(attempt);
  deps.faultPoint?.('runs:after-start');
  const sync = { operationId, operationType: 'sync:run' as const, runId };
  const where = { environmentUid: instance.environmentUid, integration: instance.integrationKey };
  const operation = deps.logs.begin(
    { ...sync, ...where, connectionId: instance.connectionId, functionName },
    `Sync ${functionName} started`,
  );
  const named = { runId, attempt: attempt.number };
  using _ = keepAlive(deps, { ref, body: { type: 'Heartbeat', ...named }, actor }, abort);

  const run = { attempt, instance, signal: abort.signal };
  const outcome = await perform(deps, run, operation);
  if (outcome.ending.kind === 'interrupted') {
    operation.end('failed', 'The run was interrupted; it is tried again', {
      isInterrupted: true,
    });
    const body: CommandOf<SyncEntity> = { type: 'Release', ...named };
    const soon = AbortSignal.any([closing, AbortSignal.timeout(releaseWithinMs)]);
    await report(deps, { ref, body, actor }, soon);
    return;
  }
  const { ending, counts, positions, goesOn } = outcome;
  const result = { counts, positions, ...(await statusOf(deps, attempt, ending)), goesOn };
  const body: CommandOf<SyncEntity> = { type: 'RunEnded', ...named, ...result };
  deps.faultPoint?.('runs:before-end');
  await report(deps, { ref, body, actor }, closing);
  deps.faultPoint?.('runs:after-end');
  operation.end(...logEnd(ending, `Sync ${functionName}`));
}

interface SyncAttempt {
  readonly attempt: Attempt;
  readonly instance: SyncInstance;
  readonly signal: AbortSignal;
}

/** `goesOn`: its time was used up, and the next run must continue at once. */
async function perform(
  deps: RunDeps,
  run: SyncAttempt,
  operation: Operation,
): Promise<FinishedRun & { readonly goesOn: boolean }> {
  const { attempt, instance, signal } = run;
  const origin = originOf(attempt);
  const streams = instance.models.map((model) => streamOf(instance, model));
  const budget = new RunTimeBudget(deps.clock, runLimits.sync.wallMs);
  const started: StreamsEnding = await attempted(deps, () =>
    runOnStreams(deps, run, { operation, budget, streams }),
  );
  const isUsedUp = started.kind === 'failed' && budget.isEndedBy(started.error);
  const ending = isUsedUp ? ({ kind: 'ok', output: undefined } as const) : started;
  const hasSucceeded = ending.kind === 'ok' && !isUsedUp;
  if (hasSucceeded && started.isUntouched === true) {
    return { ending, counts: streams.map(({ model }) => ({ model, ...noCounts })), ...untouched };
  }
  const settled = await finishRun(deps, { streams, origin, ending, hasSucceeded }, signal);
  return { ...settled, goesOn: isUsedUp && settled.ending.kind === 'ok' };
}

/** `isUntouched`: neither this run nor an earlier one has left anything in its streams that a barrier must end. */
type StreamsEnding = Ending & { readonly isUntouched?: boolean };

async function runOnStreams(
  deps: RunDeps,
  { attempt, instance, signal }: SyncAttempt,
  context: {
    readonly operation: Operation;
    readonly budget: RunTimeBudget;
    readonly streams: readonly Stream[];
  },
): Promise<StreamsEnding> {
  const { streams, ...kept } = context;
  const origin = originOf(attempt);
  const { connection, fn } = await deployedTarget(deps, attempt);
  // A later attempt with a checkpoint continues: the records of the earlier one must stay.
  if (attempt.emptyCache && instance.checkpoint === null) {
    await Promise.all(streams.map((stream) => deps.records.empty(stream, attempt.actor)));
  }
  const isResumed = instance.checkpoint !== null;
  const isFull = fn.trackDeletes && fn.syncType === 'full' && !isResumed;
  const passes = deletePassesOf(fn);
  if (isFull || passes === 'run') {
    await Promise.all(
      streams.map((stream) => deps.records.runPassStart(stream, origin, { isResumed })),
    );
  }
  const usedModels = new Set<string>();
  const host = { attempt, connection, fn, instance, depth: 0, ...kept, usedModels, signal };
  const ending = await runUserCode(deps, host);
  if (isFull && ending.kind === 'ok') {
    await Promise.all(streams.map((stream) => deps.records.runPassEnd(stream, origin)));
  }
  const startsNoPass = !isFull && passes === 'none';
  const isUntouched =
    startsNoPass && usedModels.size === 0 && leavesNothing(attempt, instance, deps.clock);
  return { ...ending, isUntouched };
}

/** Of a run that has sent no command to its streams, and does not continue. */
const untouched = { positions: [], goesOn: false };
const noCounts = { added: 0, updated: 0, deleted: 0, unchanged: 0 };

/**
 * Whether a run that sends no command to its streams may end without their barriers: no earlier attempt has sent one,
 * the run before was complete, and the streams have noted a run recently, for their retention.
 */
function leavesNothing(
  { number, emptyCache }: Attempt,
  { last, notedAt }: SyncInstance,
  clock: Pick<Clock, 'now'>,
): boolean {
  const isNoted = notedAt !== undefined && Math.abs(clock.now() - notedAt) < runNotedMs;
  return number === 1 && !emptyCache && last?.status === 'succeeded' && isNoted;
}

async function statusOf(deps: RunDeps, owner: BodyOwner, ending: AttemptResult) {
  if (ending.kind === 'ok') return { status: 'succeeded', error: null } as const;
  return { status: ending.status, error: await reportedFailure(deps, owner, ending) };
}

/** An attempt that the owner no longer has reports nothing. */
async function report(deps: RunDeps, to: Report<SyncEntity>, signal: AbortSignal): Promise<void> {
  try {
    await executeUntilDecided(deps, to, signal);
  } catch (error) {
    if (!isStale(error))
      deps.logger.warn({ err: error, command: to.body.type }, 'a report of a run was not taken');
  }
}
