import { z } from 'zod';
import type { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { GatewayError } from '#kernel/errors.ts';
import { splitKey } from '#kernel/ids.ts';
import type { Batch, EventLog, Position } from '#ports/event-log.ts';
import type { Codec, Schemas } from '#ports/schemas.ts';
import { cursorOf } from './cursor.ts';
import { openSse } from './sse.ts';
import type { StreamCall } from './stream-route.ts';

const batchBytesMax = 1024 ** 2;
/** How soon a stream ends after its key or session. */
const authorizationEveryMs = 1_000;

/** The position of a reader of the topic: the next offset of each partition. */
export const tailCursor = cursorOf(z.array(z.int().min(0)).min(1).max(10_000));

export interface TopicTail<T> {
  /** Its keys begin with the environment. */
  readonly topic: string;
  /** The name of the events. */
  readonly event: string;
  /** Each reader reads the complete topic. */
  readonly slots: EnvironmentSlots;
  /** The data of the event of a message; null: it is not wanted. */
  readonly dataOf: (message: T) => unknown;
  /** Whether the key and the session of the caller still exist. */
  readonly isAuthorized: () => boolean;
}

interface TailServices {
  readonly log: EventLog;
  readonly schemas: Schemas;
}

/**
 * The messages of the caller's environment as they are appended, as server-sent events, until the client disconnects,
 * the server closes, or the caller is no longer authorized. The event id is the position in the log: with
 * `Last-Event-ID` the stream resumes directly after it, within the retention of the topic. A slow client delays its own
 * reading of the log.
 * @throws GatewayError `invalid_cursor_value`, `too_many_request`, `log_unavailable` before the response begins
 */
export async function tailTopic<T>(
  call: StreamCall<TailServices>,
  topicTail: TopicTail<T>,
): Promise<void> {
  using _slot = topicTail.slots.take(call.caller.environmentUid);
  await follow(call, topicTail);
}

async function follow<T>(call: StreamCall<TailServices>, topicTail: TopicTail<T>): Promise<void> {
  const { services, caller, request } = call;
  const { topic, event, dataOf, isAuthorized } = topicTail;
  const codec = await services.schemas.codec<T>(topic);
  const from = await startOf(services.log, topic, request.headers['last-event-id']);
  using authorized = whileAuthorized(isAuthorized);
  const signal = AbortSignal.any([call.signal, call.closing, authorized.signal]);
  using stream = openSse(call, signal);
  const next = from.map(({ offset }) => offset);
  for await (const batch of services.log.follow(from, { signal, maxBytes: batchBytesMax })) {
    for (const { message, offset } of messagesOf(batch, caller.environmentUid, codec)) {
      next[batch.partition] = offset + 1;
      const data = dataOf(message);
      if (data === null) continue;
      if (!isAuthorized()) return;
      await stream.send({ id: tailCursor.text(next), event, data });
    }
    next[batch.partition] = batch.next;
  }
}

/** A signal that aborts once the caller is no longer authorized. */
export function whileAuthorized(
  isAuthorized: () => boolean,
): Disposable & { readonly signal: AbortSignal } {
  const stop = new AbortController();
  const timer = setInterval(() => {
    if (!isAuthorized()) stop.abort();
  }, authorizationEveryMs);
  timer.unref();
  return { signal: stop.signal, [Symbol.dispose]: () => clearInterval(timer) };
}

/** @throws GatewayError `invalid_cursor_value` */
async function startOf(
  log: EventLog,
  topic: string,
  lastEventId: string | string[] | undefined,
): Promise<Position[]> {
  const ends = await log.endOffsets(topic);
  const placed = (offsets: readonly number[]): Position[] =>
    offsets.map((offset, partition) => ({ topic, partition, offset }));
  if (typeof lastEventId !== 'string' || lastEventId === '') return placed(ends);
  const offsets = tailCursor.parse(lastEventId);
  const isOfThisLog =
    offsets.length === ends.length && offsets.every((offset, at) => offset <= (ends[at] ?? 0));
  if (!isOfThisLog) throw new GatewayError('invalid_cursor_value');
  return placed(offsets);
}

/** The key contains the environment: messages of other environments are not decoded. */
function* messagesOf<T>(
  { messages }: Batch,
  environmentUid: string,
  codec: Codec<T>,
): Generator<{ readonly message: T; readonly offset: number }> {
  for (const { key, value, offset } of messages) {
    if (value === null || splitKey(key)[0] !== environmentUid) continue;
    yield { message: codec.decode(value), offset };
  }
}
