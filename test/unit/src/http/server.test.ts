import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '#api/services.ts';
import { jsonObject } from '#http/fields.ts';
import { healthRoutes } from '#modules/operations/health/routes.ts';
import { plainRoute, startHttpOnly, type HttpOnly } from '#test/support/worlds/http.ts';

let app: HttpOnly | undefined;
afterEach(async () => {
  await app?.[Symbol.asyncDispose]();
  app = undefined;
});

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

const start = async () => {
  app = await startHttpOnly([echo, ...healthRoutes]);
  return { app, key: app.addKey({ scopes: ['environment:*'] }) };
};

const json = (body: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
});

const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

describe('answers in JSON', () => {
  it.each([
    ['a success', 'GET /health HTTP/1.1', 200],
    ['a refusal', 'POST /echo HTTP/1.1', 401],
    ['no endpoint', 'GET /nowhere HTTP/1.1', 404],
    ['another method', 'DELETE /health HTTP/1.1', 405],
    ['what is no HTTP', 'nonsense', 400],
    ['a framing of its own', 'POST /echo HTTP/1.1\r\ntransfer-encoding: gzip, chunked', 400],
  ])('are taken for nothing else by a browser: %s', async (_what, head, status) => {
    const { app } = await start();
    const { hostname, port } = new URL(app.server.url);
    const socket = connect(Number(port), hostname);
    socket.end(`${head}\r\nhost: x\r\nconnection: close\r\n\r\n`);
    const answer = Buffer.concat(await socket.toArray())
      .toString()
      .toLowerCase();
    expect(answer).toMatch(new RegExp(`^http/1\\.1 ${status} `));
    expect(answer).toContain('\r\ncontent-type: application/json');
    expect(answer).toContain('\r\nx-content-type-options: nosniff\r\n');
  });
});

describe('a client that would like another protocol', () => {
  it.each([
    ['h2c', '/health', 200],
    ['websocket', '/health', 200],
    ['h2c', '/', 404],
  ])('%s at %s is answered in HTTP/1.1 as any other', async (upgrade, path, status) => {
    const { app } = await start();
    const { hostname, port } = new URL(app.server.url);
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade, 'http2-settings': '' };
    const answered = await new Promise((resolve, reject) => {
      const request = rawRequest({ hostname, port, path, headers, agent: false });
      request.on('response', (response) => {
        response.resume();
        resolve([response.statusCode, response.headers['content-type']]);
      });
      request.on('error', reject);
      request.end();
    });
    expect(answered).toEqual([status, 'application/json']);
  });
});

describe('bodies', () => {
  it('over 75 MB are refused before they are read', async () => {
    const { app, key } = await start();
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(app.server.url);
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': 76 * 1024 ** 2,
      };
      const request = rawRequest({ hostname, port, path: '/echo', method: 'POST', headers });
      request.on('response', (response) => {
        resolve(response.statusCode);
        request.destroy();
      });
      request.on('error', reject);
      request.flushHeaders();
    });
    expect(status).toBe(413);
  });

  it('without a length are cut while they are read', async () => {
    const { app, key } = await start();
    const chunk = Buffer.alloc(1024 ** 2, 32);
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(app.server.url);
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const request = rawRequest({ hostname, port, path: '/echo', method: 'POST', headers });
      let isAnswered = false;
      request.on('response', (response) => {
        isAnswered = true;
        resolve(response.statusCode);
        request.destroy();
      });
      request.on('error', (error) => (isAnswered ? undefined : reject(error)));
      const more = () => {
        if (!isAnswered) request.write(chunk, more);
      };
      more();
    });
    expect(status).toBe(413);
  });

  it('that are compressed, nested too deep, or no UTF-8 are refused', async () => {
    const { app, key } = await start();
    const packed = await app.fetch('/echo', {
      ...json('{}', { 'content-encoding': 'gzip' }),
      key,
      body: gzipSync('{"data":{}}'),
    });
    expect(packed.status).toBe(415);
    const deep = `{"data":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`;
    const nested = await app.fetch('/echo', { key, ...json(deep) });
    expect(await codeOf(nested)).toBe('invalid_json');
    const veryDeep = `{"data":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
    expect((await app.fetch('/echo', { key, ...json(veryDeep) })).status).toBe(400);
    const latin = await app.fetch('/echo', {
      ...json(''),
      key,
      body: Buffer.from([0x22, 0xe9, 0x22]),
    });
    expect(await codeOf(latin)).toBe('invalid_json');
  });

  it('take names of the prototype as data', async () => {
    const { app, key } = await start();
    const text = '{"data":{"__proto__":{"a":1},"constructor":{"prototype":2}}}';
    const response = await app.fetch('/echo', { key, ...json(text) });
    expect(await response.text()).toContain('"__proto__":{"a":1}');
    expect(({} as { a?: number }).a).toBeUndefined();
    const top = await app.fetch('/echo', { key, ...json('{"data":{},"__proto__":{"count":1}}') });
    expect(top.status).toBe(400);
  });
});

describe('the connection', () => {
  const exchange = (url: string, text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });

  const coded = (coding: string, version = '1.1') =>
    `POST /health HTTP/${version}\r\nhost: a\r\ntransfer-encoding: ${coding}\r\n\r\n0\r\n\r\n`;
  it.each([
    ['no HTTP', 'nonsense\r\n\r\n', '400'],
    ['chunks of an unknown coding', coded('foo, chunked'), '400'],
    ['chunks within chunks', coded('chunked, chunked'), '400'],
    ['chunks twice', coded('chunked\r\ntransfer-encoding: chunked'), '400'],
    ['an unknown coding alone', coded('foo'), '400'],
    ['chunks in HTTP/1.0', coded('chunked', '1.0'), '400'],
    [
      'two framings',
      'POST /health HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
    [
      'two lengths',
      'POST /health HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      '400',
    ],
    [
      'a head of 100 kB',
      `GET /health HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`,
      '431',
    ],
  ])('is cut after %s, with an answer in JSON', async (_what, text, status) => {
    const { app } = await start();
    const answer = await exchange(app.server.url, text);
    expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
    expect(answer).toContain('"code":"invalid_request"');
  });

  it('takes nothing for a request that follows a body of an unknown coding', async () => {
    let calls = 0;
    const counted = plainRoute('/counted', async () => {
      calls += 1;
      return { status: 200, body: { ok: true } };
    });
    const own = await startHttpOnly([counted, ...healthRoutes]);
    const key = own.addKey({ scopes: [] });
    const next = `GET /counted HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n\r\n`;
    const answers = await exchange(own.server.url, coded('foo, chunked') + next);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    expect(calls).toBe(0);
    await own[Symbol.asyncDispose]();
  });

  it('lets an answer under way finish when the server closes, and cuts what hangs', async () => {
    const [underWay, released] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
    const slow = plainRoute('/slow', async () => {
      underWay.resolve(null);
      await released.promise;
      return { status: 200, body: { ok: true } };
    });
    const own = await startHttpOnly([slow], { closeWithinMs: 30_000 });
    const key = own.addKey({ scopes: [] });
    const answer = own.fetch('/slow', { key });
    await underWay.promise;
    const closed = own[Symbol.asyncDispose]();
    released.resolve(null);
    expect(await (await answer).json()).toEqual({ ok: true });
    await closed;

    const never = plainRoute('/never', () => new Promise(() => undefined));
    const hangs = await startHttpOnly([never], { closeWithinMs: 20 });
    const hung = hangs.fetch('/never', { key: hangs.addKey({ scopes: [] }) }).catch(() => 'cut');
    await hangs[Symbol.asyncDispose]();
    expect(await hung).toBe('cut');
  });

  it('notifies the handler when the client has disconnected', async () => {
    const [underWay, gone] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
    const waits = defineRoute({
      method: 'GET',
      path: '/waits',
      credential: 'none',
      scopes: [],
      summary: 'Waits.',
      errors: [],
      async handle({ signal }) {
        underWay.resolve(null);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        gone.resolve(null);
        return { status: 200 };
      },
    });
    app = await startHttpOnly([waits]);
    const abort = new AbortController();
    const call = app.fetch('/waits', { signal: abort.signal }).catch(() => undefined);
    await underWay.promise;
    abort.abort();
    await gone.promise;
    await call;
  });
});
