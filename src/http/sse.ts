import { once } from 'node:events';
import type { StreamCall } from './stream-route.ts';

/** Proxies close connections that are silent for a minute. */
const sayEveryMs = 15_000;
/** How long a client waits before it reconnects. */
const retryMs = 2_000;

/** One event; `data` becomes a line of JSON. */
export interface SseEvent {
  /** Returned by the client as `Last-Event-ID`. Without line ends. */
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** One event without an id: the stream resumes before it. */
interface SseText {
  readonly event: string;
  /** JSON in one line. */
  readonly text: string;
}

export interface SseStream extends Disposable {
  /** As `send`. */
  sendText(event: SseText): Promise<void>;
  /** Resolves when the client can take more. Sends nothing after the client has disconnected. */
  send(event: SseEvent): Promise<void>;
}

/**
 * Begins a response of server-sent events (media type `text/event-stream`) and keeps it open with comments.
 * Disposing ends it.
 * @param signal aborted when the client disconnects
 */
export function openSse(
  { response, begin }: Pick<StreamCall, 'response' | 'begin'>,
  signal: AbortSignal,
): SseStream {
  const type = 'text/event-stream; charset=utf-8';
  begin(200, ['content-type', type, 'cache-control', 'no-store', 'x-accel-buffering', 'no']);
  response.write(`retry: ${retryMs}\n\n`);
  const timer = setInterval(() => response.write(': still here\n\n'), sayEveryMs);
  timer.unref();
  const write = async (text: string): Promise<void> => {
    if (signal.aborted || response.write(text)) return;
    await once(response, 'drain', { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  };
  return {
    send: ({ id, event, data }) =>
      write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    sendText: ({ event, text }) => write(`event: ${event}\ndata: ${text}\n\n`),
    [Symbol.dispose]() {
      clearInterval(timer);
      response.end();
    },
  };
}
