import type { Micros } from '#kernel/time.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import { tableOf } from '#streams/projector/active-generation.ts';
import { micros, timestamp, where } from '#tables/where.ts';
import { isEnd } from './events.ts';
import { runs } from './projection.ts';

/** Filter of runs; absent = any. */
export interface RunFilter {
  readonly environmentUid: string;
  /** Range of queue times, inclusive. */
  readonly from: Micros;
  readonly to: Micros;
  readonly kinds?: readonly string[];
  /** Last actions: `queued`, `started`, or an end. */
  readonly actions?: readonly string[];
  readonly functionName?: string;
  readonly integrationKey?: string;
  readonly connectionId?: string;
  readonly variant?: string;
  /** Part of the name of the function or of the id of the connection, in any case. */
  readonly search?: string;
  /** Connections, as `integration/id`, that a search finds too. */
  readonly named?: readonly string[];
}

/** Position in the list: runs are sorted by queue time, newest first. */
export interface RunPlace {
  readonly queuedAt: Micros;
  readonly runId: string;
}

/** A step of a run in the table; 64-bit numbers are strings. */
export interface StepRow {
  readonly run_id: string;
  /** µs. */
  readonly at: string;
  readonly action: string;
  readonly kind: string;
  readonly function: string;
  readonly integration: string;
  readonly connection_id: string;
  readonly variant: string;
  readonly attempt: number;
  /** Its position on `svc.runs.v1`. */
  readonly log_partition: number;
  readonly log_offset: string;
  /** JSON of `RunStepShown`. */
  readonly step: string;
}

const heavy = 'heavy';

/**
 * From 26.2 on the engine looks up an index again for each block that it reads; with the settings of the oldest supported
 * version it does so once.
 */
const byIndex = "SETTINGS max_threads = 1, compatibility = '25.8'";

/**
 * From the end of the table's order little more is read than the page. With buffering the engine reads ahead in each
 * part: half of a million runs, for twenty of them.
 */
const smallReads = `${byIndex}, max_block_size = 512, read_in_order_use_buffering = 0`;

/** The one step that each run begins with: an owner queues it, but a revert starts at once. */
const isFirstStep =
  "((action = 'queued' AND attempt = 1) OR (action = 'started' AND kind = 'revert'))";

/** How many of the newest steps are searched for a page of some status before all of the range are. */
const newestFew = [2_000, 40_000];

const contains = `(positionCaseInsensitiveUTF8(function, {search:String}) > 0
  OR positionCaseInsensitiveUTF8(connection_id, {search:String}) > 0
  OR concat(integration, '/', connection_id) IN {named:Array(String)})`;

interface RunsPage {
  readonly after: RunPlace | null;
  readonly limit: number;
}

/**
 * Positions of the matching runs, newest first.
 * @throws GatewayError `projection_unavailable`
 */
export async function findRuns(
  deps: EntityQueries,
  filter: RunFilter,
  page: RunsPage,
  few: readonly number[] = newestFew,
): Promise<RunPlace[]> {
  const { actions = [], environmentUid, from: begin } = filter;
  const to = Math.min(filter.to, page.after?.queuedAt ?? Infinity);
  for (const steps of actions.length === 0 ? [] : few) {
    const from = await timeOfStep(deps, { environmentUid, from: begin, to }, steps);
    if (from === null) break;
    const found = await selectRuns(deps, { ...filter, from }, page);
    if (found.length === page.limit) return found;
  }
  return selectRuns(deps, filter, page);
}

/** The time of the step of an environment that so many of the range are newer than; null: there are not so many. */
async function timeOfStep(
  { control, tables }: EntityQueries,
  { environmentUid: environment, from, to }: RunFilter,
  newer: number,
): Promise<Micros | null> {
  const [found] = await tables.queryRows<{ at: string }>(
    `SELECT ${micros('occurred_at')} AS at FROM ${tableOf(control.view, runs)}
     WHERE environment_id = {environment:String} AND action != 'progress'
       AND occurred_at >= ${timestamp('from')} AND occurred_at <= ${timestamp('to')}
     ORDER BY occurred_at DESC LIMIT 1 OFFSET {newer:UInt32} ${smallReads}`,
    { environment, from, to, newer },
    heavy,
  );
  return found === undefined ? null : Number(found.at);
}

async function selectRuns(
  { control, tables }: EntityQueries,
  filter: RunFilter,
  { after, limit }: RunsPage,
): Promise<RunPlace[]> {
  const { from, to, kinds, connectionId, actions = [] } = filter;
  const table = tableOf(control.view, runs);
  const ofConnection = connectionId === undefined ? '' : 'AND connection_id = {connection:String}';
  const whole = `${table} WHERE environment_id = {environment:String} ${ofConnection}
    AND occurred_at >= ${timestamp('from')}`;
  // A run that ended has a step that says so: there are fewer of those than of runs.
  const ended = `AND run_id IN (SELECT run_id FROM ${whole} AND action IN {actions:Array(String)})`;
  const wanted = where({
    'environment_id = {environment:String}': filter.environmentUid,
    [`occurred_at >= ${timestamp('from')}`]: from,
    [`occurred_at <= ${timestamp('to')}`]: to,
    [isFirstStep]: {},
    'kind IN {kinds:Array(String)}': kinds,
    'function = {function:String}': filter.functionName,
    'integration = {integration:String}': filter.integrationKey,
    'connection_id = {connection:String}': connectionId,
    'variant = {variant:String}': filter.variant,
    [contains]:
      filter.search === undefined ? null : { search: filter.search, named: filter.named ?? [] },
    // Implied by the next condition, but the table is sorted by time alone.
    [`occurred_at <= ${timestamp('at')}`]: after && { at: after.queuedAt },
    [`(occurred_at, run_id) < (${timestamp('at')}, {id:String})`]: after && {
      at: after.queuedAt,
      id: after.runId,
    },
    // A run that was queued in the range may finish after it.
    [`run_id IN (SELECT run_id FROM ${whole} AND action != 'progress' ${actions.every(isEnd) ? ended : ''}
       GROUP BY run_id HAVING argMax(action, log_offset) IN {actions:Array(String)})`]:
      actions.length === 0 ? null : { actions },
  });
  const found = await tables.queryRows<{ run_id: string; at: string }>(
    `SELECT run_id, ${micros('occurred_at')} AS at FROM ${table} WHERE ${wanted.sql}
     ORDER BY occurred_at DESC, run_id DESC LIMIT 1 BY run_id
     LIMIT {limit:UInt32} ${actions.length === 0 ? smallReads : ''}`,
    { ...wanted.params, limit },
    heavy,
  );
  return found.map(({ run_id: runId, at }) => ({ runId, queuedAt: Number(at) }));
}

interface StepsOptions {
  /** With their progress entries, up to `stepsMax`. */
  readonly withProgress: boolean;
  /** None of the runs was queued before; default: any time. */
  readonly from?: Micros;
}

/**
 * The steps of the runs, in order.
 * @throws GatewayError `projection_unavailable`
 */
export async function stepsOf(
  { control, tables }: EntityQueries,
  environmentUid: string,
  runIds: readonly string[],
  { withProgress, from = 0 }: StepsOptions,
): Promise<StepRow[]> {
  if (runIds.length === 0) return [];
  return tables.queryRows<StepRow>(
    `SELECT run_id, ${micros('occurred_at')} AS at, action, kind, function, integration,
       connection_id, variant, attempt, log_partition, log_offset, step
     FROM ${tableOf(control.view, runs)}
     WHERE environment_id = {environment:String} AND run_id IN {ids:Array(String)}
       AND occurred_at >= ${timestamp('from')}
       ${withProgress ? '' : "AND action != 'progress'"}
     ORDER BY run_id, log_offset LIMIT 1 BY log_partition, log_offset LIMIT {max:UInt32}
     ${byIndex}`,
    { environment: environmentUid, ids: runIds, max: stepsMax, from },
    heavy,
  );
}

/** A run has a few steps, and its bounded timeline a few more. */
const stepsMax = 20_000;
