import type { Micros } from '#kernel/time.ts';
import { micros, timestamp, where } from '#ports/where.ts';
import { tableOf } from '#streams/projector/active-generation.ts';
import type { OperationsServices } from '../services.ts';
import { logs } from './projection.ts';
import type { EntryRow, OperationRow } from './rows.ts';

type Deps = Pick<OperationsServices, 'control' | 'tables'>;

/** Filter of operations; absent = any. */
export interface OperationFilter {
  readonly environmentUid: string;
  /** Range of start times, inclusive. */
  readonly from: Micros;
  readonly to: Micros;
  readonly states?: readonly string[];
  /** `sync`, or `sync:run`. */
  readonly types?: readonly string[];
  readonly integrations?: readonly string[];
  readonly connections?: readonly string[];
  readonly functions?: readonly string[];
  readonly levels?: readonly string[];
  /** Text in any message or context of the operation, in any case. */
  readonly search?: string;
}

/** Position in the list: operations are sorted by start time, newest first. */
export interface OperationPlace {
  readonly startedAt: Micros;
  readonly operationId: string;
}

interface Page<Row> {
  readonly rows: readonly Row[];
  /** Total of the filter, independent of the page. */
  readonly total: number;
}

const heavy = 'heavy';

/** @throws GatewayError `projection_unavailable` */
export async function findOperations(
  deps: Deps,
  filter: OperationFilter,
  { after, limit }: { readonly after: OperationPlace | null; readonly limit: number },
): Promise<Page<OperationRow>> {
  const table = tableOf(deps.control.view, logs);
  const { from, search = '' } = filter;
  const inRange = `environment_id = {environment:String} AND occurred_at >= ${timestamp('from')}`;
  const entries = where({
    [`${inRange} AND operation_type != ''`]: { environment: filter.environmentUid, from },
    'integration IN {integrations:Array(String)}': filter.integrations,
    'connection_id IN {connections:Array(String)}': filter.connections,
    'function IN {functions:Array(String)}': filter.functions,
    [`(operation_type IN {types:Array(String)}
       OR splitByChar(':', operation_type)[1] IN {types:Array(String)})`]: filter.types,
    [`operation_id IN (SELECT operation_id FROM ${table} WHERE ${inRange} AND ${contains})`]:
      search === '' ? null : { search },
  });
  const grouped = where({
    [`started >= ${timestamp('from')}`]: from,
    [`started <= ${timestamp('to')}`]: filter.to,
    'last_state IN {states:Array(String)}': filter.states,
    'last_level IN {levels:Array(String)}': filter.levels,
  });
  const conditions = where({
    [`(started, operation_id) < (${timestamp('at')}, {id:String})`]: after && {
      at: after.startedAt,
      id: after.operationId,
    },
  });
  const found = await deps.tables.queryRows<OperationPlaceRow & { total: string }>(
    `SELECT operation_id, ${micros('started')} AS started_at, total FROM (
       SELECT operation_id, min(started_at) AS started, argMax(state, log_offset) AS last_state,
         argMax(level, log_offset) AS last_level, count() OVER () AS total
       FROM ${table} WHERE ${entries.sql} GROUP BY operation_id HAVING ${grouped.sql})
     WHERE ${conditions.sql} ORDER BY started DESC, operation_id DESC LIMIT {limit:UInt32}`,
    { ...entries.params, ...grouped.params, ...conditions.params, limit },
    heavy,
  );
  const ids = found.map((row) => row.operation_id);
  const rows = ids.length === 0 ? [] : await operationsOf(deps, filter.environmentUid, ids);
  const order = new Map(ids.map((id, at) => [id, at]));
  rows.sort((a, b) => (order.get(a.operation_id) ?? 0) - (order.get(b.operation_id) ?? 0));
  return { rows, total: Number(found[0]?.total ?? 0) };
}

interface OperationPlaceRow {
  readonly operation_id: string;
  readonly started_at: string;
}

/** The operations with these ids that the environment has, in any order. */
export async function operationsOf(
  { control, tables }: Deps,
  environmentUid: string,
  ids: readonly string[],
): Promise<OperationRow[]> {
  return tables.queryRows<OperationRow>(
    `SELECT operation_id, ${micros('min(started_at)')} AS started,
       ${micros('max(occurred_at)')} AS updated,
       argMax(operation_type, log_offset) AS type, argMax(state, log_offset) AS last_state,
       argMax(level, log_offset) AS last_level, argMax(message, log_offset) AS text,
       argMax(context, log_offset) AS more, any(integration) AS of_integration,
       any(connection_id) AS of_connection, any(function) AS of_function, any(run_id) AS of_run
     FROM ${tableOf(control.view, logs)}
     WHERE environment_id = {environment:String} AND operation_id IN {ids:Array(String)}
       AND operation_type != ''
     GROUP BY operation_id`,
    { environment: environmentUid, ids },
    heavy,
  );
}

const contains =
  '(positionCaseInsensitiveUTF8(message, {search:String}) > 0 OR positionCaseInsensitiveUTF8(context, {search:String}) > 0)';

/** Filter of the messages of one operation; absent = any. */
export interface MessageFilter {
  readonly environmentUid: string;
  readonly operationId: string;
  readonly from?: Micros;
  readonly to?: Micros;
  readonly states?: readonly string[];
  readonly levels?: readonly string[];
  readonly search?: string;
  /** Positions in the log, the sort order of the messages of an operation. */
  readonly before?: number;
  readonly after?: number;
}

/**
 * Newest first; with `after` those directly after it.
 * @throws GatewayError `projection_unavailable`
 */
export async function findMessages(
  { control, tables }: Deps,
  filter: MessageFilter,
  limit: number,
): Promise<Page<EntryRow>> {
  const { before, after, search = '' } = filter;
  const entries = where({
    'environment_id = {environment:String}': filter.environmentUid,
    'operation_id = {operation:String}': filter.operationId,
    [`occurred_at >= ${timestamp('from')}`]: filter.from,
    [`occurred_at <= ${timestamp('to')}`]: filter.to,
    'state IN {states:Array(String)}': filter.states,
    'level IN {levels:Array(String)}': filter.levels,
    [contains]: search === '' ? null : search,
  });
  const positions = where({
    'log_offset < {before:UInt64}': before,
    'log_offset > {after:UInt64}': after,
  });
  const order = after === undefined ? 'DESC' : 'ASC';
  const rows = await tables.queryRows<EntryRow & { total: string }>(
    `SELECT *, ${micros('at')} AS happened FROM (
       SELECT log_offset, any(event_id) AS id, any(operation_id) AS parent,
         any(occurred_at) AS at, any(operation_type) AS type, any(state) AS status,
         any(level) AS severity, any(source) AS writer, any(message) AS text,
         any(context) AS more, count() OVER () AS total
       FROM ${tableOf(control.view, logs)} WHERE ${entries.sql} GROUP BY log_offset)
     WHERE ${positions.sql} ORDER BY log_offset ${order} LIMIT {limit:UInt32}`,
    { ...entries.params, ...positions.params, limit },
    heavy,
  );
  return { rows: after === undefined ? rows : rows.reverse(), total: Number(rows[0]?.total ?? 0) };
}
