import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { findCaughtUp } from '../../../control-plane/control-plane.ts';
import type { EntityRef } from '../../../control-plane/entity.ts';
import type { Caller } from '../../../http/define-route.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { microsOf, type Micros } from '../../../kernel/time.ts';
import { actionRunRef } from '../actions/entity.ts';
import { kindOf, type ActionRun } from '../actions/state.ts';
import type { SyncInstance } from '../syncs/state.ts';
import { changesEndOf, hasEnded, presentEvents, presentRun, presentTimeline } from './presenter.ts';
import { findRuns, stepsOf, type RunFilter, type RunPlace, type StepRow } from './queries.ts';
import type { FunctionsServices } from '../services.ts';

type Deps = Pick<FunctionsServices, 'control' | 'tables' | 'clock' | 'readableRuns'>;

const dayMicros = 86_400_000_000;
const tableWaitMs = 2_000;
const tablePollMs = 50;

interface RunsRequest extends Omit<RunFilter, 'environmentUid' | 'from' | 'to' | 'actions'> {
  readonly statuses?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * A page of runs, newest first; those of the last 24 hours unless a time is named.
 * @throws GatewayError `forbidden`, `invalid_query_params`, `invalid_cursor_value`, `projection_unavailable`,
 *   `log_unavailable`
 */
export async function runsPage(deps: Deps, caller: Caller, request: RunsRequest) {
  const { statuses = [], since, until, cursor, limit, ...filter } = request;
  if (filter.connectionId === undefined && !caller.has('environment:connections:list')) {
    const message = 'Without the scope environment:connections:list, name the connection.';
    throw new GatewayError('forbidden', { message });
  }
  const now = deps.clock.nowMicros();
  const { environmentUid } = caller;
  const target = until === undefined ? now : timestampOf(until, 'until');
  const from = since === undefined ? target - dayMicros : timestampOf(since, 'since');
  const actions = statuses.map((status) => (status === 'running' ? 'started' : status));
  const after = cursor === undefined ? null : parseCursor(cursor);
  const wanted = { ...filter, environmentUid, from, to: target, actions };
  const places = await findRuns(deps, wanted, { after, limit: limit + 1 });
  const page = places.slice(0, limit);
  const runIds = page.map(({ runId }) => runId);
  const options = { withProgress: false, from: page.at(-1)?.queuedAt ?? 0 };
  const rows = await stepsOf(deps, environmentUid, runIds, options);
  const byRun = Map.groupBy(rows, ({ run_id }) => run_id);
  const runs = runIds.map((runId): readonly StepRow[] => byRun.get(runId) ?? []).filter(isSome);
  const readable = await deps.readableRuns.now(runs.map(changesEndOf));
  const data = runs.map((steps, at) => presentRun(steps, readable[at] ?? null));
  const last = places.length > limit ? page.at(-1) : undefined;
  return { data, pagination: { cursor: last === undefined ? null : textOfCursor(last) } };
}

/**
 * One run; waits until its end is in the table, if it has ended, and until its changes are readable, for at most two
 * seconds each.
 * @throws GatewayError `not_found`, `projection_unavailable`, `log_unavailable`
 */
export async function oneRun(deps: Deps, caller: Caller, runId: string) {
  const rows = await currentSteps(deps, caller, runId);
  if (!isSome(rows))
    throw new GatewayError('not_found', { message: `The run "${runId}" does not exist.` });
  const [isReadable = null] = await deps.readableRuns.soon([changesEndOf(rows)]);
  const run = presentRun(rows, isReadable);
  return { ...run, timeline: presentTimeline(rows), events: presentEvents(rows) };
}

/**
 * The table follows the log: a webhook may announce the end of a run before the table has it. Rows that differ from the
 * state of the run in the control plane are therefore read again.
 */
async function currentSteps(deps: Deps, caller: Caller, runId: string): Promise<StepRow[]> {
  const deadline = performance.now() + tableWaitMs;
  for (;;) {
    const rows = await stepsOf(deps, caller.environmentUid, [runId], { withProgress: true });
    if (isSome(rows) && hasEnded(rows)) return rows;
    const running = await findCaughtUp(deps.control.view, () =>
      runningOf(deps.control, caller, runId),
    );
    if (isSome(rows) === (running !== null) || performance.now() > deadline) return rows;
    await setTimeout(tablePollMs);
  }
}

/**
 * Cancels a run that has not ended: further calls of its code fail, and after 30 s it is terminated. @throws
 * GatewayError `not_found`; `conflict`: it has finished; `forbidden`
 */
export async function cancelRun(
  { control }: Pick<FunctionsServices, 'control'>,
  caller: Caller,
  runId: string,
): Promise<void> {
  const found = await findCaughtUp(control.view, () => runningOf(control, caller, runId));
  if (found === null) {
    const message = `The run "${runId}" is neither queued nor running.`;
    throw new GatewayError('not_found', { message });
  }
  const scope = `environment:${found.isOfSync ? 'syncs' : 'actions'}:execute`;
  if (!caller.has(scope)) {
    const message = `Canceling this run needs the scope ${scope}.`;
    throw new GatewayError('forbidden', { message });
  }
  const { actor } = caller;
  await control.execute(found.ref, { type: 'Cancel', runId }, { actor });
}

function runningOf(
  { view }: FunctionsServices['control'],
  { environmentUid }: Caller,
  runId: string,
): { readonly ref: EntityRef; readonly isOfSync: boolean } | null {
  const sync = view.findBy<SyncInstance>('sync', 'run', runId);
  if (sync?.state.environmentUid === environmentUid) return { ref: sync.ref, isOfSync: true };
  const called = view.find<ActionRun>('action-run', [environmentUid, runId]);
  if (called === null || called.endedAt !== null) return null;
  return { ref: actionRunRef(called), isOfSync: kindOf(called) === 'webhook' };
}

const isSome = (rows: readonly StepRow[]): rows is readonly [StepRow, ...StepRow[]] =>
  rows.length > 0;

/** @throws GatewayError `invalid_query_params` */
function timestampOf(text: string, field: string): Micros {
  const timestamp = microsOf(text);
  if (timestamp !== null && timestamp >= 0) return timestamp;
  const message = 'Send a date-time since 1970, such as 2026-02-01T08:00:00Z.';
  throw new GatewayError('invalid_query_params', {
    errors: [{ code: 'custom', message, path: [field] }],
  });
}

const position = z.tuple([z.int().min(0), z.string().max(512)]);

const textOfCursor = ({ queuedAt, runId }: RunPlace): string =>
  Buffer.from(JSON.stringify([queuedAt, runId])).toString('base64url');

/** @throws GatewayError `invalid_cursor_value` */
function parseCursor(text: string): RunPlace {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const [queuedAt, runId] = position.parse(parsed);
    return { queuedAt, runId };
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}
