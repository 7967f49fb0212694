import { ApiError, refusal } from './api-error.ts';
import { pause } from './pause.ts';

/** One server-sent event. */
export interface ServerEvent {
  /** A stream is resumed after it; null when the event has none. */
  readonly id: string | null;
  /** The name of the event. */
  readonly event: string;
  /** JSON parsed. */
  readonly data: unknown;
}

/** Pause before an ended stream is requested again. */
const tryAgainMs = 2_000;

type OpenStream = (headers: Readonly<Record<string, string>>) => Promise<Response>;

/**
 * The events of a stream until the signal aborts; an ended stream is requested again after the last event.
 * @throws ApiError when the service refuses the stream, or cannot be reached at the start
 */
export async function* eventsOf(
  open: OpenStream,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  let headers: Readonly<Record<string, string>> = { accept: 'text/event-stream' };
  let wasOpen = false;
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    try {
      const answer = await open(headers);
      if (!answer.ok) throw refusal(answer.status, await answer.text());
      wasOpen = true;
      for await (const event of parsed(answer)) {
        // Those that came in one piece with the last one.
        if (isOver()) return;
        if (event.id !== null) headers = { ...headers, 'last-event-id': event.id };
        yield event;
      }
    } catch (error) {
      if (isOver()) return;
      if (!wasOpen || !isInterruption(error)) throw error;
    }
    await pause(tryAgainMs, signal);
  }
}

/** A broken connection is a TypeError of `fetch`. */
const isInterruption = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ApiError && error.code === 'unreachable');

/** Comments and unused fields are skipped. */
async function* parsed({ body }: Response): AsyncGenerator<ServerEvent> {
  if (body === null) return;
  let text = '';
  for await (const piece of textOf(body)) {
    text += piece;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const [id = null] = valuesOf(lines, 'id');
      const [event = 'message'] = valuesOf(lines, 'event');
      const data = valuesOf(lines, 'data').join('\n');
      if (data !== '') yield { id, event, data: JSON.parse(data) };
    }
  }
}

/** Read with a reader, because streams are not iterable in every browser. */
async function* textOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const valuesOf = (lines: readonly string[], field: string): string[] =>
  lines
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).replace(/^ /, ''));
