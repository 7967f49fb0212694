import { z } from 'zod';
import { cursorOf } from '#http/cursor.ts';
import type { Caller } from '#http/define-route.ts';
import { bodyRefused } from '#http/error-response.ts';
import { GatewayError } from '#kernel/errors.ts';
import { present } from '#kernel/present.ts';
import { dayMicros, microsOf, type Micros, type Clock } from '#kernel/time.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import { mayListConnections } from '#modules/connections/connections/known-connections.ts';
import { connectionsNamed } from '#modules/connections/connections/queries.ts';
import { tableOf } from '#streams/projector/active-generation.ts';
import { micros, timestamp, where } from '#tables/where.ts';
import { presentMessage, presentOperation } from './presenter.ts';
import { logs } from './projection.ts';
import type { EntryRow, OperationRow } from './rows.ts';

type QueryDeps = EntityQueries;

/** Filter of operations; absent = any. */
interface OperationFilter {
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
  /** Text in any message or context of the operation, or in the name of its function, in any case. */
  readonly search?: string;
  /** Connections, as `integration/id`, that a search finds too. */
  readonly named?: readonly string[];
}

/** Position in the list: operations are sorted by start time, newest first. */
interface OperationPlace {
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
async function findOperations(
  deps: QueryDeps,
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
    [`(operation_id IN (SELECT operation_id FROM ${table} WHERE ${inRange} AND ${contains})
       OR positionCaseInsensitiveUTF8(function, {search:String}) > 0
       OR concat(integration, '/', connection_id) IN {named:Array(String)})`]:
      search === '' ? null : { search, named: filter.named ?? [] },
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
async function operationsOf(
  { control, tables }: QueryDeps,
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
interface MessageFilter {
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
async function findMessages(
  { control, tables }: QueryDeps,
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

const number = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const operationPlace = cursorOf(z.tuple([number, z.string().max(512)]));

/** After this operation, in the order of the list. */
const operationCursor = {
  text: ({ startedAt, operationId }: OperationPlace): string =>
    operationPlace.text([startedAt, operationId]),
  parse(text: string): OperationPlace {
    const [startedAt, operationId] = operationPlace.parse(text);
    return { startedAt, operationId };
  },
};

/** Position of a message within its operation. */
const messageCursor = cursorOf(number);

interface Deps extends EntityQueries {
  readonly clock: Clock;
}

interface Period {
  readonly from: string;
  readonly to: string;
}

interface PageRequest {
  readonly limit: number;
  readonly search?: string | undefined;
  readonly states?: readonly string[] | undefined;
  readonly levels?: readonly string[] | undefined;
  readonly period?: Period | undefined;
}

interface OperationsRequest extends PageRequest {
  readonly cursor?: string | null | undefined;
  readonly types?: readonly string[] | undefined;
  readonly integrations?: readonly string[] | undefined;
  readonly connections?: readonly string[] | undefined;
  readonly syncs?: readonly string[] | undefined;
}

/** @throws GatewayError `forbidden`, `invalid_body`, `invalid_cursor_value`, `projection_unavailable` */
export async function operationsPage(deps: Deps, caller: Caller, request: OperationsRequest) {
  const { limit, cursor, syncs, period, states, ...filter } = request;
  requireNamed(caller, request.connections);
  const now = deps.clock.nowMicros();
  const { from, to } =
    period === undefined ? { from: now - dayMicros, to: now } : timestampsOf(period);
  const { environmentUid } = caller;
  const after = cursor == null ? null : operationCursor.parse(cursor);
  const { search = '' } = filter;
  const connections = search === '' ? [] : connectionsNamed(deps.control, environmentUid, search);
  const found = { functions: syncs, states: named(states), named: connections };
  const wanted = { ...present(filter), ...present(found) };
  const { rows, total } = await findOperations(
    deps,
    { ...wanted, environmentUid, from, to },
    { after, limit: limit + 1 },
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const next =
    last === undefined
      ? null
      : operationCursor.text({ startedAt: Number(last.started), operationId: last.operation_id });
  const data = page.map((row) => presentOperation(row, environmentUid, deps, true));
  return { data, pagination: { total, cursor: next } };
}

/** @throws GatewayError `not_found`, `projection_unavailable` */
export async function requireOperation(deps: Deps, caller: Caller, operationId: string) {
  const { environmentUid } = caller;
  const [row] = await operationsOf(deps, environmentUid, [operationId]);
  if (row === undefined) throw unknownOperation(operationId);
  return presentOperation(row, environmentUid, deps, mayListConnections(caller));
}

interface MessagesRequest extends PageRequest {
  readonly operationId: string;
  readonly cursorBefore?: string | null | undefined;
  readonly cursorAfter?: string | null | undefined;
}

/** @throws GatewayError `not_found`, `invalid_body`, `invalid_cursor_value`, `projection_unavailable` */
export async function messagesOf(deps: Deps, { environmentUid }: Caller, request: MessagesRequest) {
  const { limit, cursorBefore, cursorAfter, period, states, ...filter } = request;
  const after = cursorAfter == null ? undefined : messageCursor.parse(cursorAfter);
  const before = cursorBefore == null ? undefined : messageCursor.parse(cursorBefore);
  if (after !== undefined && before !== undefined) {
    throw bodyRefused(['cursorAfter'], 'Send cursorBefore or cursorAfter, not both.');
  }
  const timestamps = period === undefined ? {} : timestampsOf(period);
  const places = { after, before, states: named(states) };
  const wanted = { ...present(filter), ...present(places), ...timestamps };
  const { operationId } = filter;
  const { rows, total } = await findMessages(
    deps,
    { ...wanted, environmentUid, operationId },
    limit + 1,
  );
  if (rows.length === 0) {
    const existing = await operationsOf(deps, environmentUid, [operationId]);
    if (existing.length === 0) throw unknownOperation(operationId);
  }
  const isMore = rows.length > limit;
  // The extra row is the furthest from the position of the reader.
  const page = after === undefined ? rows.slice(0, limit) : rows.slice(isMore ? 1 : 0);
  const [newest, oldest] = [page.at(0), page.at(-1)];
  const isOlder = after === undefined ? isMore : oldest !== undefined;
  return {
    data: page.map(presentMessage),
    pagination: {
      total,
      cursorBefore: isOlder && oldest ? messageCursor.text(Number(oldest.log_offset)) : null,
      cursorAfter: newest ? messageCursor.text(Number(newest.log_offset)) : (cursorAfter ?? null),
    },
  };
}

/** @throws GatewayError `forbidden`: what is of all connections needs the scope to list those */
export function requireNamed(caller: Caller, connections: readonly string[] | undefined): void {
  if (mayListConnections(caller) || (connections?.length ?? 0) > 0) return;
  const message = 'Without the scope environment:connections:list, name the connections.';
  throw new GatewayError('forbidden', { message });
}

/** Null = all states. */
const named = (states: readonly string[] | undefined): readonly string[] | undefined =>
  states?.includes('all') === true ? undefined : states;

function timestampsOf({ from, to }: Period): {
  readonly from: Micros;
  readonly to: Micros;
} {
  return { from: timestampOf(from, 'from'), to: timestampOf(to, 'to') };
}

function timestampOf(input: string, field: string): Micros {
  const timestamp = microsOf(input);
  if (timestamp !== null && timestamp >= 0) return timestamp;
  throw bodyRefused(
    ['period', field],
    'Send a date-time since 1970, such as 2026-02-01T08:00:00Z.',
  );
}

function unknownOperation(operationId: string): GatewayError {
  const message = `The operation "${operationId}" is not in the log of this environment, which keeps 15 days.`;
  return new GatewayError('not_found', { message });
}
