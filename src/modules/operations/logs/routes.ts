import { z } from 'zod';
import { checkQuery } from '#http/check-parts.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { connectionId, functionName, integrationKey, text, listOf } from '#http/fields.ts';
import { json, content } from '#http/responses.ts';
import type { StreamRoute } from '#http/stream-route.ts';
import { tailTopic } from '#http/topic-tail.ts';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { limits } from '#kernel/limits.ts';
import { isStillAuthorized } from '#modules/access/console-sessions/handlers.ts';
import { defineRoute, type OperationsServices } from '../services.ts';
import type { LogEntry } from './events.ts';
import { messagesOf, operationsPage, requireOperation, requireNamed } from './handlers.ts';
import { messagesShape, oneOperationShape, operationsShape, presentEntry } from './presenter.ts';

const listedOnce = <T extends z.ZodType>(item: T) =>
  listOf(item).refine((list) => list.length <= 20, 'Send at most 20.');

const query = z.strictObject({
  integrations: listedOnce(integrationKey).optional(),
  connections: listedOnce(connectionId).optional(),
  syncs: listedOnce(functionName).optional(),
  levels: listedOnce(z.enum(['debug', 'info', 'warn', 'error'])).optional(),
  operationId: z.string().max(255).optional(),
});
const slots = new EnvironmentSlots({
  total: limits.tailStreamsMax,
  perEnvironment: limits.environmentTailStreamsMax,
  code: 'too_many_request',
  noun: 'streams of the log',
});
type TailQuery = z.output<typeof query>;

/** The live log: server-sent events named `message`, each with one message of the log (`tailTopic`). */
export const logsTailRoute: StreamRoute<OperationsServices> = {
  prefix: '/logs/tail',
  path: '/logs/tail',
  methods: ['GET'],
  credential: 'environment',
  scopes: ['environment:logs:read'],
  summary: 'Follow the log.',
  description: 'Server-sent events; the stream ends when the key is deleted.',
  query,
  headers: z.object({ 'last-event-id': z.string().optional() }),
  answers: { 200: content('Events named `message`, one for each entry.', 'text/event-stream') },
  errors: ['invalid_query_params', 'invalid_cursor_value'],
  async handle(call) {
    const wanted = checkQuery(query, call.target.split('?', 2)[1] ?? '');
    requireNamed(call.caller, wanted.connections);
    await tailTopic<LogEntry>(call, {
      topic: 'svc.logs.v1',
      event: 'message',
      dataOf: (entry) => (isWanted(entry, wanted) ? presentEntry(entry) : null),
      slots,
      isAuthorized: () => isStillAuthorized(call.services, call.caller),
    });
  },
};

function isWanted(entry: LogEntry, wanted: TailQuery): boolean {
  const { integrations, connections, syncs, levels, operationId } = wanted;
  const isOne = (list: readonly unknown[] | undefined, value: string | null): boolean =>
    list === undefined || list.includes(value);
  return (
    isOne(integrations, entry.integration) &&
    isOne(connections, entry.connection_id) &&
    isOne(syncs, entry.function) &&
    isOne(levels, entry.level) &&
    (operationId === undefined || operationId === entry.operation_id)
  );
}

const limit = z.number().int().min(1).max(500).default(100);
const operationId = text(1, 255);
const cursor = text(1, 1024);
const period = z.strictObject({
  from: z.iso.datetime({ offset: true }).describe('Start of the period (RFC 3339).'),
  to: z.iso.datetime({ offset: true }).describe('End of the period (RFC 3339).'),
});
const levels = z.array(z.enum(['debug', 'info', 'warn', 'error'])).max(4);
const states = z
  .array(z.enum(['all', 'waiting', 'running', 'success', 'failed', 'timeout', 'cancelled']))
  .max(10);
const type = z.string().regex(/^[a-z_-]{1,64}(:[a-z_-]{1,64})?$/, 'Send a type, or type:action.');
const few = <T extends z.ZodType>(item: T) => z.array(item).max(20);

const scopes = ['environment:logs:read'] as const;

const listOperations = defineRoute({
  method: 'POST',
  path: '/logs/operations',
  writes: false,
  credential: 'environment',
  scopes,
  summary: 'List operations of the log, newest first.',
  description: 'Those of the last 24 hours, unless `period` is sent. Entries are kept for 15 days.',
  body: z.strictObject({
    search: text(0, 256)
      .optional()
      .describe(
        'Text in a message of the operation, in the name of its function, or in the id of its connection or the name or e-mail address of its end user.',
      ),
    limit,
    cursor: cursor.nullable().optional(),
    states: states.optional(),
    types: few(type)
      .optional()
      .describe('Only operations of these types, as `type` or `type:action`.'),
    integrations: few(integrationKey).optional(),
    connections: few(connectionId).optional(),
    syncs: few(functionName).optional(),
    levels: levels.optional(),
    period: period.optional(),
  }),
  answers: { 200: json('A page of operations.', operationsShape) },
  errors: ['invalid_cursor_value'],
  async handle({ body, caller, services }) {
    return { status: 200, body: await operationsPage(services, caller, body) };
  },
});

const getOperation = defineRoute({
  method: 'GET',
  path: '/logs/operations/{operationId}',
  credential: 'environment',
  scopes,
  summary: 'Get an operation of the log.',
  params: z.strictObject({ operationId }),
  answers: { 200: json('The operation.', oneOperationShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const data = await requireOperation(services, caller, params.operationId);
    return { status: 200, body: { data } };
  },
});

const listMessages = defineRoute({
  method: 'POST',
  path: '/logs/messages',
  writes: false,
  credential: 'environment',
  scopes,
  summary: 'List the messages of an operation, newest first.',
  body: z.strictObject({
    operationId,
    limit,
    search: text(0, 100).optional().describe('Text in the message.'),
    states: states.optional(),
    levels: levels.optional(),
    cursorBefore: cursor.nullable().optional(),
    cursorAfter: cursor.nullable().optional(),
    period: period.optional(),
  }),
  answers: { 200: json('A page of messages.', messagesShape) },
  errors: ['not_found', 'invalid_cursor_value'],
  async handle({ body, caller, services }) {
    return { status: 200, body: await messagesOf(services, caller, body) };
  },
});

export const logRoutes: readonly AnyRoute[] = [listOperations, getOperation, listMessages];
