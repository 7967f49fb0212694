import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, refusal } from '../client/api-error.ts';
import type { Json } from '../kernel/stable-json.ts';

/** Pause before an ended stream is requested again. */
const tryAgainMs = 2_000;

/** A response whose body is streamed. */
export type OpenStream = (
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Response>;

/**
 * The data of server-sent events, until the signal aborts. An interrupted stream is resumed after the last event,
 * so that none is missed.
 * @throws ApiError when the service refuses the stream, or cannot be reached at the start
 */
export async function* eventsOf(open: OpenStream, signal: AbortSignal): AsyncGenerator<Json> {
  let lastId: string | null = null;
  const isOver = (): boolean => signal.aborted;
  for (let isFirst = true; !isOver(); isFirst = false) {
    try {
      const headers = { accept: 'text/event-stream', ...ref(lastId) };
      const answer = await open(headers, signal);
      if (!answer.ok) throw refusal(answer.status, await answer.text());
      for await (const { id, data } of parsed(answer)) {
        lastId = id ?? lastId;
        yield JSON.parse(data) as Json;
      }
    } catch (error) {
      if (isOver()) return;
      const isRefused = error instanceof ApiError && error.code !== 'unreachable';
      if (isRefused || isFirst) throw error;
    }
    await pause(tryAgainMs, undefined, { signal }).catch(() => undefined);
  }
}

const ref = (lastId: string | null): Record<string, string> =>
  lastId === null ? {} : { 'last-event-id': lastId };

interface ReceivedEvent {
  readonly id: string | null;
  readonly data: string;
}

/** Comments and unused fields are skipped. */
async function* parsed({ body }: Response): AsyncGenerator<ReceivedEvent> {
  if (body === null) return;
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const data = valuesOf(lines, 'data').join('\n');
      if (data !== '') yield { id: valuesOf(lines, 'id')[0] ?? null, data };
    }
  }
}

const valuesOf = (lines: readonly string[], field: string): string[] =>
  lines
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).replace(/^ /, ''));
