import { z } from 'zod';
import { cursorOf } from '#http/cursor.ts';
import type { Caller } from '#http/define-route.ts';
import { bodyRefused } from '#http/error-response.ts';
import { GatewayError } from '#kernel/errors.ts';
import { present } from '#kernel/present.ts';
import { dayMicros, microsOf, type Micros } from '#kernel/time.ts';
import type { OperationsServices } from '../services.ts';
import { presentMessage, presentOperation } from './presenter.ts';
import { findMessages, findOperations, operationsOf, type OperationPlace } from './queries.ts';

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

type Deps = Pick<OperationsServices, 'control' | 'tables' | 'clock'>;

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
  const wanted = { ...present(filter), ...present({ functions: syncs, states: named(states) }) };
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
  return presentOperation(row, environmentUid, deps, caller.has('environment:connections:list'));
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

/**
 * Connection ids are secrets for a key that may not list them (docs/reference/http.md#scopes): such a key must name
 * them.
 * @throws GatewayError `forbidden`
 */
export function requireNamed(caller: Caller, connections: readonly string[] | undefined): void {
  if (caller.has('environment:connections:list') || (connections?.length ?? 0) > 0) return;
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
