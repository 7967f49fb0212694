import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf, runGuest } from '#test/unit/src/adapters/sandbox/guest.ts';
import { fakeRuntime, provider, scope } from './fakes.ts';

/** Real realm, real HTTP client, real server: a function as its author sees it. */
const sandbox = await sharedSandbox();
let server: Server;
let http: HttpClient;
let base: string;
const seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] =
  [];
let failures = 0;
/** Of the pages of `/v1/things`. */
let links: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body,
      });
      const url = new URL(request.url ?? '', base);
      if (url.pathname === '/v1/flaky' && failures-- > 0) {
        response.writeHead(503, { 'retry-after': '2' }).end('{"busy":true}');
      } else if (url.pathname === '/v1/items') {
        const page = Number(url.searchParams.get('page'));
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ items: page < 3 ? [{ id: page * 2 + 1 }, { id: page * 2 + 2 }] : [] }),
        );
      } else if (url.pathname === '/v1/things') {
        const page = Number(url.searchParams.get('page') ?? 1);
        const link = links[page - 1];
        response.writeHead(200, link === undefined ? {} : { link: `<${link}>; rel="NEXT"` });
        response.end(`[${page}]`);
      } else if (url.pathname === '/v1/moved') {
        response.writeHead(302, { location: '/v1/elsewhere/list' }).end();
      } else if (url.pathname === '/v1/elsewhere/list') {
        response.writeHead(200, { link: '<things?page=3>; rel=next' }).end('[1]');
      } else if (url.pathname === '/v1/large') {
        response.end('{"id":9007199254740993,"small":9007199254740991}');
      } else if (url.pathname === '/v1/packed') {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'));
      } else if (url.pathname === '/v1/bytes') response.end(Buffer.from([0, 255, 128]));
      else if (url.pathname === '/v1/gone')
        response.writeHead(410, { 'x-ratelimit': '9' }).end('{"why":"gone"}');
      else response.end(JSON.stringify({ echo: body }));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  base = `http://127.0.0.1:${port}`;
  http = createHttpClient({ allow: [`127.0.0.1:${port}`] });
});
afterAll(async () => {
  await http[Symbol.asyncDispose]();
  server.close();
});

function runtime() {
  const crm = { ...provider, proxy: { base_url: `${base}/v1`, retry: { after: ['retry-after'] } } };
  const { connections } = fakeRuntime().deps;
  return fakeRuntime({
    http,
    run: { ...scope, type: 'action' },
    connections: {
      ...connections,
      open: async (name, options) => ({
        ...(await connections.open(name, options)),
        provider: crm,
      }),
    },
  });
}

it('calls its provider with credentials and gets the parsed answer', async () => {
  const { calls } = runtime();
  const body = `const { data, status } = await svc.post({ endpoint: '/echo', params: { a: [1, 2] }, data: { é: 1 } }); return { data, status };`;
  expect(await outputOf(sandbox, body, { host: calls })).toEqual({
    data: { echo: '{"é":1}' },
    status: 200,
  });
  expect(seen.at(-1)).toMatchObject({
    method: 'POST',
    url: '/v1/echo?a=1%2C2',
    headers: { authorization: 'Bearer token-1', 'content-type': 'application/json' },
  });
});

it('§5.1 data: a DELETE with a body, a form and bytes', async () => {
  const { calls } = runtime();
  const body = `await svc.delete({ endpoint: 'a', data: { x: 1 } });
    await svc.put({ endpoint: 'b', data: new URLSearchParams({ x: 'y z' }) });
    await svc.patch({ endpoint: 'c', data: Buffer.from('raw'), headers: { 'Content-Type': 'text/plain' } });`;
  await outputOf(sandbox, body, { host: calls });
  expect(seen.slice(-3).map(({ method, body: sent }) => [method, sent])).toEqual([
    ['DELETE', '{"x":1}'],
    ['PUT', 'x=y+z'],
    ['PATCH', 'raw'],
  ]);
});

it('pages through a real answer', async () => {
  const { calls } = runtime();
  const body = `const ids = []; for await (const rows of svc.paginate({ endpoint: 'items', paginate: { type: 'offset', offset_name_in_request: 'page',
    offset_calculation_method: 'per-page', response_path: 'items' } })) ids.push(...rows.map((row) => row.id)); return ids;`;
  expect(await outputOf(sandbox, body, { host: calls })).toEqual([1, 2, 3, 4, 5, 6]);
});

const walk = (endpoint: string) =>
  `const seen = []; for await (const rows of svc.paginate({ endpoint: '${endpoint}', params: { q: 'x' }, paginate: { type: 'link',
    link_rel_in_response_header: 'next' } })) seen.push(...rows); return seen;`;

it('resolves relative links against the URL of the request, with its credentials', async () => {
  links = ['/v1/things?page=2', '?page=3', 'things?page=4', '../v1/./things?page=5#top'];
  seen.length = 0;
  const output = await outputOf(sandbox, walk('things'), { host: runtime().calls });
  expect(output).toEqual([1, 2, 3, 4, 5]);
  expect(seen.map(({ url }) => url)).toEqual([
    '/v1/things?q=x',
    ...[2, 3, 4, 5].map((page) => `/v1/things?page=${page}`),
  ]);
  expect(seen.every(({ headers }) => headers.authorization === 'Bearer token-1')).toBe(true);
});

it('resolves a relative link against the request, not against where redirects led', async () => {
  links = [];
  seen.length = 0;
  expect(await outputOf(sandbox, walk('moved'), { host: runtime().calls })).toEqual([1, 3]);
  expect(seen.at(-1)?.url).toBe('/v1/things?page=3');
});

it.each([
  ['ftp://127.0.0.1/things'],
  ['//user:password@127.0.0.1/things'],
  ['mailto:someone@example.com'],
  ['//10.0.0.1/things'],
])('refuses the link %s as it refuses the base URL', async (link) => {
  links = [link];
  const result = await runGuest(sandbox, walk('things'), { host: runtime().calls });
  expect(result).toMatchObject({ status: 'error', error: { code: 'url_not_allowed' } });
});

it('integers above 2^53 keep their digits in bodies, and are text in responses', async () => {
  seen.length = 0;
  const body = `const big = JSON.rawJSON('9007199254740993');
    await svc.post({ endpoint: 'echo', data: { id: big, list: [big] } });
    await svc.post({ endpoint: 'echo', data: { id: big }, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    await svc.get({ endpoint: 'echo', params: { id: big } });
    await svc.post({ endpoint: 'echo', data: big });
    await svc.post({ endpoint: 'echo', data: [big] });
    return (await svc.get({ endpoint: 'large' })).data;`;
  const host = runtime().calls;
  expect(await outputOf(sandbox, body, { host })).toEqual({
    id: '9007199254740993',
    small: 9007199254740991,
  });
  expect(seen.map(({ url, body: sent }) => [url, sent])).toEqual([
    ['/v1/echo', '{"id":9007199254740993,"list":[9007199254740993]}'],
    ['/v1/echo', 'id=9007199254740993'],
    ['/v1/echo?id=9007199254740993', ''],
    ['/v1/echo', '9007199254740993'],
    ['/v1/echo', '[9007199254740993]'],
    ['/v1/large', ''],
  ]);
});

it('gets bytes as they are', async () => {
  const body = `const { data } = await svc.get({ endpoint: 'bytes', responseType: 'arraybuffer' }); return data.toString('hex');`;
  expect(await outputOf(sandbox, body, { host: runtime().calls })).toBe('00ff80');
});

it.each([true, false])(
  '§5.1 decompress: an answer is unpacked, also with %s',
  async (decompress) => {
    const body = `return (await svc.get({ endpoint: 'packed', decompress: ${decompress} })).data;`;
    expect(await outputOf(sandbox, body, { host: runtime().calls })).toEqual({ a: 1 });
  },
);

it('sees an answer after the retries that it asked for', async () => {
  failures = 2;
  const { calls, waits } = runtime();
  const body = `return (await svc.get({ endpoint: 'flaky', retries: 3 })).status;`;
  expect(await outputOf(sandbox, body, { host: calls })).toBe(200);
  expect(waits).toEqual([2_000, 2_000]);
});

it('fails with what the provider said when nothing catches it', async () => {
  const result = await runGuest(sandbox, `await svc.get({ endpoint: 'gone' });`, {
    host: runtime().calls,
  });
  expect(result).toMatchObject({
    error: {
      kind: 'http',
      payload: { why: 'gone' },
      upstream: { status: 410, headers: { 'x-ratelimit': '9' } },
    },
  });
});

it('§3 the network is reached through the handle, and no private address', async () => {
  const host = runtime().calls;
  const refused = await runGuest(
    sandbox,
    `await svc.uncontrolledFetch({ url: new URL('http://127.0.0.1:1/') });`,
    { host },
  );
  expect(refused).toMatchObject({
    error: { kind: 'action_error', payload: { code: 'url_not_allowed' } },
  });
  const body = `try { await svc.get({ endpoint: 'x', baseUrlOverride: 'http://169.254.169.254' }); } catch (error) { return error.code; }`;
  expect(await outputOf(sandbox, body, { host })).toBe('url_not_allowed');
});
