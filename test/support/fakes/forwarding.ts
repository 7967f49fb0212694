import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import type { ForwardRequest, HttpClient } from '#ports/http-client.ts';

/** A provider that speaks for itself, byte by byte. */
export interface RawUpstream {
  readonly url: URL;
  /** Of all connections so far. */
  readonly sockets: readonly Socket[];
  /** What each connection has received. */
  readonly received: readonly string[];
}

/** Upstreams and clients of a test; disposed with it. */
export class Forwarding implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();

  /** @param answer called when a whole head has come */
  async upstream(answer: (socket: Socket, head: string) => void): Promise<RawUpstream> {
    const sockets: Socket[] = [];
    const received: string[] = [];
    const server = createServer((socket) => {
      const at = sockets.push(socket) - 1;
      received.push('');
      socket.on('error', () => socket.destroy());
      socket.setEncoding('latin1').on('data', (text: unknown) => {
        received[at] = `${received[at] ?? ''}${String(text)}`;
        if (String(text).includes('\r\n\r\n')) answer(socket, received[at] ?? '');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#stack.defer(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`);
    return { url, sockets, received };
  }

  client(): HttpClient {
    return this.#stack.use(createHttpClient({ allow: ['127.0.0.0/8'] }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

export interface Taken {
  status: number;
  headers: readonly string[];
  body: string;
}

export const forwarded = (url: URL): ForwardRequest => ({
  method: 'GET',
  url,
  headers: {},
  body: null,
  streamBytes: null,
  isDecoded: false,
  headTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
  deadline: Number.POSITIVE_INFINITY,
  cancellation: { isCancelled: false, listener: null },
});

/** One exchange, its answer taken as fast as it comes. */
export async function forward(
  http: HttpClient,
  url: URL,
  over: Partial<ForwardRequest> & { readonly isUnwanted?: true } = {},
): Promise<Taken> {
  const taken: Taken = { status: 0, headers: [], body: '' };
  const { isUnwanted, ...request } = over;
  await http.forward({ ...forwarded(url), ...request }, () => ({
    head(status, _text, headers) {
      Object.assign(taken, { status, headers });
      return isUnwanted !== true;
    },
    data(piece) {
      taken.body += piece.toString('latin1');
      return true;
    },
  }));
  // A connection is free once all that has come over it is read.
  await setImmediate();
  return taken;
}

/** The code of its failure. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (error: unknown) => (error as { code: string }).code,
  );

export const okWith = (body: string, ...fields: string[]): string =>
  ['HTTP/1.1 200 OK', ...fields, `content-length: ${body.length}`, '', body].join('\r\n');
