import { checkAnswer } from './answers.ts';

export interface ReadEvent {
  readonly id: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into any event
  readonly data: any;
}

export interface EventReader extends AsyncDisposable {
  /** The next event; throws when the stream ended. */
  next(): Promise<ReadEvent>;
}

type Headers = Readonly<Record<string, string>>;

/** Reads server-sent events as a browser does. Resolves when the answer has begun. */
export async function eventsOf(
  url: string,
  { headers }: { readonly headers: Headers },
): Promise<EventReader> {
  const blocks = await blocksOf(url, headers, '\n\n');
  return {
    async next() {
      for (;;) {
        const event = parsed(await blocks.next());
        if (event !== null) return event;
      }
    },
    [Symbol.asyncDispose]: () => blocks[Symbol.asyncDispose](),
  };
}

interface LineReader extends AsyncDisposable {
  /** The media type of the answer. */
  readonly type: string | null;
  /** The value of the next line; throws when the stream ended. */
  next(): Promise<Readonly<Record<string, unknown>>>;
}

/** Reads an object of JSON from each line. Resolves when the answer has begun. */
export async function linesOf(
  url: string,
  { headers }: { readonly headers: Headers },
): Promise<LineReader> {
  const blocks = await blocksOf(url, headers, '\n');
  return {
    type: blocks.type,
    next: async () => JSON.parse(await blocks.next()) as Readonly<Record<string, unknown>>,
    [Symbol.asyncDispose]: () => blocks[Symbol.asyncDispose](),
  };
}

async function blocksOf(url: string, headers: Headers, separator: string) {
  const leaving = new AbortController();
  const answer = await fetch(url, { headers, signal: leaving.signal });
  const text = answer.status === 200 ? '' : await answer.text();
  checkAnswer('GET', url, { status: answer.status, headers: answer.headers, text });
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${text}`);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let read = '';
  return {
    type: answer.headers.get('content-type'),
    async next(): Promise<string> {
      for (;;) {
        const end = read.indexOf(separator);
        if (end >= 0) {
          const block = read.slice(0, end);
          read = read.slice(end + separator.length);
          return block;
        }
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream ended');
        read += value;
      }
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      // Also with events that nobody has read, which keep the stream from closing by itself.
      await reader.cancel().catch(() => undefined);
    },
  };
}

/** Null of comments and of what is no event. */
function parsed(block: string): ReadEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const data = fields.get('data');
  if (data === undefined) return null;
  return {
    id: fields.get('id') ?? '',
    event: fields.get('event') ?? 'message',
    data: JSON.parse(data) as unknown,
  };
}
