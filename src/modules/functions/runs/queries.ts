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

/**
 * Positions of the matching runs, newest first.
 * @throws GatewayError `projection_unavailable`
 */
export async function findRuns(
  { control, tables }: Deps,
  filter: RunFilter,
  { after, limit }: { readonly after: RunPlace | null; readonly limit: number },
): Promise<RunPlace[]> {
  const { from, to, kinds, actions } = filter;
  const steps = where({
    'environment_id = {environment:String}': filter.environmentUid,
    // A run that was queued in the range may finish after it.
    [`occurred_at >= ${timestamp('from')}`]: from,
    "action != 'progress'": {},
    'kind IN {kinds:Array(String)}': kinds,
    'function = {function:String}': filter.functionName,
    'integration = {integration:String}': filter.integrationKey,
    'connection_id = {connection:String}': filter.connectionId,
    'variant = {variant:String}': filter.variant,
  });
  const grouped = where({
    [`queued >= ${timestamp('from')}`]: from,
    [`queued <= ${timestamp('to')}`]: to,
    'last IN {actions:Array(String)}': actions,
    [`(queued, run_id) < (${timestamp('at')}, {id:String})`]: after && {
      at: after.queuedAt,
      id: after.runId,
    },
  });
  const found = await tables.queryRows<{ run_id: string; at: string }>(
    `SELECT run_id, ${micros('queued')} AS at FROM (
       SELECT run_id, min(occurred_at) AS queued, argMax(action, log_offset) AS last
       FROM ${tableOf(control.view, runs)} WHERE ${steps.sql}
       GROUP BY run_id HAVING ${grouped.sql})
     ORDER BY queued DESC, run_id DESC LIMIT {limit:UInt32}`,
    { ...steps.params, ...grouped.params, limit },
    heavy,
  );
  return found.map(({ run_id: runId, at }) => ({ runId, queuedAt: Number(at) }));
}

/**
 * The steps of the runs, in order. `withProgress`: with their progress entries, up to `stepsMax`.
 * @throws GatewayError `projection_unavailable`
 */
export async function stepsOf(
  { control, tables }: Deps,
  environmentUid: string,
  runIds: readonly string[],
  { withProgress }: { readonly withProgress: boolean },
): Promise<StepRow[]> {
  if (runIds.length === 0) return [];
  return tables.queryRows<StepRow>(
    `SELECT run_id, ${micros('occurred_at')} AS at, action, kind, function, integration,
       connection_id, variant, attempt, log_partition, log_offset, step
     FROM ${tableOf(control.view, runs)}
     WHERE environment_id = {environment:String} AND run_id IN {ids:Array(String)}
       ${withProgress ? '' : "AND action != 'progress'"}
     ORDER BY run_id, log_offset LIMIT 1 BY log_partition, log_offset LIMIT {max:UInt32}`,
    { environment: environmentUid, ids: runIds, max: stepsMax },
    heavy,
  );
}

/** A run has a few steps, and its bounded timeline a few more. */
const stepsMax = 20_000;
