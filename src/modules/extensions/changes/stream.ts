import { once } from 'node:events';
import { openSse } from '#http/sse.ts';
import type { StreamCall } from '#http/stream-route.ts';
import { whileAuthorized } from '#http/topic-tail.ts';
import { feedCursor, movedTo, type FeedPosition } from './position.ts';
import { followChanges, type FeedQuery, type FeedServices } from './read-changes.ts';

export type StreamFormat = 'text/event-stream' | 'application/x-ndjson';

/** A response of changes that goes on until it is disposed of. */
interface ChangeStream extends Disposable {
  /** Resolves when the client can take more. */
  send(changes: readonly string[], cursor: string): Promise<void>;
}

/** How often a stream without wanted changes reports its position. */
const cursorEveryMs = 15_000;

/**
 * Changes as they are appended, and after those of each batch the cursor behind them, until the client disconnects, the
 * server closes or the caller is no longer authorized. A slow client delays its own reading of the log.
 * @throws GatewayError before the response begins
 */
export async function streamChanges(
  call: StreamCall<FeedServices>,
  query: FeedQuery,
  from: FeedPosition,
  format: StreamFormat,
  isAuthorized: () => boolean,
): Promise<void> {
  using authorized = whileAuthorized(isAuthorized);
  const signal = AbortSignal.any([call.signal, call.closing, authorized.signal]);
  using stream =
    format === 'text/event-stream' ? openEvents(call, signal) : openLines(call, signal);
  let position = from;
  let reportedAt = performance.now();
  for await (const batch of followChanges(call.services, query, position, signal)) {
    position = movedTo(position, batch);
    const isDue = performance.now() - reportedAt >= cursorEveryMs;
    if (batch.changes.length === 0 && !isDue) continue;
    if (!isAuthorized()) return;
    reportedAt = performance.now();
    await stream.send(
      batch.changes.map(({ text }) => text),
      feedCursor(position),
    );
  }
}

/** Events named `change`, and `cursor`, which alone has an id. */
function openEvents(call: StreamCall<FeedServices>, signal: AbortSignal): ChangeStream {
  const events = openSse(call, signal);
  return {
    async send(changes, cursor) {
      for (const text of changes) await events.sendText({ event: 'change', text });
      await events.send({ id: cursor, event: 'cursor', data: { cursor } });
    },
    [Symbol.dispose]: () => events[Symbol.dispose](),
  };
}

/** A change a line; a line with the field `cursor` alone is the position behind those before it. */
function openLines(
  { response, begin }: StreamCall<FeedServices>,
  signal: AbortSignal,
): ChangeStream {
  begin(200, ['content-type', 'application/x-ndjson', 'cache-control', 'no-store']);
  response.flushHeaders();
  return {
    async send(changes, cursor) {
      const lines = [...changes, JSON.stringify({ cursor })].map((line) => `${line}\n`).join('');
      if (signal.aborted || response.write(lines)) return;
      await once(response, 'drain', { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
    [Symbol.dispose]: () => void response.end(),
  };
}
