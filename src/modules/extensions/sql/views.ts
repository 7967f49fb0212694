import type { ControlView } from '#control-plane/control-plane.ts';
import { runs } from '#modules/functions/runs/ledger/projection.ts';
import type { ReadProjection } from '#modules/operations/custom-projections/queries.ts';
import { valuesColumn } from '#modules/operations/custom-projections/tables.ts';
import { logs } from '#modules/operations/logs/projection.ts';
import { records } from '#modules/records/projection/definition.ts';
import { recordTables, type RecordTables } from '#modules/records/read/tables.ts';
import type { CallerViews, ReadView } from '#ports/projection-store.ts';
import { activeGeneration, tableOf } from '#streams/projector/active-generation.ts';

/**
 * Grows with each change of a view. Views stay compatible: columns are added, never renamed, removed or given another
 * type or meaning (docs/sql.md#compatibility).
 */
export const viewsVersion = 2;

/** The tables of the active generations. */
export interface ReadTables {
  readonly records: Pick<RecordTables, 'records' | 'history' | 'streams'>;
  readonly runs: string;
  readonly logs: string;
  /** Those of projects, in the environment. */
  readonly custom: readonly ReadProjection[];
}

export function readTables(
  view: Pick<ControlView, 'find'>,
  custom: readonly ReadProjection[],
): ReadTables {
  return {
    records: recordTables(activeGeneration(view, records)),
    runs: tableOf(view, runs),
    logs: tableOf(view, logs),
    custom,
  };
}

/** The name of the environment's views for the store. */
export const scopeOf = (environmentUid: string): string => environmentUid.replaceAll('-', '');

/** The views of an environment. Each contains the environment as a constant: a query cannot choose another. */
export function viewsOf(environmentUid: string, tables: ReadTables): CallerViews {
  if (!/^[\w-]+$/.test(environmentUid)) throw new TypeError('not the uid of an environment');
  const environment = `environment_id = '${environmentUid}'`;
  return {
    scope: scopeOf(environmentUid),
    version: `${viewsVersion} of ${[tables.records.records, tables.runs, tables.logs, ...tables.custom.map(({ table }) => table)].join(', ')}`,
    views: [
      ...recordViews(environment, tables.records),
      runsView(environment, tables.runs),
      attemptsView(environment, tables.logs),
      callsView(environment, tables.logs),
      failuresView(tables.custom),
      ...tables.custom.map(customView),
    ],
  };
}

/** Plain text, whatever the table keeps it in. */
const text = (column: string): string => `CAST(${column}, 'String')`;
const flag = (condition: string): string => `CAST(${condition}, 'Bool')`;

/** The streams of the environment, with what a change has of its stream. */
const streamColumns = `${text('s.integration')} AS integration, s.connection_id AS connection_id,
  ${text('s.model')} AS model, ${text('s.variant')} AS variant`;

function joined(
  environment: string,
  { table, streams }: { readonly table: string; readonly streams: string },
  columns: string,
  condition = '',
): string {
  return `SELECT ${streamColumns}, ${columns}
    FROM (SELECT * FROM ${table} FINAL WHERE stream_id IN
      (SELECT stream_id FROM ${streams} WHERE ${environment})${condition}) AS r
    INNER JOIN (SELECT * FROM ${streams} FINAL WHERE ${environment}) AS s
      ON r.stream_id = s.stream_id AND r.log_partition = s.log_partition`;
}

/** Of a change of the record. */
const changeColumns = `r.record_id AS record_id, lower(${text('r.last_action')}) AS action, r.version AS seq,
  r.position AS position`;

function recordViews(
  environment: string,
  { records: table, history, streams }: ReadTables['records'],
): readonly ReadView[] {
  // Payloads that are sealed stay so: they are opened by the gateway, for each record on its own.
  const payload = `if(r.payload_encoding = 'json', r.payload, NULL)`;
  return [
    {
      name: 'v_records',
      select: joined(
        environment,
        { table, streams },
        `${changeColumns}, CAST(${payload} AS Nullable(String)) AS payload,
        ${flag("r.payload_encoding NOT IN ('json', 'none')")} AS is_sealed,
        r.first_seen_at AS first_seen_at, r.modified_at AS last_modified_at, r.deleted_at AS deleted_at,
        r.pruned_at AS pruned_at`,
      ),
    },
    {
      name: 'v_record_history',
      select: joined(
        environment,
        { table: history, streams },
        `${changeColumns}, r.modified_at AS last_modified_at, ${flag('r.is_pruned')} AS is_pruned`,
      ),
    },
    {
      name: 'v_changes',
      select: joined(
        environment,
        { table: history, streams },
        `r.log_partition AS log_partition, r.log_offset AS log_offset, ${changeColumns},
        r.modified_at AS last_modified_at`,
        ' AND log_offset >= 0',
      ),
    },
  ];
}

const ends = "('succeeded', 'failed', 'cancelled', 'timed_out', 'interrupted')";
const isEnd = `action IN ${ends}`;

function runsView(environment: string, table: string): ReadView {
  const first = (column: string): string => `argMin(${column}, (occurred_at, log_offset))`;
  const end = (type: string, name: string): string =>
    `JSONExtract(end_step, '${name}', '${type}') AS ${name}`;
  const count = (name: string): string =>
    `arraySum(arrayMap(one -> JSONExtractUInt(one, '${name}'), counts)) AS ${name}`;
  return {
    name: 'v_runs',
    select: `SELECT run_id, kind, function, integration, connection_id, variant, status, attempts, trigger,
      queued_at, started_at, ended_at,
      ${end('Nullable(UInt64)', 'duration_ms')}, ${end('Nullable(String)', 'error_code')},
      ${end('Nullable(String)', 'error_message')}, ${count('added')}, ${count('updated')}, ${count('deleted')}
    FROM (
      SELECT run_id, ${first(text('kind'))} AS kind, ${first(text('function'))} AS function,
        ${first(text('integration'))} AS integration, ${first('connection_id')} AS connection_id,
        ${first(text('variant'))} AS variant,
        replaceOne(argMaxIf(${text('action')}, (occurred_at, log_offset), action != 'progress'),
          'admitted', 'queued') AS status,
        max(attempt) AS attempts,
        JSONExtract(${first('step')}, 'trigger', 'Nullable(String)') AS trigger,
        min(occurred_at) AS queued_at,
        minOrNullIf(occurred_at, action = 'started') AS started_at,
        maxOrNullIf(occurred_at, ${isEnd}) AS ended_at,
        argMaxIf(step, (occurred_at, log_offset), ${isEnd}) AS end_step,
        JSONExtractArrayRaw(end_step, 'counts') AS counts
      FROM ${table} FINAL WHERE ${environment} AND run_id != '' GROUP BY run_id)`,
  };
}

/** Fields of an entry of the log of operations that is about a request. */
const requestColumns = `CAST(nullIf(JSONExtractUInt(context, 'status'), 0), 'Nullable(UInt16)') AS status,
  JSONExtract(context, 'durationMs', 'Nullable(Float64)') AS duration_ms,
  nullIf(JSONExtractString(context, 'code'), '') AS error_code`;

function attemptsView(environment: string, table: string): ReadView {
  const endpoint = `JSONExtractString(context, 'endpoint')`;
  return {
    name: 'v_webhook_attempts',
    select: `SELECT occurred_at AS attempted_at,
      substring(operation_id, 1, length(operation_id) - length(endpoint) - 1) AS message_id,
      ${endpoint} AS endpoint, ${text('substring(operation_type, 9)')} AS kind, ${text('integration')} AS integration,
      connection_id, run_id, toUInt32(JSONExtractUInt(context, 'attempts')) AS attempt,
      transform(${text('state')}, ['success', 'running', 'failed', 'cancelled'],
        ['delivered', 'retried', 'failed', 'cancelled'], ${text('state')}) AS outcome,
      JSONExtractString(context, 'url') AS origin, ${requestColumns}
    FROM ${table} FINAL WHERE ${environment} AND operation_type LIKE 'webhook:%' AND JSONHas(context, 'endpoint')
      AND JSONHas(context, 'attempts')`,
  };
}

function callsView(environment: string, table: string): ReadView {
  return {
    name: 'v_provider_calls',
    select: `SELECT occurred_at AS called_at, operation_id, ${text('integration')} AS integration, connection_id,
      ${text('function')} AS function, run_id, JSONExtractString(context, 'method') AS method,
      JSONExtractString(context, 'url') AS url, ${requestColumns}
    FROM ${table} FINAL WHERE ${environment} AND NOT operation_type LIKE 'webhook:%'
      AND JSONHas(context, 'method') AND JSONHas(context, 'url')`,
  };
}

/** The rows of all records; of those with the same key, that of the record changed last. */
function customView({ name, table, version: { columns, key } }: ReadProjection): ReadView {
  const values = columns.map((column) => `${valuesColumn(column.name)} AS \`${column.name}\``);
  const names = columns.map((column) => `\`${column.name}\``).join(', ');
  const rows = `FROM ${table} FINAL ARRAY JOIN ${values.join(', ')}`;
  if (key.length === 0) return { name, select: `SELECT ${names} ${rows}` };
  return {
    name,
    select: `SELECT ${names} ${rows} ORDER BY _modified_at DESC, _stream_id, _record_id
      LIMIT 1 BY ${key.map((column) => `\`${column}\``).join(', ')}`,
  };
}

/** Records whose change could not be mapped; without rows where there is no projection. */
function failuresView(custom: readonly ReadProjection[]): ReadView {
  const columns = (source: string): string =>
    `SELECT ${source} AS projection, ${text('_integration')} AS integration, _connection_id AS connection_id,
      ${text('_model')} AS model, ${text('_variant')} AS variant, _record_id AS record_id,
      _modified_at AS last_modified_at, _error AS error`;
  const none = `${columns("''")} FROM (SELECT '' AS _integration, '' AS _connection_id, '' AS _model, '' AS _variant,
    '' AS _record_id, toDateTime64(0, 6, 'UTC') AS _modified_at, '' AS _error) WHERE false`;
  const all = custom.map(
    ({ name, table }) => `${columns(`'${name}'`)} FROM ${table} FINAL WHERE _error != ''`,
  );
  return { name: 'v_projection_failures', select: [none, ...all].join(' UNION ALL ') };
}
