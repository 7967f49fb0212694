import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHealthServer } from '#api/health-server.ts';
import { defineRoute } from '#api/services.ts';
import { jsonObject } from '#http/fields.ts';
import { limits } from '#kernel/limits.ts';
import { healthRoutes } from '#modules/operations/health/routes.ts';
import { exchangeRaw, readResponses } from '#test/support/judges/raw-http.ts';
import { startHttpOnly, type HttpOnly } from '#test/support/worlds/http.ts';

let stack: AsyncDisposableStack;
let app: HttpOnly;
let key: string;
let healthUrl: string;
/** Requests of `/slow` wait for it. */
let gate: PromiseWithResolvers<null>;
/** How many requests of `/slow` wait. */
let waiting = 0;
let onWaiting: () => void = () => undefined;

const echo = defineRoute({
  method: 'POST',
  path: '/echo',
  credential: 'environment',
  scopes: [],
  summary: 'Echo.',
  body: z.strictObject({ data: jsonObject }),
  errors: [],
  handle: async ({ body }) => ({ status: 200, body }),
});
const slow = defineRoute({
  method: 'POST',
  path: '/slow',
  credential: 'none',
  scopes: [],
  summary: 'Waits.',
  errors: [],
  async handle() {
    waiting += 1;
    onWaiting();
    await gate.promise;
    return { status: 200, body: { ok: true } };
  },
});

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  app = stack.use(await startHttpOnly([echo, slow, ...healthRoutes]));
  key = app.addKey({ scopes: ['environment:*'] });
  const health = await createHealthServer({
    readiness: () => [],
    scrape: async () => ({ text: 'svc_build_info 1\n', mediaType: 'text/plain' }),
    host: '127.0.0.1',
    port: 0,
  });
  healthUrl = stack.use(health).url;
});
afterAll(() => stack.disposeAsync());

/** What no request may contain, from the first byte of its head. */
const brokenHeads: [string, string, number][] = [
  ['no HTTP', 'nonsense\r\n\r\n', 400],
  ['an unknown method', 'FETCH / HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['an unknown version', 'GET / HTTP/4.2\r\nhost: a\r\n\r\n', 400],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['a name with a space', 'GET / HTTP/1.1\r\nhost: a\r\nx y: 1\r\n\r\n', 400],
  ['a bare line feed', 'GET / HTTP/1.1\nhost: a\n\n', 400],
  ['a folded header', 'GET / HTTP/1.1\r\nhost: a\r\n x\r\nq\r\n\r\n', 400],
  ['a control character', 'GET / HTTP/1.1\r\nhost: a\r\nx: \u0001\r\n\r\n', 400],
  [
    'a head that is too long',
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(limits.requestHeaderBytesMax)}\r\n\r\n`,
    431,
  ],
  [
    'a target that is too long',
    `GET /${'x'.repeat(limits.requestHeaderBytesMax)} HTTP/1.1\r\nhost: a\r\n\r\n`,
    431,
  ],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', 400],
];

const post = (path: string, headers: string, body: string): [string, string] => [
  `POST ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`,
  body,
];
const chunked = 'transfer-encoding: chunked';
const longText = 'x'.repeat(2 * limits.requestHeaderBytesMax);

/** Requests whose head can be read, and whose body cannot; the second text follows in the same segment, or later. */
const brokenBodies: [string, string, string][] = [
  ['an unknown coding', 'transfer-encoding: xchunked', '5\r\nhello\r\n0\r\n\r\n'],
  ['an unknown coding and no body', 'transfer-encoding: xchunked', ''],
  ['an unknown coding behind chunks', 'transfer-encoding: chunked, x', '0\r\n\r\n'],
  ['an unknown coding before broken chunks', 'transfer-encoding: gzip, chunked', 'zz\r\n'],
  ['an empty coding', 'transfer-encoding:', 'hello'],
  ['two codings', 'transfer-encoding: x\r\ntransfer-encoding: chunked', '0\r\n\r\nGET / HTTP/1.1'],
  ['a length and chunks', `content-length: 3\r\n${chunked}`, '0\r\n\r\n'],
  ['two lengths', 'content-length: 3\r\ncontent-length: 4', 'abcd'],
  ['a list of lengths', 'content-length: 3, 3', 'abc'],
  ['a length that is no number', 'content-length: 0x3', 'abc'],
  ['a length below zero', 'content-length: -1', 'abc'],
  ['a length over every number', 'content-length: 99999999999999999999', 'abc'],
  ['a size that is no number', chunked, 'zz\r\nhello\r\n'],
  ['a size below zero', chunked, '-5\r\nhello\r\n'],
  ['a size over every number', chunked, 'fffffffffffffffff\r\nhello'],
  ['a chunk that is longer than its size', chunked, '2\r\nhello\r\n0\r\n\r\n'],
  ['a size that ends in a line feed', chunked, '5\nhello\r\n0\r\n\r\n'],
  ['an extension that is too long', chunked, `5;x=${longText}\r\nhello\r\n0\r\n\r\n`],
  ['a trailer that is too long', chunked, `0\r\nx: ${longText}\r\n\r\n`],
  ['a trailer that is none', chunked, '0\r\nx y\r\n\r\n'],
  ['a broken chunk behind no host', chunked, 'zz\r\n'],
  ['an unknown expectation', `expect: 200-ok\r\n${chunked}`, 'zz\r\n'],
  ['a broken chunk after an expectation', `expect: 100-continue\r\n${chunked}`, 'zz\r\n'],
];

const valid = 'GET /health HTTP/1.1\r\nhost: a\r\n\r\n';
const listeners: [string, () => string][] = [
  ['the API', () => app.server.url],
  ['a process without the API', () => healthUrl],
];

describe.each(listeners)('%s', (_listener, url) => {
  describe.each(brokenHeads)('answers once to %s', (_what, text, status) => {
    it('alone', async () => {
      expect(await exchangeRaw(url(), [{ text }])).toEqual({ statuses: [status], rest: '' });
    });

    it('and takes nothing for a request that follows', async () => {
      const sent = [{ text: text + valid }];
      expect(await exchangeRaw(url(), sent)).toEqual({ statuses: [status], rest: '' });
    });

    it('after the responses to whole requests, in one segment and in two', async () => {
      const expected = { statuses: [200, 200, status], rest: '' };
      expect(await exchangeRaw(url(), [{ text: valid + valid + text }])).toEqual(expected);
      const segments = [{ text: valid + valid }, { text, after: 2 }];
      expect(await exchangeRaw(url(), segments)).toEqual(expected);
    });
  });

  /** Read before the body, after it, not at all, and on no endpoint. */
  const targets: [string, string][] = [
    ['/echo', 'authorization: Bearer none'],
    ['/echo', 'content-type: application/json'],
    ['/health', 'x: y'],
    ['/nowhere', 'x: y'],
  ];
  describe.each(brokenBodies)('answers once to %s', (_what, framing, body) => {
    it.each(targets)('at %s with %s', async (path, header) => {
      const own = header.startsWith('content-type')
        ? `${header}\r\nauthorization: Bearer ${key}`
        : header;
      const [head] = post(path, `${own}\r\n${framing}`, body);
      const ways = [
        [{ text: head + body }],
        [{ text: head }, { text: body }],
        [{ text: head + body + valid }],
        [{ text: (head + body).replace('host: a\r\n', '') }],
      ];
      for (const segments of ways) {
        const { statuses, rest } = await exchangeRaw(url(), segments);
        expect([statuses.length, rest]).toEqual([1, '']);
      }
    });

    it('after the responses to whole requests', async () => {
      const [head] = post('/echo', framing, body);
      const { statuses, rest } = await exchangeRaw(url(), [{ text: valid + valid + head + body }]);
      expect([statuses.length, rest]).toEqual([3, '']);
    });
  });

  it.each([
    ['chunks', chunked, 'zz\r\nhello'],
    ['a trailer', chunked, `0\r\nx: ${longText}\r\n\r\n`],
  ])(
    'closes without a second response when %s break after the first',
    async (_what, framing, body) => {
      for (const path of ['/echo', '/nowhere', '/health']) {
        const [head] = post(path, framing, body);
        const segments = [{ text: head }, { text: body, after: 1 }];
        const { statuses, rest } = await exchangeRaw(url(), segments);
        expect([statuses.length, rest]).toEqual([1, '']);
      }
    },
  );

  it('closes without a second response when the client leaves within the body', async () => {
    const { hostname, port } = new URL(url());
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = '';
    socket.setEncoding('latin1').on('data', (text: unknown) => {
      received += String(text);
      if (readResponses(received).statuses.length === 1) socket.end();
    });
    socket.write(post('/echo', 'content-length: 100', '').join(''));
    await once(socket, 'close');
    const { statuses, rest } = readResponses(received);
    expect([statuses.length, rest]).toEqual([1, '']);
  });

  it('answers what was whole when data follow the last request of a connection', async () => {
    const last = 'GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    expect(await exchangeRaw(url(), [{ text: `${last}nonsense` }])).toEqual({
      statuses: [200],
      rest: '',
    });
  });
});

describe('a request under way', () => {
  const wait = 'POST /slow HTTP/1.1\r\nhost: a\r\n\r\n';
  /** Sends, and opens the gate when that many requests wait and the server has closed its reading of the rest. */
  async function whileWaiting(text: string): Promise<unknown> {
    gate = Promise.withResolvers<null>();
    waiting = 0;
    const entered = new Promise<void>((resolve) => (onWaiting = resolve));
    const exchanged = exchangeRaw(app.server.url, [{ text }]);
    await entered;
    // A request of its own is answered: the bytes above, sent before, are read.
    await app.fetch('/health');
    gate.resolve(null);
    return exchanged;
  }

  it.each(brokenHeads)(
    'gets its response before that to %s behind it',
    async (_what, text, status) => {
      expect(await whileWaiting(wait + text)).toEqual({ statuses: [200, status], rest: '' });
    },
  );

  it.each(brokenBodies)(
    'gets its response before that to %s behind it',
    async (_what, framing, body) => {
      const text = wait + post('/nowhere', framing, body).join('');
      expect(await whileWaiting(text)).toMatchObject({
        statuses: [200, expect.any(Number)],
        rest: '',
      });
      expect(waiting).toBe(1);
    },
  );

  it('gets its response before a WebSocket opens behind it', async () => {
    const upgrade = [
      'GET / HTTP/1.1',
      'host: a',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 7',
      'sec-websocket-key: x',
      '',
      '',
    ].join('\r\n');
    expect(await whileWaiting(wait + upgrade)).toMatchObject({ statuses: [200, 400], rest: '' });
  });

  it('gets the one response when its own body breaks', async () => {
    const [head] = post('/slow', chunked, '');
    expect(await whileWaiting(`${head}zz\r\n`)).toEqual({ statuses: [400], rest: '' });
  });
});
