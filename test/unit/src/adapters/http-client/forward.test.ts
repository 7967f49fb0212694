import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../../../src/adapters/http-client/undici.ts';
import type {
  AnswerFlow,
  ForwardRequest,
  HttpClient,
} from '../../../../../src/ports/http-client.ts';

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const opened of stack.splice(0).reverse()) await opened[Symbol.asyncDispose]();
});

interface Upstream {
  readonly url: URL;
  /** Of all connections so far. */
  readonly sockets: readonly Socket[];
  /** What each connection has received. */
  readonly received: readonly string[];
}

/** A server that speaks for itself, byte by byte. @param answer called when a whole head has come */
async function upstream(answer: (socket: Socket, head: string) => void): Promise<Upstream> {
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
  stack.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`);
  return { url, sockets, received };
}

function client(): HttpClient {
  const made = createHttpClient({ allow: ['127.0.0.0/8'] });
  stack.push(made);
  return made;
}

interface Taken {
  status: number;
  headers: readonly string[];
  body: string;
}

const asked = (url: URL): ForwardRequest => ({
  method: 'GET',
  url,
  headers: {},
  body: null,
  isDecoded: false,
  idleTimeoutMs: 10_000,
  cancellation: { isCancelled: false, listener: null },
});

/** One exchange, its answer taken as fast as it comes. */
async function forward(
  http: HttpClient,
  url: URL,
  over: Partial<ForwardRequest> & { readonly isUnwanted?: true } = {},
): Promise<Taken> {
  const taken: Taken = { status: 0, headers: [], body: '' };
  const { isUnwanted, ...request } = over;
  await http.forward({ ...asked(url), ...request }, () => ({
    head(status, _text, headers) {
      Object.assign(taken, { status, headers });
      return isUnwanted !== true;
    },
    data(piece) {
      taken.body += piece.toString('latin1');
      return true;
    },
  }));
  return taken;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (error: unknown) => (error as { code: string }).code,
  );

const answer = (body: string, ...fields: string[]): string =>
  ['HTTP/1.1 200 OK', ...fields, `content-length: ${body.length}`, '', body].join('\r\n');

describe('a connection to a provider', () => {
  it('is used again, one exchange after the other', async () => {
    const to = await upstream((socket) => socket.write(answer('a')));
    const http = client();
    for (let n = 0; n < 3; n += 1) expect((await forward(http, to.url)).body).toBe('a');
    expect(to.sockets).toHaveLength(1);
  });

  it('is never shared by two exchanges at a time', async () => {
    const waiting: Socket[] = [];
    const to = await upstream((socket) => {
      waiting.push(socket);
      if (waiting.length === 2) for (const each of waiting) each.write(answer('a'));
    });
    const http = client();
    await Promise.all([forward(http, to.url), forward(http, to.url)]);
    expect(to.sockets).toHaveLength(2);
  });

  it.each([
    ['says that it closes', answer('a', 'connection: close')],
    [
      'sends more than the answer',
      `${answer('a')}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`,
    ],
    ['sends a body where none can be', `HTTP/1.1 204 No Content\r\ncontent-length: 1\r\n\r\na`],
  ])('is not used again when the provider %s', async (_, text) => {
    const to = await upstream((socket) => socket.write(text));
    const http = client();
    for (let n = 0; n < 2; n += 1) expect((await forward(http, to.url)).body).toMatch(/^a?$/);
    expect(to.sockets).toHaveLength(2);
  });

  it('is not used again when something came over it that nobody had asked for', async () => {
    const to = await upstream((socket) => socket.write(answer('a')));
    const http = client();
    await forward(http, to.url);
    const [first] = to.sockets;
    const closed = new Promise((resolve) => first?.once('close', resolve));
    first?.write(answer('evil'));
    await closed;
    expect((await forward(http, to.url)).body).toBe('a');
    expect(to.sockets).toHaveLength(2);
  });

  /** Answers the first request of the first connection, and closes that at the second without a word. */
  const closingOnce = (word = ''): Promise<Upstream> => {
    let asked = 0;
    return upstream((socket) => {
      asked += 1;
      if (asked === 2) socket.end(word);
      else socket.write(answer(`${asked}`));
    });
  };

  it.each(['GET', 'HEAD', 'OPTIONS', 'DELETE'])(
    'that has been kept and ends under a %s is replaced, and the request sent again',
    async (method) => {
      const to = await closingOnce();
      const http = client();
      await forward(http, to.url);
      const taken = await forward(http, to.url, { method });
      expect(taken).toMatchObject({ status: 200, body: method === 'HEAD' ? '' : '3' });
      expect(to.sockets).toHaveLength(2);
    },
  );

  it.each<[string, Partial<ForwardRequest>, string]>([
    ['has a body', { method: 'PUT', body: Buffer.from('a') }, ''],
    ['does more when it is repeated', { method: 'POST' }, ''],
    ['has a part of its answer', {}, 'HTTP/1.1 2'],
  ])('that ends is the failure of a request that %s', async (_, request, word) => {
    const to = await closingOnce(word);
    const http = client();
    await forward(http, to.url);
    expect(await codeOf(forward(http, to.url, request))).toBe('ECONNRESET');
    expect(to.sockets).toHaveLength(1);
  });

  it('is replaced only once: a new one that ends is a failure', async () => {
    let asked = 0;
    const to = await upstream((socket) => {
      asked += 1;
      if (asked === 1) socket.write(answer('a'));
      else socket.end();
    });
    const http = client();
    await forward(http, to.url);
    expect(await codeOf(forward(http, to.url))).toBe('ECONNRESET');
    expect(to.sockets).toHaveLength(2);
  });

  it('is not used again when the provider has answered before it had the whole body', async () => {
    const to = await upstream((socket) => socket.write(answer('early')));
    const http = client();
    const body = new Readable({ read: () => undefined });
    body.push('first');
    expect((await forward(http, to.url, { method: 'POST', body })).body).toBe('early');
    await forward(http, to.url);
    expect(to.sockets).toHaveLength(2);
    body.destroy();
  });

  it('is cut when the body of the answer is not wanted', async () => {
    const to = await upstream((socket) => socket.write(answer('a')));
    const http = client();
    await forward(http, to.url, { isUnwanted: true });
    await forward(http, to.url);
    expect(to.sockets).toHaveLength(2);
  });
});

describe('an answer', () => {
  it('comes out the same however the network cuts it', async () => {
    const fields = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 201 Made\r\nX-A: 1\r\n';
    const text = `${fields}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nx-t: 1\r\n\r\n`;
    const to = await upstream((socket) => {
      const send = (at: number): void => {
        socket.write(text[at] ?? '', 'latin1', () => {
          if (at + 1 < text.length) setImmediate(send, at + 1);
        });
      };
      socket.setNoDelay(true);
      send(0);
    });
    const taken = await forward(client(), to.url);
    expect(taken).toEqual({
      status: 201,
      headers: ['x-a', '1', 'transfer-encoding', 'chunked'],
      body: 'abcde',
    });
  });

  it('without a length ends with its connection', async () => {
    const to = await upstream((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
    expect((await forward(client(), to.url)).body).toBe('all of it');
  });

  it.each([
    ['ends within its head', 'HTTP/1.1 200 OK\r\nx: ', 'ECONNRESET'],
    ['ends before its length', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', 'ECONNRESET'],
    [
      'ends before its last chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n',
      'ECONNRESET',
    ],
    [
      'has two framings',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      'ERR_INVALID_ANSWER',
    ],
    [
      'switches protocols',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n',
      'ERR_INVALID_ANSWER',
    ],
    ['has a head without end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}`, 'ERR_INVALID_ANSWER'],
    [
      'is announced without end',
      'HTTP/1.1 100 Continue\r\n\r\n'.repeat(4_000),
      'ERR_INVALID_ANSWER',
    ],
    ['is no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 'ERR_INVALID_ANSWER'],
  ])('that %s is a failure', async (_, text, code) => {
    const to = await upstream((socket) => socket.end(text, 'latin1'));
    expect(await codeOf(forward(client(), to.url))).toBe(code);
  });

  it('that never comes, or stops, is late', async () => {
    const silent = await upstream(() => undefined);
    const stopping = await upstream((socket) => socket.write(answer('0123456789').slice(0, -5)));
    const idle = { idleTimeoutMs: 20 };
    expect(await codeOf(forward(client(), silent.url, idle))).toBe('ETIMEDOUT');
    expect(await codeOf(forward(client(), stopping.url, idle))).toBe('ETIMEDOUT');
  });

  it('is not late while its taker holds it up', async () => {
    const text = answer('0123456789');
    const to = await upstream((socket) => socket.write(text.slice(0, -5)));
    const held = Promise.withResolvers<undefined>();
    let flow: AnswerFlow | null = null;
    let body = '';
    const request = { ...asked(to.url), idleTimeoutMs: 200 };
    const answered = client().forward(request, (given) => {
      flow = given;
      return {
        head: () => true,
        data(piece) {
          body += piece.toString('latin1');
          held.resolve(undefined);
          return false;
        },
      };
    });
    await held.promise;
    to.sockets[0]?.write(text.slice(-5));
    // Longer than it may stand still, and than it takes to be noticed.
    await wait(1_300);
    (flow as AnswerFlow | null)?.resume();
    await answered;
    expect(body).toBe('0123456789');
  });
});

describe('the egress policy', () => {
  it('refuses an address, and a name that leads to one, before anything is sent', async () => {
    const to = await upstream((socket) => socket.write(answer('')));
    const http = createHttpClient({
      allow: [],
      resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    stack.push(http);
    const named = new URL(`http://inside.example:${to.url.port}/x`);
    for (const url of [to.url, named]) {
      expect(await codeOf(forward(http, url))).toBe('url_not_allowed');
    }
    expect(to.sockets).toEqual([]);
  });
});

describe('a request', () => {
  it.each([
    ['bytes', Buffer.from('hello'), {}, 'content-length: 5\r\n\r\nhello'],
    [
      'a stream of known length',
      'stream',
      { 'content-length': '5' },
      'content-length: 5\r\n\r\nhello',
    ],
    ['a stream', 'stream', {}, 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
    ['nothing', null, {}, 'content-length: 0\r\n\r\n'],
  ])('carries %s as its body', async (_, given, headers, sent) => {
    const to = await upstream((socket, text) => {
      if (text.endsWith(sent)) socket.write(answer('done'));
    });
    const body = given === 'stream' ? Readable.from([Buffer.from('hello')]) : given;
    await forward(client(), to.url, { method: 'POST', body: body as Buffer | null, headers });
    const [received = ''] = to.received;
    expect(received.startsWith(`POST /x HTTP/1.1\r\nhost: ${to.url.host}\r\n`)).toBe(true);
    expect(received.endsWith(sent)).toBe(true);
  });

  it('carries no header that is of the connection', async () => {
    const to = await upstream((socket) => socket.write(answer('')));
    const headers = {
      Host: 'evil.example',
      'Transfer-Encoding': 'chunked',
      Connection: 'x-a',
      'Content-Length': '7',
      'x-a': '1',
    };
    await forward(client(), to.url, { headers });
    expect(to.received[0]).toBe(
      `GET /x HTTP/1.1\r\nhost: ${to.url.host}\r\nconnection: keep-alive\r\nx-a: 1\r\n\r\n`,
    );
  });

  it.each([
    ['a line break', 'a\r\nx-evil: 1'],
    ['a character that would become a line break', 'a\u010ax-evil: 1'],
    ['a NUL', 'a\0'],
  ])('with %s in a header is not sent', async (_, value) => {
    const to = await upstream((socket) => socket.write(answer('')));
    expect(await codeOf(forward(client(), to.url, { headers: { 'x-a': value } }))).toBe(
      'ERR_INVALID_CHAR',
    );
    expect(to.sockets).toEqual([]);
  });

  it.each([
    ['is shorter', 'hell'],
    ['is longer', 'hello!'],
  ])('whose body %s than was said is given up', async (_, sent) => {
    const to = await upstream(() => undefined);
    const body = Readable.from([Buffer.from(sent)]);
    const headers = { 'content-length': '5' };
    const failing = codeOf(forward(client(), to.url, { method: 'POST', body, headers }));
    expect(await failing).toBe('ERR_BODY_LENGTH');
  });

  it('ends with its connection when it is cancelled', async () => {
    const gone = { isCancelled: false, listener: null as (() => void) | null };
    const closed = Promise.withResolvers<undefined>();
    const to = await upstream((socket) => {
      socket.once('close', () => closed.resolve(undefined));
      gone.isCancelled = true;
      gone.listener?.();
    });
    const cancelled = forward(client(), to.url, { cancellation: gone });
    expect(await codeOf(cancelled)).toBe('ERR_CANCELED');
    expect(await codeOf(forward(client(), to.url, { cancellation: gone }))).toBe('ERR_CANCELED');
    await closed.promise;
    expect(to.sockets).toHaveLength(1);
  });
});
