import { z } from 'zod';
import { findCaughtUp, type ControlPlane } from '#control-plane/control-plane.ts';
import type { Caller } from '#http/define-route.ts';
import { connectionId, functionName, integrationKey, listOf } from '#http/fields.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Json } from '#kernel/stable-json.ts';
import { dayMicros, microsOf, type Micros, type Clock } from '#kernel/time.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import { requireConnectionNamed } from '#modules/connections/connections/known-connections.ts';
import { connectionsNamed } from '#modules/connections/connections/queries.ts';
import type { ReadableRuns } from '#modules/records/read/readable.ts';
import type { EventLog } from '#ports/event-log.ts';
import { presentFailure, type ShownFailure } from '#rules/failure-detail.ts';
import type { RunCalls } from '../../services.ts';
import { isSome, requireSteps, runningOf, type RunRows } from './current-steps.ts';
import {
  changesEndOf,
  failureOf,
  lastOf,
  presentEvents,
  presentRun,
  presentTimeline,
} from './presenter.ts';
import { findRuns, stepsOf, type RunFilter, type RunPlace, type StepRow } from './queries.ts';
import { RunWaits } from './run-waits.ts';

const kinds = z.enum(['sync', 'action', 'on-event', 'on-change', 'webhook', 'dryrun', 'revert']);
const statuses = z.enum([
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'timed_out',
  'interrupted',
]);

/** The last steps of runs with the status. */
function actionsOf(status: string): string[] {
  if (status === 'running') return ['started'];
  return status === 'queued' ? ['queued', 'admitted'] : [status];
}

/** Parameters of a query that select runs; absent = any. */
export const runFilterFields = {
  kind: listOf(kinds).optional().describe('Only runs of this kind; repeated for several.'),
  status: listOf(statuses).optional().describe('Only runs with this status; repeated for several.'),
  function: functionName.optional().describe('Only runs of the function with this name.'),
  provider_config_key: integrationKey.optional().describe('Only runs of this integration.'),
  connection_id: connectionId.optional().describe('Only runs of this connection.'),
  variant: functionName.optional().describe('Only runs of this variant.'),
};

interface Deps extends EntityQueries {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly readableRuns: ReadableRuns;
}

interface RunsRequest extends Omit<
  RunFilter,
  'environmentUid' | 'from' | 'to' | 'actions' | 'named'
> {
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
  requireConnectionNamed(caller, filter.connectionId);
  const now = deps.clock.nowMicros();
  const { environmentUid } = caller;
  const target = until === undefined ? now : timestampOf(until, 'until');
  const from = since === undefined ? target - dayMicros : timestampOf(since, 'since');
  const actions = statuses.flatMap(actionsOf);
  const after = cursor === undefined ? null : parseCursor(cursor);
  const search =
    request.search === undefined
      ? {}
      : { named: connectionsNamed(deps.control, environmentUid, request.search) };
  const wanted = { ...filter, ...search, environmentUid, from, to: target, actions };
  const places = await findRuns(deps, wanted, { after, limit: limit + 1 });
  const page = places.slice(0, limit);
  const runIds = page.map(({ runId }) => runId);
  const options = { withProgress: false, from: page.at(-1)?.queuedAt ?? 0 };
  const rows = await stepsOf(deps, environmentUid, runIds, options);
  const byRun = Map.groupBy(rows, ({ run_id }) => run_id);
  const runs = runIds.map((runId): readonly StepRow[] => byRun.get(runId) ?? []).filter(isSome);
  const readable = await deps.readableRuns.now(runs.map(changesEndOf));
  const waits = new RunWaits(deps.control, environmentUid);
  const data = runs.map((steps, at) =>
    presentRun(steps, { isReadable: readable[at] ?? null, wait: waits.of(lastOf(steps)) }),
  );
  const last = places.length > limit ? page.at(-1) : undefined;
  return { data, pagination: { cursor: last === undefined ? null : textOfCursor(last) } };
}

/**
 * One run; waits until the table has what the log has of it, and until its changes are readable, for at most two seconds
 * each.
 * @throws GatewayError `not_found`, `projection_unavailable`, `log_unavailable`
 */
export async function oneRun(deps: Deps & RunCalls, caller: Caller, runId: string) {
  const rows = await requireSteps(deps, caller, runId, { withProgress: true });
  const [isReadable = null] = await deps.readableRuns.soon([changesEndOf(rows)]);
  const wait = new RunWaits(deps.control, caller.environmentUid).of(lastOf(rows));
  const run = presentRun(rows, { isReadable, wait });
  const failure = await openFailure(deps, caller, rows);
  return { ...run, failure, timeline: presentTimeline(rows), events: presentEvents(rows) };
}

/** With the response of the provider, unless the key of the connection was destroyed. */
async function openFailure(
  { runs }: RunCalls,
  { environmentUid }: Pick<Caller, 'environmentUid'>,
  rows: RunRows,
): Promise<ShownFailure | null> {
  const found = failureOf(rows);
  if (found === null) return null;
  const { detail, connectionUid } = found;
  const { call } = detail;
  if (call?.body == null) return presentFailure(detail);
  const owner = { runId: rows[0].run_id, environmentUid, connectionUid };
  const body = await runs.openText(owner, call.body);
  return presentFailure({ ...detail, call: { ...call, body } });
}

/**
 * The input of the run of an action, or the changes of an on-change function, while they are stored.
 * @throws GatewayError `not_found`: no such run of them; `projection_unavailable`, `log_unavailable`
 */
export async function inputOfRun(
  deps: EntityQueries & RunCalls & { readonly log: EventLog },
  caller: Caller,
  runId: string,
): Promise<{ readonly stored: boolean; readonly input: Json }> {
  const [first] = await requireSteps(deps, caller, runId, { withProgress: false });
  if (first.kind !== 'action' && first.kind !== 'on-change') {
    const message = `The run "${runId}" is no run of an action or on-change function: only those have an input.`;
    throw new GatewayError('not_found', { message });
  }
  const { environmentUid } = caller;
  const sought = { environmentUid, runId, queuedAt: Math.floor(Number(first.at) / 1000) };
  const input = await deps.runs.actionInput(sought);
  return input === undefined ? { stored: false, input: null } : { stored: true, input };
}

/**
 * Cancels a run that has not ended: further calls of its code fail, and after 30 s it is terminated. @throws
 * GatewayError `not_found`; `conflict`: it has finished; `forbidden`
 */
export async function cancelRun(
  { control }: { readonly control: ControlPlane },
  caller: Caller,
  runId: string,
): Promise<void> {
  const { environmentUid } = caller;
  const found = await findCaughtUp(control.view, () => runningOf(control, environmentUid, runId));
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

/** @throws GatewayError `invalid_query_params` */
function timestampOf(text: string, field: string): Micros {
  const timestamp = microsOf(text);
  if (timestamp !== null && timestamp >= 0) return timestamp;
  const message = 'Send a date-time since 1970, such as 2026-02-01T08:00:00Z.';
  throw new GatewayError('invalid_query_params', {
    errors: [{ code: 'custom', message, path: [field] }],
  });
}

const positionShape = z.tuple([z.int().min(0), z.string().max(512)]);

const textOfCursor = ({ queuedAt, runId }: RunPlace): string =>
  Buffer.from(JSON.stringify([queuedAt, runId])).toString('base64url');

/** @throws GatewayError `invalid_cursor_value` */
function parseCursor(text: string): RunPlace {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const [queuedAt, runId] = positionShape.parse(parsed);
    return { queuedAt, runId };
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}
