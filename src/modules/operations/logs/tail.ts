import { endsOf } from '../../../control-plane/consume.ts';
import { z } from 'zod';
import { content } from '../../../http/responses.ts';
import { openSse } from '../../../http/sse.ts';
import { connectionId, functionName, integrationKey, listOf } from '../../../http/fields.ts';
import { checkQuery } from '../../../http/check-parts.ts';
import type { StreamCall, StreamRoute } from '../../../http/stream-route.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { splitKey } from '../../../kernel/ids.ts';
import type { Batch, Position } from '../../../ports/event-log.ts';
import type { Codec } from '../../../ports/schemas.ts';
import { tailCursor } from './cursor.ts';
import type { LogEntry } from './events.ts';
import { requireNamed } from './handlers.ts';
import { presentEntry } from './presenter.ts';
import type { OperationsServices } from '../services.ts';

const topic = 'svc.logs.v1';
/** Limit of concurrent readers of the topic in one process: each reads the complete topic. */
const tailsMax = 50;
const batchBytesMax = 1024 ** 2;

const few = <T extends z.ZodType>(item: T) =>
  listOf(item).refine((list) => list.length <= 20, 'Send at most 20.');

const query = z.strictObject({
  integrations: few(integrationKey).optional(),
  connections: few(connectionId).optional(),
  syncs: few(functionName).optional(),
  levels: few(z.enum(['debug', 'info', 'warn', 'error'])).optional(),
  operationId: z.string().max(255).optional(),
});
type Wanted = z.output<typeof query>;

let tails = 0;

/**
 * The live log: server-sent events named `message`, each with one message of the log. The event id is the position in
 * the log: with `Last-Event-ID` the stream resumes directly after it, within the retention of the log.
 */
export const tailRoute: StreamRoute<OperationsServices> = {
  prefix: '/logs/tail',
  path: '/logs/tail',
  methods: ['GET'],
  credential: 'environment',
  scopes: ['environment:logs:read'],
  summary: 'The log as it is written, as server-sent events.',
  query,
  headers: z.object({ 'last-event-id': z.string().optional() }),
  answers: { 200: content('Events named `message`, one for each entry.', 'text/event-stream') },
  errors: ['invalid_query_params', 'invalid_cursor_value'],
  async handle(call) {
    const wanted = checkQuery(query, call.target.split('?', 2)[1] ?? '');
    requireNamed(call.caller, wanted.connections);
    if (tails >= tailsMax) throw new GatewayError('too_many_request', { retryAfterS: 5 });
    tails += 1;
    try {
      await tail(call, wanted);
    } finally {
      tails -= 1;
    }
  },
};

async function tail(call: StreamCall<OperationsServices>, wanted: Wanted): Promise<void> {
  const { services, caller, request } = call;
  const codec = await services.schemas.codec<LogEntry>(topic);
  const from = await startOf(services.log, request.headers['last-event-id']);
  const signal = AbortSignal.any([call.signal, call.closing]);
  using stream = openSse(call, signal);
  const next = from.map(({ offset }) => offset);
  for await (const batch of services.log.follow(from, { signal, maxBytes: batchBytesMax })) {
    for (const { entry, offset } of entriesOf(batch, caller.environmentUid, codec)) {
      next[batch.partition] = offset + 1;
      if (!isWanted(entry, wanted)) continue;
      const id = tailCursor.text(next);
      await stream.send({ id, event: 'message', data: presentEntry(entry) });
    }
    next[batch.partition] = batch.next;
  }
}

/** @throws GatewayError `invalid_cursor_value` */
async function startOf(
  log: OperationsServices['log'],
  lastEventId: string | string[] | undefined,
): Promise<Position[]> {
  const ends = await endsOf(log, topic);
  if (typeof lastEventId !== 'string' || lastEventId === '') return ends;
  const offsets = tailCursor.parse(lastEventId);
  const isOfThisLog =
    offsets.length === ends.length &&
    offsets.every((offset, at) => offset <= (ends[at]?.offset ?? 0));
  if (!isOfThisLog) throw new GatewayError('invalid_cursor_value');
  return offsets.map((offset, partition) => ({ topic, partition, offset }));
}

/** The key contains the environment: messages of other environments are not decoded. */
function* entriesOf(
  { messages }: Batch,
  environmentUid: string,
  codec: Codec<LogEntry>,
): Generator<{ readonly entry: LogEntry; readonly offset: number }> {
  for (const { key, value, offset } of messages) {
    if (value === null || splitKey(key)[0] !== environmentUid) continue;
    yield { entry: codec.decode(value), offset };
  }
}

function isWanted(entry: LogEntry, wanted: Wanted): boolean {
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
