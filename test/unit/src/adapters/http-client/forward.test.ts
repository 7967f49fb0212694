import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import type { AnswerFlow, ForwardRequest } from '#ports/http-client.ts';
import {
  codeOf,
  forward,
  forwarded,
  Forwarding,
  okWith,
  type RawUpstream,
} from '#test/support/fakes/forwarding.ts';

let world: Forwarding;
beforeEach(() => {
  world = new Forwarding();
});
afterEach(() => world[Symbol.asyncDispose]());

describe('a connection to a provider', () => {
  it('is used again, one exchange after the other', async () => {
    const to = await world.upstream((socket) => socket.write(okWith('a')));
    const http = world.client();
    for (let n = 0; n < 3; n += 1) expect((await forward(http, to.url)).body).toBe('a');
    expect(to.sockets).toHaveLength(1);
  });

  it('is never shared by two exchanges at a time', async () => {
    const waiting: Socket[] = [];
    const to = await world.upstream((socket) => {
      waiting.push(socket);
      if (waiting.length === 2) for (const each of waiting) each.write(okWith('a'));
    });
    const http = world.client();
    await Promise.all([forward(http, to.url), forward(http, to.url)]);
    expect(to.sockets).toHaveLength(2);
  });

  it.each([
    ['says that it closes', okWith('a', 'connection: close')],
    [
      'sends more than the answer',
      `${okWith('a')}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`,
    ],
    ['sends a body where none can be', `HTTP/1.1 204 No Content\r\ncontent-length: 1\r\n\r\na`],
  ])('is not used again when the provider %s', async (_, text) => {
    const to = await world.upstream((socket) => socket.write(text));
    const http = world.client();
    for (let n = 0; n < 2; n += 1) expect((await forward(http, to.url)).body).toMatch(/^a?$/);
    expect(to.sockets).toHaveLength(2);
  });

  it('is not used again when something came over it that nobody had asked for', async () => {
    const to = await world.upstream((socket) => socket.write(okWith('a')));
    const http = world.client();
    await forward(http, to.url);
    const [first] = to.sockets;
    const closed = new Promise((resolve) => first?.once('close', resolve));
    first?.write(okWith('evil'));
    await closed;
    expect((await forward(http, to.url)).body).toBe('a');
    expect(to.sockets).toHaveLength(2);
  });

  /** Answers the first request of the first connection, and closes that at the second without a word. */
  const closingOnce = (word = ''): Promise<RawUpstream> => {
    let asked = 0;
    return world.upstream((socket) => {
      asked += 1;
      if (asked === 2) socket.end(word);
      else socket.write(okWith(`${asked}`));
    });
  };

  it.each(['GET', 'HEAD', 'OPTIONS', 'DELETE'])(
    'that has been kept and ends under a %s is replaced, and the request sent again',
    async (method) => {
      const to = await closingOnce();
      const http = world.client();
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
    const http = world.client();
    await forward(http, to.url);
    expect(await codeOf(forward(http, to.url, request))).toBe('ECONNRESET');
    expect(to.sockets).toHaveLength(1);
  });

  it('is replaced only once: a new one that ends is a failure', async () => {
    let asked = 0;
    const to = await world.upstream((socket) => {
      asked += 1;
      if (asked === 1) socket.write(okWith('a'));
      else socket.end();
    });
    const http = world.client();
    await forward(http, to.url);
    expect(await codeOf(forward(http, to.url))).toBe('ECONNRESET');
    expect(to.sockets).toHaveLength(2);
  });

  it('is not used again when the provider has answered before it had the whole body', async () => {
    const to = await world.upstream((socket) => socket.write(okWith('early')));
    const http = world.client();
    const body = new Readable({ read: () => undefined });
    body.push('first');
    expect((await forward(http, to.url, { method: 'POST', body })).body).toBe('early');
    await forward(http, to.url);
    expect(to.sockets).toHaveLength(2);
    body.destroy();
  });

  it('is cut when the body of the answer is not wanted', async () => {
    const to = await world.upstream((socket) => socket.write(okWith('a')));
    const http = world.client();
    await forward(http, to.url, { isUnwanted: true });
    await forward(http, to.url);
    expect(to.sockets).toHaveLength(2);
  });
});

describe('an answer', () => {
  it('comes out the same however the network cuts it', async () => {
    const fields = 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 201 Made\r\nX-A: 1\r\n';
    const text = `${fields}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nx-t: 1\r\n\r\n`;
    const to = await world.upstream((socket) => {
      const send = (at: number): void => {
        socket.write(text[at] ?? '', 'latin1', () => {
          if (at + 1 < text.length) void setImmediate(at + 1).then(send);
        });
      };
      socket.setNoDelay(true);
      send(0);
    });
    const taken = await forward(world.client(), to.url);
    expect(taken).toEqual({
      status: 201,
      headers: ['x-a', '1', 'transfer-encoding', 'chunked'],
      body: 'abcde',
    });
  });

  it('without a length ends with its connection', async () => {
    const to = await world.upstream((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
    expect((await forward(world.client(), to.url)).body).toBe('all of it');
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
    const to = await world.upstream((socket) => socket.end(text, 'latin1'));
    expect(await codeOf(forward(world.client(), to.url))).toBe(code);
  });

  /** Sends the text, and then the piece again and again. */
  const endless = (text: string, piece: string) =>
    world.upstream((socket) => {
      const next = (): void => {
        if (!socket.destroyed) socket.write(piece, () => setTimeout(next, 20));
      };
      socket.write(text, next);
    });

  it('whose head never ends is late', async () => {
    const head = 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n';
    const to = await endless(head, 'x: 1\r\n');
    expect(await codeOf(forward(world.client(), to.url, { headTimeoutMs: 200 }))).toBe('ETIMEDOUT');
  });

  it.each([
    ['by length', 'content-length: 100000', 'x'],
    ['in chunks', 'transfer-encoding: chunked', '1\r\nx\r\n'],
    ['without a length', 'x: 1', 'x'],
  ])('whose body comes byte by byte %s ends with the time of the call', async (_, field, piece) => {
    const to = await endless(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`, piece);
    const deadline = performance.now() + 200;
    expect(await codeOf(forward(world.client(), to.url, { deadline }))).toBe('ETIMEDOUT');
  });

  it('that never comes, or stops, is late', async () => {
    const silent = await world.upstream(() => undefined);
    const stopping = await world.upstream((socket) =>
      socket.write(okWith('0123456789').slice(0, -5)),
    );
    const idle = { idleTimeoutMs: 20, headTimeoutMs: 20 };
    expect(await codeOf(forward(world.client(), silent.url, idle))).toBe('ETIMEDOUT');
    expect(await codeOf(forward(world.client(), stopping.url, idle))).toBe('ETIMEDOUT');
  });

  it('is not late while its taker holds it up', async () => {
    const text = okWith('0123456789');
    const to = await world.upstream((socket) => socket.write(text.slice(0, -5)));
    const held = Promise.withResolvers<undefined>();
    let flow: AnswerFlow | null = null;
    let body = '';
    const request = { ...forwarded(to.url), idleTimeoutMs: 200 };
    const answered = world.client().forward(request, (given) => {
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
    const to = await world.upstream((socket) => socket.write(okWith('')));
    await using http = createHttpClient({
      allow: [],
      resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const named = new URL(`http://inside.example:${to.url.port}/x`);
    for (const url of [to.url, named]) {
      expect(await codeOf(forward(http, url))).toBe('url_not_allowed');
    }
    expect(to.sockets).toEqual([]);
  });
});

describe('a request', () => {
  it.each([
    ['bytes', Buffer.from('hello'), null, 'content-length: 5\r\n\r\nhello'],
    ['a stream of known length', 'stream', 5, 'content-length: 5\r\n\r\nhello'],
    ['a stream', 'stream', null, 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
    ['nothing', null, null, 'content-length: 0\r\n\r\n'],
  ])('carries %s as its body', async (_, given, streamBytes, sent) => {
    const to = await world.upstream((socket, text) => {
      if (text.endsWith(sent)) socket.write(okWith('done'));
    });
    const body = given === 'stream' ? Readable.from([Buffer.from('hello')]) : given;
    await forward(world.client(), to.url, {
      method: 'POST',
      body: body as Buffer | null,
      streamBytes,
    });
    const [received = ''] = to.received;
    expect(received.startsWith(`POST /x HTTP/1.1\r\nhost: ${to.url.host}\r\n`)).toBe(true);
    expect(received.endsWith(sent)).toBe(true);
  });

  it('carries no header that is of the connection', async () => {
    const to = await world.upstream((socket) => socket.write(okWith('')));
    const headers = {
      Host: 'evil.example',
      'Transfer-Encoding': 'chunked',
      Connection: 'x-a',
      'Content-Length': '7',
      'Keep-Alive': 'timeout=5',
      'Proxy-Authorization': 'Basic x',
      'Proxy-Connection': 'keep-alive',
      TE: 'trailers',
      Trailer: 'x-b',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'x',
      Expect: '100-continue',
      'x-a': '1',
    };
    await forward(world.client(), to.url, { headers });
    expect(to.received[0]).toBe(
      `GET /x HTTP/1.1\r\nhost: ${to.url.host}\r\nconnection: keep-alive\r\nx-a: 1\r\n\r\n`,
    );
  });

  it.each([
    ['a line break', 'a\r\nx-evil: 1'],
    ['a character that would become a line break', 'a\u010ax-evil: 1'],
    ['a NUL', 'a\0'],
  ])('with %s in a header is not sent', async (_, value) => {
    const to = await world.upstream((socket) => socket.write(okWith('')));
    expect(await codeOf(forward(world.client(), to.url, { headers: { 'x-a': value } }))).toBe(
      'ERR_INVALID_CHAR',
    );
    expect(to.sockets).toEqual([]);
  });

  it.each([
    ['is shorter', 'hell'],
    ['is longer', 'hello!'],
  ])('whose body %s than was said is given up', async (_, sent) => {
    const to = await world.upstream(() => undefined);
    const body = Readable.from([Buffer.from(sent)]);
    const failing = codeOf(
      forward(world.client(), to.url, { method: 'POST', body, streamBytes: 5 }),
    );
    expect(await failing).toBe('ERR_BODY_LENGTH');
  });

  it('ends with its connection when it is cancelled', async () => {
    const gone = { isCancelled: false, listener: null as (() => void) | null };
    const closed = Promise.withResolvers<undefined>();
    const to = await world.upstream((socket) => {
      socket.once('close', () => closed.resolve(undefined));
      gone.isCancelled = true;
      gone.listener?.();
    });
    const cancelled = forward(world.client(), to.url, { cancellation: gone });
    expect(await codeOf(cancelled)).toBe('ERR_CANCELED');
    expect(await codeOf(forward(world.client(), to.url, { cancellation: gone }))).toBe(
      'ERR_CANCELED',
    );
    await closed.promise;
    expect(to.sockets).toHaveLength(1);
  });
});
