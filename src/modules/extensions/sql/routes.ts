import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text } from '#http/fields.ts';
import { anyJson, data, json } from '#http/responses.ts';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { limits } from '#kernel/limits.ts';
import { defineRoute } from '#modules/operations/services.ts';
import type { CallerFormat } from '#ports/projection-store.ts';
import { documentedViews } from './documented-views.ts';
import { runQuery } from './run-query.ts';

/** One of an environment, so that its second query leaves the processor to others. */
const slots = new EnvironmentSlots({
  total: limits.sqlQueriesMax,
  perEnvironment: limits.environmentSqlQueriesMax,
  code: 'too_many_request',
  noun: 'running SQL queries',
});

const formats = ['json', 'csv', 'parquet', 'table'] as const satisfies readonly CallerFormat[];

const types = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  table: 'text/plain; charset=utf-8',
} satisfies Record<CallerFormat, string>;

const resultShape = z
  .strictObject({
    columns: z
      .array(
        z.strictObject({
          name: z.string().describe('Name of the column.'),
          type: z.string().describe('Its type in ClickHouse.'),
        }),
      )
      .describe('In the order of the values of a row.'),
    rows: z
      .array(z.array(anyJson))
      .describe('A list of values each. Integers of 64 bits are strings, times are UTC.'),
  })
  .meta({ id: 'SqlResult' });

const query = defineRoute({
  method: 'POST',
  path: '/sql',
  credential: 'environment',
  scopes: ['environment:sql:read'],
  summary: 'Run a SQL query.',
  description:
    'One SELECT over the views of the environment, in the SQL of ClickHouse: `v_records`, `v_record_history`, `v_changes`, `v_runs`, `v_webhook_attempts` and `v_provider_calls`. It reads nothing else.',
  writes: false,
  body: z.strictObject({
    query: text(1, limits.sqlQueryCharsMax).describe('The SELECT statement.'),
    format: z
      .enum(formats)
      .default('json')
      .describe('Form of the rows: JSON, CSV with a header, Parquet, or a table of text.'),
    max_rows: z
      .int()
      .min(1)
      .max(limits.sqlRowsMax)
      .default(limits.sqlRowsDefault)
      .describe('A result with more rows is an error.'),
    timeout_s: z
      .int()
      .min(1)
      .max(limits.sqlSecondsMax)
      .default(limits.sqlSecondsDefault)
      .describe('Seconds after which the query is ended.'),
  }),
  answers: {
    200: {
      ...json('The rows, in the format.', resultShape),
      otherTypes: ['text/csv', 'application/vnd.apache.parquet', 'text/plain'],
    },
  },
  errors: ['sql_refused', 'sql_failed', 'sql_limit'],
  async handle({ body, caller, services }) {
    const { environmentUid } = caller;
    const { query: sql, format, max_rows: rowsMax, timeout_s: seconds } = body;
    using _slot = slots.take(environmentUid);
    const rows = await runQuery(services, environmentUid, { sql, format, rowsMax, seconds });
    return {
      status: 200,
      body: format === 'json' ? resultOf(rows) : rows,
      headers: { 'content-type': types[format], 'cache-control': 'no-store' },
    };
  },
});

interface EngineResult {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
}

/** A line of the engine's JSON: text within has its line ends escaped. */
const dataLine = '\n\t"data":\n';
const rowsLine = ',\n\n\t"rows":';

/** The rows are passed on as they are, with every digit of their numbers. */
function resultOf(result: Buffer): Buffer {
  const start = result.indexOf(dataLine);
  const head = result.toString('utf8', 0, start).trimEnd();
  const { meta } = JSON.parse(`${head.slice(0, -1)}}`) as EngineResult;
  const columns = JSON.stringify(meta.map(({ name, type }) => ({ name, type })));
  const rows = result.subarray(start + dataLine.length, result.lastIndexOf(rowsLine));
  return Buffer.concat([Buffer.from(`{"columns":${columns},"rows":`), rows, Buffer.from('}')]);
}

const viewShape = z
  .strictObject({
    name: z.string().describe('Name of the view.'),
    description: z.string().describe('What a row is.'),
    columns: z
      .array(
        z.strictObject({
          name: z.string().describe('Name of the column.'),
          type: z.string().describe('Its type in ClickHouse.'),
          description: z.string().describe('What a value is.'),
        }),
      )
      .describe('In their order.'),
  })
  .meta({ id: 'SqlView' });

const views = defineRoute({
  method: 'GET',
  path: '/sql/views',
  credential: 'environment',
  scopes: ['environment:sql:read'],
  summary: 'List the views of SQL queries.',
  description: 'With their columns: what `POST /sql` can read.',
  answers: { 200: json('The views.', data(z.array(viewShape))) },
  errors: [],
  handle: () => Promise.resolve({ status: 200, body: { data: shownViews } }),
});

const shownViews = documentedViews.map(({ columns, ...view }) => ({
  ...view,
  columns: columns.map(([name, type, description]) => ({ name, type, description })),
}));

export const sqlRoutes: readonly AnyRoute[] = [query, views];
