import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { data, json } from '#http/responses.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import { connectionTotals } from '#modules/connections/connections/queries.ts';
import { runs } from '#modules/functions/runs/ledger/projection.ts';
import type { SqlParams } from '#ports/projection-store.ts';
import { tableOf } from '#streams/projector/active-generation.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import { timestamp } from '#tables/where.ts';
import { logs } from '../logs/projection.ts';
import { defineRoute } from '../services.ts';

/** Consecutive steps of time, of which the last is going on. Epoch seconds; the first is a multiple of the step. */
interface Steps {
  readonly first: number;
  readonly stepSeconds: number;
  readonly count: number;
}

const isRun = (kind: string, ...actions: readonly string[]): string =>
  `kind = '${kind}' AND action IN (${actions.map((action) => `'${action}'`).join(', ')})`;
const changedRecords = `sum(arraySum(counts -> JSONExtractUInt(counts, 'added')
  + JSONExtractUInt(counts, 'updated') + JSONExtractUInt(counts, 'deleted'),
  JSONExtractArrayRaw(step, 'counts')))`;
const isSent = "operation_type LIKE 'webhook:%' AND operation_type != 'webhook:incoming'";

/** By the name of the series: what is counted of the ends of runs. */
const ofRuns = {
  sync_runs_succeeded: `countIf(${isRun('sync', 'succeeded')})`,
  sync_runs_failed: `countIf(${isRun('sync', 'failed', 'timed_out')})`,
  action_runs_succeeded: `countIf(${isRun('action', 'succeeded')})`,
  action_runs_failed: `countIf(${isRun('action', 'failed', 'timed_out')})`,
  records_changed: changedRecords,
} as const;

/** The same of operations of the log. An attempt to deliver a webhook that is tried again is neither. */
const ofOperations = {
  proxy_requests: "countIf(operation_type = 'proxy:call')",
  proxy_failed: "countIf(operation_type = 'proxy:call' AND state != 'success')",
  webhooks_delivered: `countIf(${isSent} AND state = 'success')`,
  webhooks_failed: `countIf(${isSent} AND state = 'failed')`,
  webhooks_received: "countIf(operation_type = 'webhook:incoming' AND run_id = '')",
  authorizations_succeeded:
    "countIf(operation_type = 'auth:create_connection' AND state = 'success')",
  authorizations_failed: "countIf(operation_type = 'auth:create_connection' AND state = 'failed')",
} as const;

const seriesNames = [
  ...(Object.keys(ofRuns) as (keyof typeof ofRuns)[]),
  ...(Object.keys(ofOperations) as (keyof typeof ofOperations)[]),
];
type SeriesName = (typeof seriesNames)[number];

/** A number for each step. */
type Series = Readonly<Record<SeriesName, readonly number[]>>;

/**
 * What happened in an environment, in each step of time. Rows that an interrupted projector wrote twice count twice.
 * @throws GatewayError `projection_unavailable`
 */
async function seriesOf(
  deps: EntityQueries,
  environmentUid: string,
  steps: Steps,
): Promise<Series> {
  const ended = "action IN ('succeeded', 'failed', 'timed_out', 'cancelled', 'interrupted')";
  const noted = `(operation_type IN ('proxy:call', 'auth:create_connection') OR operation_type LIKE 'webhook:%')`;
  const [ends, operations] = await Promise.all([
    counted(deps, environmentUid, steps, { table: runs, condition: ended, of: ofRuns }),
    counted(deps, environmentUid, steps, { table: logs, condition: noted, of: ofOperations }),
  ]);
  const series = seriesNames.map((name): readonly [SeriesName, readonly number[]] => [
    name,
    Array.from({ length: steps.count }, (_, at) => {
      const values = { ...ends.get(at), ...operations.get(at) } as Record<string, string>;
      return Number(values[name] ?? 0);
    }),
  ]);
  // It has every name of `seriesNames`.
  return Object.fromEntries(series) as Series;
}

/** By the number of the step. */
async function counted(
  { control, tables }: EntityQueries,
  environmentUid: string,
  { first, stepSeconds, count }: Steps,
  {
    table,
    condition,
    of,
  }: {
    readonly table: ProjectionTables;
    readonly condition: string;
    readonly of: Readonly<Record<string, string>>;
  },
): Promise<ReadonlyMap<number, Readonly<Record<string, string>>>> {
  const columns = Object.entries(of).map(([name, sql]) => `${sql} AS ${name}`);
  const params: SqlParams = {
    environment: environmentUid,
    from: first * 1e6,
    to: (first + count * stepSeconds) * 1e6,
    first,
    step: stepSeconds,
  };
  const rows = await tables.queryRows<Record<string, string>>(
    `SELECT intDiv(toUnixTimestamp(occurred_at) - {first:Int64}, {step:Int64}) AS at, ${columns.join(', ')}
     FROM ${tableOf(control.view, table)}
     WHERE environment_id = {environment:String} AND ${condition}
       AND occurred_at >= ${timestamp('from')} AND occurred_at < ${timestamp('to')}
     GROUP BY at`,
    params,
    'heavy',
  );
  return new Map(rows.map((row) => [Number(row['at']), row]));
}

/** About a hundred steps each. */
const ranges = {
  '1h': { seconds: 3_600, stepSeconds: 60 },
  '24h': { seconds: 86_400, stepSeconds: 900 },
  '7d': { seconds: 7 * 86_400, stepSeconds: 7_200 },
} as const;
const rangeNames = Object.keys(ranges) as [keyof typeof ranges, ...(keyof typeof ranges)[]];

const numbers = z.array(z.int());
const statisticsShape = data(
  z
    .strictObject({
      step_seconds: z.int().meta({ description: 'Length of a step.' }),
      times: numbers.meta({ description: 'Begin of each step in epoch seconds.' }),
      series: z
        .strictObject(
          Object.fromEntries(seriesNames.map((name) => [name, numbers])) as Record<
            (typeof seriesNames)[number],
            typeof numbers
          >,
        )
        .meta({ description: 'A number for each step; the last step is going on.' }),
      totals: z
        .strictObject({
          connections: z.int().describe('Number of connections.'),
          failing_connections: z.int().describe('Number of connections with an error.'),
        })
        .describe('Connections of now.'),
    })
    .meta({ id: 'Statistics' }),
);

const show = defineRoute({
  method: 'GET',
  path: '/statistics',
  credential: 'environment',
  scopes: ['environment:logs:read'],
  summary: 'Get statistics of the environment.',
  description: 'Runs, requests, webhooks and authorizations in steps of time.',
  query: z.strictObject({
    range: z.enum(rangeNames).default('24h').describe('Length of the time to show, up to now.'),
  }),
  answers: { 200: json('Time series, and the connections of now.', statisticsShape) },
  errors: [],
  async handle({ query, caller, services }) {
    const { environmentUid } = caller;
    const steps = stepsUntil(services.clock.now(), query.range);
    const { first, stepSeconds, count } = steps;
    const series = await seriesOf(services, environmentUid, steps);
    const { connections, failing } = connectionTotals(services.control, environmentUid);
    const body = {
      step_seconds: stepSeconds,
      times: Array.from({ length: count }, (_, at) => first + at * stepSeconds),
      series,
      totals: { connections, failing_connections: failing },
    };
    return { status: 200, body: { data: body } };
  },
});

/** The steps of the range that end with the one of now. @param now in ms */
export function stepsUntil(now: number, range: keyof typeof ranges): Steps {
  const { seconds, stepSeconds } = ranges[range];
  const count = seconds / stepSeconds;
  const last = Math.floor(now / 1000 / stepSeconds) * stepSeconds;
  return { first: last - (count - 1) * stepSeconds, stepSeconds, count };
}

export const statisticsRoutes: readonly AnyRoute[] = [show];
