import { setTimeout } from 'node:timers/promises';
import { findCaughtUp, type ControlPlane } from '#control-plane/control-plane.ts';
import type { EntityRef } from '#control-plane/entity.ts';
import type { Caller } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import { type ActionRunEntity, actionRunPath } from '#modules/functions/actions/entity.ts';
import { type SyncEntity, syncEntity } from '#modules/functions/syncs/entity.ts';
import type { EventLog } from '#ports/event-log.ts';
import { activeGeneration } from '#streams/projector/active-generation.ts';
import { storedPositions } from '#streams/projector/positions.ts';
import { kindOf } from '../../actions/decider.ts';
import { actionRunRef } from '../../actions/entity.ts';
import { hasEnded } from './presenter.ts';
import { runs } from './projection.ts';
import { stepsOf, type StepRow } from './queries.ts';

interface Deps extends EntityQueries {
  readonly log: EventLog;
}

const tableWaitMs = 2_000;
const tablePollMs = 50;

/** The steps of one run, at least one. */
export type RunRows = readonly [StepRow, ...StepRow[]];

/**
 * The steps of a run, at least as new as the log at the call. The table follows the log: a webhook or a response may
 * announce the run before the table has it. Steps that differ from the state of the run in the control plane are
 * therefore read again, and those of a run that it does not have (unknown, ended, or a revert) until the table has
 * reached the end of the log, for at most two seconds.
 * @throws GatewayError `not_found`, `projection_unavailable`, `log_unavailable`
 */
export async function requireSteps(
  deps: Deps,
  { environmentUid }: Pick<Caller, 'environmentUid'>,
  runId: string,
  options: { readonly withProgress: boolean },
): Promise<RunRows> {
  const rows = await currentSteps(deps, environmentUid, runId, options);
  if (rows !== null) return rows;
  throw new GatewayError('not_found', { message: `The run "${runId}" does not exist.` });
}

/** Null for a run that is not in the table. */
async function currentSteps(
  deps: Deps,
  environmentUid: string,
  runId: string,
  options: { readonly withProgress: boolean },
): Promise<RunRows | null> {
  const deadline = performance.now() + tableWaitMs;
  let ends: readonly number[] | null = null;
  for (;;) {
    // Before the rows are read: they contain everything up to there.
    const isCurrent = ends !== null && (await hasReached(deps, ends));
    const rows = await stepsOf(deps, environmentUid, [runId], options);
    const found = isSome(rows) ? rows : null;
    if (isCurrent || (found !== null && hasEnded(found))) return found;
    const view = deps.control.view;
    const running = await findCaughtUp(view, () => runningOf(deps.control, environmentUid, runId));
    if (running === null) ends ??= await deps.log.endOffsets(runs.topic);
    else if (found !== null) return found;
    if (performance.now() > deadline) return found;
    await setTimeout(tablePollMs);
  }
}

/** Whether the table contains everything before the ends of the partitions. */
async function hasReached({ control, tables }: Deps, ends: readonly number[]): Promise<boolean> {
  const { name } = runs.tableSet(activeGeneration(control.view, runs));
  const positions = (await storedPositions(tables, [name])).get(name);
  return ends.every((end, partition) => (positions?.get(partition) ?? 0) >= end);
}

export const isSome = (rows: readonly StepRow[]): rows is RunRows => rows.length > 0;

/** A queued or started run in the view of this node. */
export function runningOf(
  { view }: ControlPlane,
  environmentUid: string,
  runId: string,
): { readonly ref: EntityRef<SyncEntity | ActionRunEntity>; readonly isOfSync: boolean } | null {
  const sync = view.findBy(syncEntity, 'run', runId);
  if (sync?.state.environmentUid === environmentUid) return { ref: sync.ref, isOfSync: true };
  const called = view.find(actionRunPath(environmentUid, runId));
  if (called === null || called.endedAt !== null) return null;
  return { ref: actionRunRef(called), isOfSync: kindOf(called) === 'webhook' };
}
