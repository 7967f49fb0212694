import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEchoUpstream, type EchoUpstream } from '#test/support/fakes/echo-upstream.ts';
import { openProxyWorld, type ProxyWorld } from '#test/support/worlds/proxy-world.ts';

const chunk = Buffer.alloc(64 * 1024, 'x');
const gigabyte = 1024 ** 3;
/** Far below what passes through, far above what garbage collection moves. */
const growthMaxBytes = 256 * 1024 ** 2;

let stack: AsyncDisposableStack;
let world: ProxyWorld;
/** Another provider, reached by another base URL. */
let echo: EchoUpstream;
/** Bytes of bodies that the upstream has taken, and of answers that it could give away. */
let taken = 0;
let given = 0;

const chunksOf = function* (bytes: number, count: (bytes: number) => void = () => undefined) {
  for (let left = bytes; left > 0; left -= chunk.length) {
    count(chunk.length);
    yield chunk;
  }
};

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-streams-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const server = createServer((asked, answer) => {
    if (asked.method === 'POST') {
      asked.on('data', (data: Buffer) => (taken += data.length));
      asked.on('end', () => answer.end(String(taken)));
      return;
    }
    const body = Readable.from(
      chunksOf(gigabyte, (bytes) => (given += bytes)),
      { objectMode: false },
    );
    // The caller may go away before the end.
    pipeline(body, answer).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  echo = stack.use(await openEchoUpstream());
  const allowed = `${new URL(url).host},${echo.hostPort}`;
  world = stack.use(await openProxyWorld(folder, url, { SVC_EGRESS_ALLOW: allowed }));
});
afterAll(() => stack.disposeAsync());
beforeEach(() => void echo.received.splice(0));

/** Resident memory of the gateway, in bytes. */
async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${world.gateway.process.pid ?? 0}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** How far memory grew beyond what it was, while the work was done. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = await residentBytes();
  let highest = before;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      highest = Math.max(highest, await residentBytes());
      await wait(20);
    }
  })();
  await work().finally(() => {
    isDone = true;
  });
  await watching;
  return highest - before;
}

function proxied(method: string) {
  const { hostname, port } = new URL(world.gateway.url);
  return request({ hostname, port, method, path: '/proxy/stream', headers: world.headers });
}

describe('a gigabyte through the proxy', () => {
  it('comes down without being kept', async () => {
    let bytes = 0;
    const grown = await growthDuring(async () => {
      const asked = proxied('GET').end();
      const [answer] = (await once(asked, 'response')) as [Readable];
      for await (const data of answer) bytes += (data as Buffer).length;
    });
    expect(bytes).toBe(gigabyte);
    expect(grown).toBeLessThan(growthMaxBytes);
  });

  it('goes up without being kept', async () => {
    const grown = await growthDuring(async () => {
      const asked = proxied('POST');
      const answered = once(asked, 'response') as Promise<[Readable]>;
      await pipeline(Readable.from(chunksOf(gigabyte), { objectMode: false }), asked);
      const [answer] = await answered;
      const [text] = (await answer.toArray()) as [Buffer];
      expect(text.toString()).toBe(String(gigabyte));
    });
    expect(taken).toBe(gigabyte);
    expect(grown).toBeLessThan(growthMaxBytes);
  });

  it('waits where the caller does not read on', async () => {
    given = 0;
    const grown = await growthDuring(async () => {
      const asked = proxied('GET').end();
      const [answer] = (await once(asked, 'response')) as [Readable];
      await once(answer, 'readable');
      // Nothing is read until the upstream has been held up for a while.
      let before = -1;
      while (before !== given) {
        before = given;
        await wait(500);
      }
      answer.destroy();
    });
    expect(given).toBeLessThan(growthMaxBytes);
    expect(grown).toBeLessThan(growthMaxBytes);
  });
});

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A call to the other provider, and its answer as it came. */
async function raw(path: string, more: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
  const { hostname, port } = new URL(world.gateway.url);
  const headers = { ...world.headers, 'base-url-override': echo.url, ...more };
  const sent = request({ hostname, port, path: `/proxy${path}`, headers }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat((await answer.toArray()) as Buffer[]);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body };
}

describe('a proxied call', () => {
  it('sends no header of a connection to the provider, whatever it is called', async () => {
    const ofConnection = {
      connection: 'x-a',
      'content-length': '5',
      expect: '100-continue',
      host: 'evil.example',
      'http2-settings': 'AAMAAABkAAQAAP__',
      'keep-alive': 'timeout=9',
      'proxy-authenticate': 'Basic',
      'proxy-authorization': 'Basic eDp5',
      'proxy-connection': 'keep-alive',
      te: 'trailers',
      trailer: 'x-b',
      'transfer-encoding': 'chunked',
      upgrade: 'h2c',
    };
    const headers: Record<string, string> = {
      connection: 'close, SVC-Proxy-X-Hop',
      'svc-proxy-x-hop': '1',
      'svc-proxy-x-b': '2',
    };
    for (const [name, value] of Object.entries(ofConnection)) headers[`svc-proxy-${name}`] = value;
    const sent = await raw('/v1/me', headers);
    expect(sent.status).toBe(200);
    const [received] = echo.received;
    const { host, connection, ...others } = received?.headers ?? {};
    expect([host, connection]).toEqual([echo.hostPort, 'keep-alive']);
    expect(others).toMatchObject({ 'x-b': '2' });
    for (const name of [...Object.keys(ofConnection), 'x-hop']) {
      expect(others).not.toHaveProperty(name);
    }
  });

  it('has request id and rate limit of the gateway, and those of the provider under a prefix', async () => {
    echo.on('/limited', (_received, response) => {
      response.writeHead(200, {
        'X-Request-Id': 'of-the-provider',
        'X-RateLimit-Limit': '7',
        'X-RateLimit-Remaining': '6',
        'X-RateLimit-Used': '1',
      });
      response.end();
    });
    const { headers } = await raw('/limited');
    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      'x-ratelimit-limit': '60000',
      'svc-proxy-x-request-id': 'of-the-provider',
      'svc-proxy-x-ratelimit-limit': '7',
      'svc-proxy-x-ratelimit-remaining': '6',
      'svc-proxy-x-ratelimit-used': '1',
    });
    expect(headers).not.toHaveProperty('x-ratelimit-used');
  });

  it.each([
    ['a length of 0 with 204', '204 No Content', ['content-length: 0'], [204, undefined]],
    ['a length with 204', '204 No Content', ['content-length: 5'], [204, undefined]],
    ['a length with 304', '304 Not Modified', ['content-length: 5'], [304, '5']],
    ['two lengths alike', '200 OK', ['content-length: 1', 'content-length: 1'], [502, 'x']],
    ['two lengths', '200 OK', ['content-length: 1', 'content-length: 2'], [502, 'x']],
    ['a list of lengths', '200 OK', ['content-length: 1, 1'], [502, 'x']],
    ['an unknown coding', '200 OK', ['transfer-encoding: foo, chunked'], [502, 'x']],
  ])('passes on %s only where it may stand', async (_, line, fields, [status, length]) => {
    echo.onHead('/framed', ({ socket }) => {
      socket.end(['HTTP/1.1 ' + line, ...fields, '', '1'].join('\r\n'));
    });
    const { headers, ...answer } = await raw('/framed');
    expect(answer.status).toBe(status);
    if (status !== 502) expect(headers['content-length']).toBe(length);
    else expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'ERR_INVALID_ANSWER' });
  });

  it.each([
    ['200 of length 0', 200, { 'content-length': '0' }],
    ['200 in no chunk', 200, {}],
    ['204', 204, {}],
    ['304', 304, { 'content-length': '23' }],
  ])('whose answer is an empty %s is whole, though it names a coding', async (_, status, more) => {
    for (const coding of ['gzip', 'deflate', 'br', 'gzip, br']) {
      echo.on('/empty', (_received, response) => {
        response.writeHead(status, { 'content-encoding': coding, ...more }).end();
      });
      const { headers, ...answer } = await raw('/empty', { decompress: 'true' });
      expect(answer).toEqual({ status, body: Buffer.alloc(0) });
      expect(headers).not.toHaveProperty('content-encoding');
    }
  });

  it.each([
    ['gzip', [gzipSync('hello'), 'garbage']],
    ['gzip', [gzipSync('hel'), gzipSync('lo')]],
    ['deflate', [deflateSync('hello'), 'garbage']],
    ['br', [brotliCompressSync('hello'), 'garbage']],
  ])('drops what follows the end of %s', async (coding, parts) => {
    echo.on('/more', (_received, response) => {
      response.writeHead(200, { 'content-encoding': coding });
      response.end(Buffer.concat(parts.map((part) => Buffer.from(part))));
    });
    const { body } = await raw('/more', { decompress: 'true' });
    expect(body.toString()).toBe('hello');
  });

  it('is cut when the coded answer ends too early, so that half of it is not taken for the whole', async () => {
    echo.on('/half', (_received, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(randomBytes(1000)).subarray(0, -20));
    });
    await expect(raw('/half', { decompress: 'true' })).rejects.toThrow('aborted');
  });

  it.each([
    ['coded in another way', 200, 'zstd', zstdCompressSync('hello')],
    ['a part of what is coded', 206, 'gzip', gzipSync('hello').subarray(0, 12)],
  ])('passes on an answer that is %s as it is', async (_, status, coding, bytes) => {
    echo.on('/other', (_received, response) => {
      response.writeHead(status, { 'content-encoding': coding }).end(bytes);
    });
    const sent = await raw('/other', { decompress: 'true' });
    expect([sent.status, sent.headers['content-encoding']]).toEqual([status, coding]);
    expect(sent.body.equals(bytes)).toBe(true);
  });
});
