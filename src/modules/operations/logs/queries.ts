import type { Micros } from '../../../kernel/time.ts';
import type { SqlParams } from '../../../ports/projection-store.ts';
import { logs } from './projection.ts';
import { tableOf } from '../../../../streams/projector/active-generation.ts';
import type { EntryRow, OperationRow } from './rows.ts';
import type { OperationsServices } from '../services.ts';

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
const micros = (column: string): string => `toUnixTimestamp64Micro(${column})`;
const timestamp = (name: string): string => `fromUnixTimestamp64Micro({${name}:Int64})`;

/** @throws GatewayError `projection_unavailable` */
export async function findOperations(
  deps: Deps,
  filter: OperationFilter,
  { after, limit }: { readonly after: OperationPlace | null; readonly limit: number },
): Promise<Page<OperationRow>> {
  const table = tableOf(deps.control.view, logs);
  const { wheres, havings, params } = conditionsOf(filter, table);
  const position =
    after === null ? '1' : `(started, operation_id) < (${timestamp('at')}, {id:String})`;
  const found = await deps.tables.queryRows<OperationPlaceRow & { total: string }>(
    `SELECT operation_id, ${micros('started')} AS started_at, total FROM (
       SELECT operation_id, min(started_at) AS started, argMax(state, log_offset) AS last_state,
         argMax(level, log_offset) AS last_level, count() OVER () AS total
       FROM ${table} WHERE ${wheres.join(' AND ')}
       GROUP BY operation_id HAVING ${havings.join(' AND ')})
     WHERE ${position} ORDER BY started DESC, operation_id DESC LIMIT {limit:UInt32}`,
    {
      ...params,
      limit,
      ...(after === null ? {} : { at: after.startedAt, id: after.operationId }),
    },
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

function conditionsOf(filter: OperationFilter, table: string) {
  const { states, types, integrations, connections, functions, levels, search } = filter;
  const wheres = [
    'environment_id = {environment:String}',
    `occurred_at >= ${timestamp('from')}`,
    "operation_type != ''",
  ];
  const havings = [`started >= ${timestamp('from')}`, `started <= ${timestamp('to')}`];
  const params: Record<string, SqlParams[string]> = {
    environment: filter.environmentUid,
    from: filter.from,
    to: filter.to,
  };
  const listed = (list: readonly string[] | undefined, name: string, column: string): string[] => {
    if (list === undefined || list.length === 0) return [];
    params[name] = list;
    return [`${column} IN {${name}:Array(String)}`];
  };
  wheres.push(
    ...listed(integrations, 'integrations', 'integration'),
    ...listed(connections, 'connections', 'connection_id'),
    ...listed(functions, 'functions', 'function'),
  );
  havings.push(
    ...listed(states, 'states', 'last_state'),
    ...listed(levels, 'levels', 'last_level'),
  );
  if (types !== undefined && types.length > 0) {
    params['types'] = types;
    const [whole, kind] = ['operation_type', "splitByChar(':', operation_type)[1]"];
    wheres.push(`(${whole} IN {types:Array(String)} OR ${kind} IN {types:Array(String)})`);
  }
  if (search !== undefined && search !== '') {
    params['search'] = search;
    wheres.push(
      `operation_id IN (SELECT operation_id FROM ${table}
         WHERE environment_id = {environment:String} AND occurred_at >= ${timestamp('from')}
           AND ${contains})`,
    );
  }
  return { wheres, havings, params };
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
  const { wheres, params } = messageConditions(filter);
  const { before, after } = filter;
  const places = [
    ...(before === undefined ? [] : ['log_offset < {before:UInt64}']),
    ...(after === undefined ? [] : ['log_offset > {after:UInt64}']),
  ];
  const order = after === undefined ? 'DESC' : 'ASC';
  const rows = await tables.queryRows<EntryRow & { total: string }>(
    `SELECT *, ${micros('at')} AS happened FROM (
       SELECT log_offset, any(event_id) AS id, any(operation_id) AS parent,
         any(occurred_at) AS at, any(operation_type) AS type, any(state) AS status,
         any(level) AS severity, any(source) AS writer, any(message) AS text,
         any(context) AS more, count() OVER () AS total
       FROM ${tableOf(control.view, logs)} WHERE ${wheres.join(' AND ')} GROUP BY log_offset)
     WHERE ${['1', ...places].join(' AND ')} ORDER BY log_offset ${order} LIMIT {limit:UInt32}`,
    {
      ...params,
      limit,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
    heavy,
  );
  return { rows: after === undefined ? rows : rows.reverse(), total: Number(rows[0]?.total ?? 0) };
}

function messageConditions({ environmentUid, operationId, ...filter }: MessageFilter) {
  const { from, to, states = [], levels = [], search = '' } = filter;
  const input: readonly (readonly [string, SqlParams[string] | undefined, string])[] = [
    ['environment', environmentUid, 'environment_id = {environment:String}'],
    ['operation', operationId, 'operation_id = {operation:String}'],
    ['from', from, `occurred_at >= ${timestamp('from')}`],
    ['to', to, `occurred_at <= ${timestamp('to')}`],
    ['states', states.length === 0 ? undefined : states, 'state IN {states:Array(String)}'],
    ['levels', levels.length === 0 ? undefined : levels, 'level IN {levels:Array(String)}'],
    ['search', search === '' ? undefined : search, contains],
  ];
  const used = input.filter(([, value]) => value !== undefined);
  return {
    wheres: used.map(([, , condition]) => condition),
    params: Object.fromEntries(used.map(([name, value]) => [name, value ?? ''])),
  };
}
