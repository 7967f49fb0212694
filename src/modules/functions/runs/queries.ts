import type { Micros } from '../../../kernel/time.ts';
import { micros, timestamp, where } from '../../../ports/where.ts';
import { runs } from './projection.ts';
import { tableOf } from '../../../../streams/projector/active-generation.ts';
import type { FunctionsServices } from '../services.ts';

type Deps = Pick<FunctionsServices, 'control' | 'tables'>;

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

/** From the end of the table's order little more is read than the page. */
const smallReads = 'SETTINGS max_threads = 1, max_block_size = 512';

/** The one step that each run begins with: an owner queues it, but a revert starts at once. */
const isFirstStep =
  "((action = 'queued' AND attempt = 1) OR (action = 'started' AND kind = 'revert'))";

/**
 * Positions of the matching runs, newest first.
 * @throws GatewayError `projection_unavailable`
 */
export async function findRuns(
  { control, tables }: Deps,
  filter: RunFilter,
  { after, limit }: { readonly after: RunPlace | null; readonly limit: number },
): Promise<RunPlace[]> {
  const { from, to, kinds, actions = [] } = filter;
  const table = tableOf(control.view, runs);
  const wanted = where({
    'environment_id = {environment:String}': filter.environmentUid,
    [`occurred_at >= ${timestamp('from')}`]: from,
    [`occurred_at <= ${timestamp('to')}`]: to,
    [isFirstStep]: {},
    'kind IN {kinds:Array(String)}': kinds,
    'function = {function:String}': filter.functionName,
    'integration = {integration:String}': filter.integrationKey,
    'connection_id = {connection:String}': filter.connectionId,
    'variant = {variant:String}': filter.variant,
    // Implied by the next condition, but the table is sorted by time alone.
    [`occurred_at <= ${timestamp('at')}`]: after && { at: after.queuedAt },
    [`(occurred_at, run_id) < (${timestamp('at')}, {id:String})`]: after && {
      at: after.queuedAt,
      id: after.runId,
    },
    // A run that was queued in the range may finish after it.
    [`run_id IN (SELECT run_id FROM ${table}
       WHERE environment_id = {environment:String} AND occurred_at >= ${timestamp('from')} AND action != 'progress'
       GROUP BY run_id HAVING argMax(action, log_offset) IN {actions:Array(String)})`]:
      actions.length === 0 ? null : { actions },
  });
  const found = await tables.queryRows<{ run_id: string; at: string }>(
    `SELECT run_id, ${micros('occurred_at')} AS at FROM ${table} WHERE ${wanted.sql}
     ORDER BY occurred_at DESC, run_id DESC LIMIT 1 BY run_id LIMIT {limit:UInt32}
     ${actions.length === 0 ? smallReads : ''}`,
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
  { control, tables }: Deps,
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
     ORDER BY run_id, log_offset LIMIT 1 BY log_partition, log_offset LIMIT {max:UInt32}`,
    { environment: environmentUid, ids: runIds, max: stepsMax, from },
    heavy,
  );
}

/** A run has a few steps, and its bounded timeline a few more. */
const stepsMax = 20_000;
