import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpClient, type Resolve } from '#adapters/http-client/undici.ts';
import type { HttpClient, OutgoingRequest } from '#ports/http-client.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function serve(handler: Handler): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(resolve?: Resolve, allow: readonly string[] = ['127.0.0.0/8']): HttpClient {
  const made = createHttpClient({ allow, ...(resolve ? { resolve } : {}) });
  opened.push(async () => made[Symbol.asyncDispose]());
  return made;
}

const get = (url: string, over: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'GET',
  url: new URL(url),
  headers: {},
  timeoutMs: 10_000,
  ...over,
});

const coded: Record<string, (text: Buffer) => Buffer> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  'deflate (raw)': deflateRawSync,
  'gzip, br': (text) => brotliCompressSync(gzipSync(text)),
};

describe('an answer', () => {
  it.each(Object.keys(coded))('coded with %s comes unpacked', async (name) => {
    const url = await serve((_request, response) => {
      response.setHeader('content-encoding', name.replace(' (raw)', ''));
      response.end(coded[name]!(Buffer.from('hello')));
    });
    const reply = await client().request(get(url));
    expect(reply.body.toString()).toBe('hello');
    expect(reply.headers).not.toHaveProperty('content-encoding');
  });

  it.each([
    ['GET', 200, { 'content-length': '0' }],
    ['GET', 204, {}],
    ['GET', 304, { 'content-length': '23' }],
    ['HEAD', 200, { 'content-length': '23' }],
  ])('to %s of status %i without a body may name a coding', async (method, status, headers) => {
    const url = await serve((_request, response) => {
      response.writeHead(status, { 'content-encoding': 'gzip', ...headers }).end();
    });
    const reply = await client().request(get(url, { method, maxBytes: 10 }));
    expect([reply.status, reply.body.length]).toEqual([status, 0]);
  });

  it('whose coded body has bytes after its end comes without them', async () => {
    const url = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(Buffer.concat([gzipSync('hel'), gzipSync('lo'), Buffer.from('garbage')]));
    });
    expect((await client().request(get(url))).body.toString()).toBe('hello');
  });

  it('in chunks of an unknown transfer coding is a failure', async () => {
    const url = await serve(({ socket }) => {
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: foo, chunked\r\n\r\n0\r\n\r\n');
    });
    await expect(client().request(get(url))).rejects.toMatchObject({ code: 'ERR_INVALID_ANSWER' });
  });

  it.each([
    ['head comes line by line', 'HTTP/1.1 200 OK\r\n', 'x: 1\r\n'],
    ['body comes byte by byte', 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', 'x'],
  ])('whose %s ends with the time of the call', async (_, text, piece) => {
    const url = await serve(({ socket }) => {
      const next = (): void => {
        if (!socket.destroyed) socket.write(piece, () => setTimeout(next, 20));
      };
      socket.write(text, next);
    });
    await expect(client().request(get(url, { timeoutMs: 200 }))).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
  });

  it('with an unknown coding stays as it is', async () => {
    const url = await serve((_request, response) => {
      response.setHeader('content-encoding', 'secret');
      response.end('as it is');
    });
    const reply = await client().request(get(url));
    expect(reply.body.toString()).toBe('as it is');
    expect(reply.headers['content-encoding']).toBe('secret');
  });

  it('that unpacks to more than the limit is an error', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const url = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(bomb);
    });
    await expect(client().request(get(url, { maxBytes: 1_000_000 }))).rejects.toMatchObject({
      name: 'HttpFailure',
      code: 'ERR_BODY_TOO_LARGE',
    });
  });

  it('that announces, or sends, more than the limit is an error', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', '2000');
      response.end(Buffer.alloc(2000));
    });
    for (const path of ['/announced', '/streamed']) {
      const request = client().request(get(url + path, { maxBytes: 1000 }));
      await expect(request).rejects.toMatchObject({ code: 'ERR_BODY_TOO_LARGE' });
    }
  });

  it('joins repeated headers and lower-cases their names', async () => {
    const url = await serve((_request, response) => {
      response.setHeader('X-Many', ['a', 'b']);
      response.writeHead(201, 'Made').end();
    });
    const reply = await client().request(get(url));
    expect(reply).toMatchObject({ status: 201, statusText: 'Made', headers: { 'x-many': 'a, b' } });
  });
});

describe('a request', () => {
  it('carries method, body and headers, but none that belong to the connection', async () => {
    let seen: { method?: string; headers?: Record<string, unknown>; body?: string } = {};
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        seen = { method: request.method!, headers: request.headers, body };
        response.end();
      });
    });
    const headers = {
      'X-A': '1',
      Connection: 'close',
      Host: 'evil.example',
      'Content-Length': '3',
    };
    await client().request(get(url, { method: 'patch', headers, body: '{"a":1}' }));
    expect(seen).toMatchObject({ method: 'PATCH', body: '{"a":1}' });
    expect(seen.headers).toMatchObject({
      'x-a': '1',
      host: new URL(url).host,
      'content-length': '7',
    });
  });
});

describe('redirects', () => {
  const seen: { url: string; method: string; authorization: string | undefined }[] = [];
  const target: Handler = (request, response) => {
    const { url = '', method = '', headers } = request;
    seen.push({ url, method, authorization: headers.authorization });
    const to = new URL(url, 'http://x').searchParams.get('to');
    const status = Number(new URL(url, 'http://x').searchParams.get('status') ?? 302);
    if (to) response.writeHead(status, { location: to });
    response.end('end');
  };

  it('are the answer unless they are to be followed', async () => {
    const url = await serve(target);
    expect((await client().request(get(`${url}/?to=/b`))).status).toBe(302);
    const followed = await client().request(get(`${url}/?to=/b`, { redirectsMax: 5 }));
    expect(followed).toMatchObject({ status: 200, url: `${url}/b` });
  });

  it('drop credentials when they leave the origin, and keep them within it', async () => {
    const [a, b] = [await serve(target), await serve(target)];
    const headers = { authorization: 'Bearer secret' };
    seen.length = 0;
    const inside = encodeURIComponent(`/in?to=${encodeURIComponent(`${b}/out`)}`);
    await client().request(get(`${a}/?to=${inside}`, { headers, redirectsMax: 5 }));
    expect(seen.map(({ authorization }) => authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
      undefined,
    ]);
    seen.length = 0;
    await client().request(
      get(`${a}/?to=${b}/out`, { headers, redirectsMax: 5, credentialHeaders: [] }),
    );
    expect(seen.at(-1)?.authorization).toBe('Bearer secret');
  });

  it.each([
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [307, 'POST', 'POST'],
    [302, 'PUT', 'PUT'],
  ])('with %i turn %s into %s', async (status, method, next) => {
    const url = await serve(target);
    seen.length = 0;
    await client().request(
      get(`${url}/?status=${status}&to=/b`, { method, body: 'x', redirectsMax: 5 }),
    );
    expect(seen.at(-1)).toMatchObject({ url: '/b', method: next });
  });

  it('are checked at each hop', async () => {
    const url = await serve(target);
    const only = client(undefined, [new URL(url).host]);
    for (const to of ['http://127.0.0.1:1/', 'http://169.254.169.254/', 'file:///etc/passwd']) {
      const request = only.request(get(`${url}/?to=${to}`, { redirectsMax: 5 }));
      await expect(request).rejects.toMatchObject({ code: 'url_not_allowed' });
    }
  });

  it('with a large body are followed without reading it', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/end') response.end('end');
      else response.writeHead(302, { location: '/end' }).end(Buffer.alloc(5_000_000));
    });
    const reply = await client().request(get(`${url}/`, { redirectsMax: 5 }));
    expect(reply.body.toString()).toBe('end');
  });

  it('end after five hops', async () => {
    const url = await serve((request, response) => {
      response.writeHead(302, { location: `/${Number(request.url?.slice(1)) + 1}` }).end();
    });
    await expect(client().request(get(`${url}/0`, { redirectsMax: 99 }))).rejects.toMatchObject({
      code: 'too_many_redirects',
    });
  });
});

describe('the egress policy at the socket', () => {
  const to =
    (...addresses: string[]): Resolve =>
    (_name, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  it('refuses a name that leads inside, also beside a good address', async () => {
    let calls = 0;
    const url = await serve((_request, response) => {
      calls += 1;
      response.end();
    });
    const { port } = new URL(url);
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], []]) {
      const request = client(to(...addresses), []).request(get(`http://a.example:${port}/`));
      await expect(request).rejects.toMatchObject({ code: 'url_not_allowed' });
    }
    expect(calls).toBe(0);
  });

  it('connects to the address that was checked: the name is resolved once', async () => {
    const url = await serve((request, response) => response.end(request.headers.host));
    const { port } = new URL(url);
    let lookups = 0;
    const resolve: Resolve = (_name, done) => {
      lookups += 1;
      done(null, [{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]);
    };
    const reply = await client(resolve, [`127.0.0.1:${port}`]).request(
      get(`http://rebind.example:${port}/`),
    );
    expect(reply.body.toString()).toBe(`rebind.example:${port}`);
    expect(lookups).toBe(1);
  });
});

describe('a failure', () => {
  it('distinguishes refused, reset, unknown and late', async () => {
    const gone = createTcpServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const silent = await serve(() => undefined);
    const cut = await serve((request) => request.socket.destroy());
    const half = await serve((request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => request.socket.destroy());
    });
    const unknown: Resolve = (_name, done) =>
      done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);

    const codeOf = (request: Promise<unknown>) =>
      request.then(
        () => 'answered',
        (error: unknown) => (error as { code: string }).code,
      );
    expect(await codeOf(client().request(get(`http://127.0.0.1:${port}/`)))).toBe('ECONNREFUSED');
    expect(await codeOf(client().request(get(cut)))).toBe('ECONNRESET');
    expect(await codeOf(client().request(get(half)))).toBe('ECONNRESET');
    expect(await codeOf(client(unknown).request(get('http://a.example/')))).toBe('ENOTFOUND');
    expect(await codeOf(client().request(get(silent, { timeoutMs: 50 })))).toBe('ETIMEDOUT');
    const abort = new AbortController();
    const cancelled = codeOf(client().request(get(silent, { signal: abort.signal })));
    abort.abort();
    expect(await cancelled).toBe('ERR_CANCELED');
  });
});
