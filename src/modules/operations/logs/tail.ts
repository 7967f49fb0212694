import { z } from 'zod';
import { checkQuery } from '#http/check-parts.ts';
import { connectionId, functionName, integrationKey, listOf } from '#http/fields.ts';
import { content } from '#http/responses.ts';
import type { StreamRoute } from '#http/stream-route.ts';
import { tailTopic } from '#http/topic-tail.ts';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { limits } from '#kernel/limits.ts';
import { isStillAuthorized } from '#modules/access/console-sessions/handlers.ts';
import type { OperationsServices } from '../services.ts';
import type { LogEntry } from './events.ts';
import { requireNamed } from './handlers.ts';
import { presentEntry } from './presenter.ts';

const few = <T extends z.ZodType>(item: T) =>
  listOf(item).refine((list) => list.length <= 20, 'Send at most 20.');

const query = z.strictObject({
  integrations: few(integrationKey).optional(),
  connections: few(connectionId).optional(),
  syncs: few(functionName).optional(),
  levels: few(z.enum(['debug', 'info', 'warn', 'error'])).optional(),
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
