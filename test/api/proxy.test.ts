import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEchoUpstream, type EchoUpstream } from '#test/support/fakes/echo-upstream.ts';
import { checkAnswer } from '#test/support/judges/answers.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

const secret = `key-${randomBytes(12).toString('hex')}`;
let stack: AsyncDisposableStack;
let upstream: EchoUpstream;
let other: EchoUpstream;
let gateway: RunningGateway;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  upstream = stack.use(await openEchoUpstream());
  other = stack.use(await openEchoUpstream());
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const provider = {
    display_name: 'CRM',
    categories: [],
    docs: 'https://docs.example',
    auth_mode: 'API_KEY',
    credentials: { apiKey: { type: 'string', title: 'Key', description: 'A key.' } },
    proxy: {
      base_url: `${upstream.url}/base`,
      headers: { authorization: 'Bearer ${apiKey}', 'x-account': 'acme' },
      retry: {
        after: ['retry-after'],
        limited: [
          { statuses: [200], body: 'errors.*.extensions.code', values: ['THROTTLED'] },
          { statuses: [400], body: 'error.code', values: ['LIMIT'] },
        ],
      },
    },
  };
  writeFileSync(join(folder, 'crm.json'), JSON.stringify({ crm: provider }));
  gateway = stack.use(
    await startGateway({
      env: {
        SVC_PROVIDERS: folder,
        SVC_EGRESS_ALLOW: `${upstream.hostPort},${other.hostPort}`,
      },
    }),
  );
  const integration = { provider: 'crm', unique_key: 'crm' };
  await gateway.call('POST', '/integrations', { body: integration });
  const body = {
    provider_config_key: 'crm',
    connection_id: 'acme',
    credentials: { type: 'API_KEY', apiKey: secret },
  };
  expect((await gateway.call('POST', '/connections', { body })).status).toBe(201);
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  upstream.received.length = 0;
  other.received.length = 0;
});

const headersOf = (more: Readonly<Record<string, string>> = {}) => ({
  authorization: `Bearer ${gateway.key}`,
  'provider-config-key': 'crm',
  'connection-id': 'acme',
  ...more,
});
const proxy = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
  fetch(`${gateway.url}/proxy${path}`, { ...init, headers: headersOf(init.headers) });
const codeOf = async (answer: Response) => {
  const { status, headers, url } = answer;
  const text = await answer.text();
  checkAnswer('GET', url, { status, headers, text });
  return `${status} ${(JSON.parse(text) as { error?: { code: string } }).error?.code ?? ''}`;
};

describe('a proxied call', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'passes %s with path, query and body as they are',
    async (method) => {
      const body = method === 'GET' ? {} : { body: '{"a":1}' };
      const headers = { 'content-type': 'application/json' };
      const answer = await proxy('/v1/items?q=a%20b&x=1+2', { method, headers, ...body });
      expect(answer.status).toBe(200);
      expect(upstream.received).toMatchObject([{ method, url: '/base/v1/items?q=a%20b&x=1+2' }]);
      expect(upstream.received[0]?.body.toString()).toBe(method === 'GET' ? '' : '{"a":1}');
    },
  );

  it.each(['/v1/items/', '/v1/items/?q=1'])('keeps the slash at the end of %s', async (path) => {
    expect((await proxy(path)).status).toBe(200);
    expect(upstream.received).toMatchObject([{ url: `/base${path}` }]);
  });

  it('carries the credentials, and of the caller only what is meant for the provider', async () => {
    await proxy('/v1/me', {
      headers: { 'svc-proxy-x-trace': 't1', 'x-mine': 'no', cookie: 'a=b', accept: 'text/html' },
    });
    const [received] = upstream.received;
    expect(received?.headers).toMatchObject({
      authorization: `Bearer ${secret}`,
      'x-account': 'acme',
      'x-trace': 't1',
    });
    for (const name of ['x-mine', 'cookie', 'connection-id', 'provider-config-key']) {
      expect(received?.headers).not.toHaveProperty(name);
    }
    expect(JSON.stringify(received?.headers)).not.toContain(gateway.key);
  });

  it('gets status, headers and body of the provider unchanged, but for those of the connection', async () => {
    const bytes = randomBytes(1000);
    upstream.on('/base/teapot', (_received, response) => {
      response.writeHead(418, "I'm a teapot", {
        'x-limit': '7',
        'set-cookie': ['a=1', 'b=2'],
        connection: 'x-hop',
        'x-hop': '1',
        'access-control-allow-origin': 'https://evil.example',
        'content-type': 'application/octet-stream',
      });
      response.end(bytes);
    });
    const answer = await proxy('/teapot');
    expect(answer.status).toBe(418);
    expect(answer.statusText).toBe("I'm a teapot");
    expect(answer.headers.get('x-limit')).toBe('7');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(answer.headers.get('x-hop')).toBeNull();
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('streams: the first bytes arrive while the provider is still writing', async () => {
    const written = Promise.withResolvers<undefined>();
    upstream.onHead('/base/slow', (_request, response) => {
      response.writeHead(200);
      response.write('first');
      void written.promise.then(() => response.end('last'));
    });
    const answer = await proxy('/slow');
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('first');
    written.resolve(undefined);
    const rest = await reader?.read();
    expect(Buffer.from(rest?.value ?? []).toString()).toBe('last');
  });

  it('carries 40 MB both ways unharmed', async () => {
    const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    upstream.on('/base/echo', ({ body }, response) => response.end(body));
    const bytes = randomBytes(40 * 1024 ** 2);
    const answer = await proxy('/echo', { method: 'POST', body: bytes });
    expect(hash(Buffer.from(await answer.arrayBuffer()))).toBe(hash(bytes));
  });

  it('is cut when the caller goes away', async () => {
    const cut = Promise.withResolvers<undefined>();
    upstream.onHead('/base/endless', (request, response) => {
      response.writeHead(200);
      response.write('x');
      request.socket.once('close', () => cut.resolve(undefined));
    });
    const gone = new AbortController();
    const answer = await proxy('/endless', { signal: gone.signal });
    await answer.body?.getReader().read();
    gone.abort();
    await cut.promise;
    expect(answer.status).toBe(200);
  });

  it('is unpacked only where that is asked for', async () => {
    const packed = gzipSync('hello');
    upstream.on('/base/packed', (_received, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    const raw = await proxy('/packed');
    expect(raw.headers.get('content-encoding')).toBe('gzip');
    expect(await raw.text()).toBe('hello');
    const unpacked = await proxy('/packed', { headers: { decompress: 'true' } });
    expect(unpacked.headers.get('content-encoding')).toBeNull();
    expect(await unpacked.text()).toBe('hello');
    expect(upstream.received.at(-1)?.headers['accept-encoding']).toContain('gzip');
  });
});

describe('retries of a proxied call', () => {
  const failing = (path: string, times: number, status = 503) => {
    let left = times;
    upstream.on(path, (received, response) => {
      if (left-- > 0) response.writeHead(status, { 'retry-after': '0.01' }).end('no');
      else response.end(`after ${received.body.toString()}`);
    });
  };

  it('are none unless asked for', async () => {
    failing('/base/once', 1);
    const answer = await proxy('/once');
    expect([answer.status, await answer.text()]).toEqual([503, 'no']);
  });

  it('send the body again, and wait as the provider says', async () => {
    failing('/base/twice', 2);
    const headers = { retries: '3' };
    const answer = await proxy('/twice', { method: 'POST', body: 'again', headers });
    expect([answer.status, await answer.text()]).toEqual([200, 'after again']);
    expect(upstream.received).toHaveLength(3);
  });

  it('end with the last answer, and take further statuses', async () => {
    failing('/base/never', 99, 409);
    const answer = await proxy('/never', { headers: { retries: '2', 'retry-on': '409' } });
    expect([answer.status, upstream.received.length]).toEqual([409, 3]);
  });

  it.each([
    ['', 1],
    ['with a body that is not kept', 2],
  ])('end after a 401 where the credentials stay the same %s', async (what, calls) => {
    const body = what === '' ? '{"error":"wrong key"}' : 'x'.repeat(300_000);
    upstream.on('/base/wrong-key', (_received, response) => {
      const headers = { 'www-authenticate': 'Bearer', 'content-type': 'application/json' };
      response.writeHead(401, headers).end(body);
    });
    const headers = { retries: '5', 'retry-on': '401' };
    const answer = await proxy('/wrong-key', { method: 'POST', body: '{}', headers });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await answer.text()).toBe(body);
    expect(upstream.received).toHaveLength(calls);
  });

  it.each([
    ['403 without calls left', 403, { 'x-ratelimit-remaining': '0' }, ''],
    ['400 with a code of the definition', 400, {}, '{"error":{"code":"LIMIT"}}'],
    ['200 with a code', 200, {}, '{"errors":[{"extensions":{"code":"THROTTLED"}}]}'],
  ])('follow a limit under another status: %s', async (_, status, headers, body) => {
    const path = `/limit-${status}`;
    let left = 1;
    upstream.on(`/base${path}`, (_received, response) => {
      if (left-- > 0) response.writeHead(status, { 'retry-after': '0.01', ...headers }).end(body);
      else response.end('after');
    });
    const answer = await proxy(path, { headers: { retries: '2' } });
    expect([answer.status, await answer.text()]).toEqual([200, 'after']);
    expect(upstream.received).toHaveLength(2);
  });

  it.each([
    ['403 with calls left', 403, { 'x-ratelimit-remaining': '7' }, 'no'],
    ['403', 403, {}, 'no'],
    ['400 with another code', 400, {}, '{"error":{"code":"OTHER"}}'],
    ['400 without a body', 400, {}, ''],
    ['200 without errors', 200, {}, '{"data":1}'],
    ['200 without a body', 200, {}, ''],
    ['200 with more than is read for a limit', 200, {}, 'x'.repeat(300_000)],
  ])('do not follow another answer, which passes whole: %s', async (_, status, headers, body) => {
    upstream.on('/base/final', (_received, response) => {
      response.writeHead(status, { 'x-kept': 'yes', ...headers }).end(body);
    });
    const answer = await proxy('/final', { headers: { retries: '2' } });
    expect([answer.status, answer.headers.get('x-kept')]).toEqual([status, 'yes']);
    expect(await answer.text()).toBe(body);
    expect(upstream.received).toHaveLength(1);
  });
});

describe('redirects of a proxied call', () => {
  it('are followed, and lose the credentials when they leave the origin', async () => {
    upstream.on('/base/away', (_received, response) => {
      response.writeHead(302, { location: `${other.url}/there` }).end();
    });
    const answer = await proxy('/away');
    expect(answer.status).toBe(200);
    expect(other.received[0]?.url).toBe('/there');
    expect(other.received[0]?.headers).not.toHaveProperty('authorization');
    await proxy('/away', { headers: { 'forward-headers-on-redirect': 'true' } });
    expect(other.received[1]?.headers['authorization']).toBe(`Bearer ${secret}`);
  });

  it('to an address that is not allowed are refused, and say nothing of it', async () => {
    upstream.on('/base/inside', (_received, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    });
    expect(await codeOf(await proxy('/inside'))).toBe('400 url_not_allowed');
  });

  it('end after five hops with the redirect itself', async () => {
    upstream.on('/base/loop', (_received, response) => {
      response.writeHead(302, { location: '/base/loop' }).end();
    });
    const answer = await proxy('/loop', { redirect: 'manual' });
    expect([answer.status, upstream.received.length]).toEqual([302, 6]);
  });
});

describe('a proxied call that cannot be made', () => {
  it.each([
    ['without headers', { 'provider-config-key': '', 'connection-id': '' }, '400 invalid_headers'],
    ['with retries that are no number', { retries: 'many' }, '400 invalid_headers'],
    ['of an unknown integration', { 'provider-config-key': 'no' }, '404 unknown_provider_config'],
    ['of an unknown connection', { 'connection-id': 'no' }, '400 unknown_connection'],
    [
      'with a base URL that is not allowed',
      { 'base-url-override': 'http://169.254.169.254' },
      '400 url_not_allowed',
    ],
    [
      'with a key that is none',
      { authorization: 'Bearer svc_env_x' },
      '401 invalid_secret_key_format',
    ],
  ])('%s is refused', async (_, headers, code) => {
    expect(await codeOf(await proxy('/x', { headers }))).toBe(code);
    expect(upstream.received).toEqual([]);
  });

  it.each(['/../admin', '/%2e%2e/admin', '/a/..%2f..%2fadmin', '/a%5c..%5cadmin'])(
    'to %s never leaves the base path',
    async (path) => {
      const { hostname, port } = new URL(gateway.url);
      const answer = await rawGet({ hostname, port, path: `/proxy${path}`, headers: headersOf() });
      expect(answer).toBe('400');
      expect(upstream.received).toEqual([]);
    },
  );

  it('needs the scope of the proxy', async () => {
    const made = await gateway.call('GET', '/environments', { key: gateway.accountKey });
    const { id } = (made.body as { data: { id: number; name: string }[] }).data.find(
      ({ name }) => name === 'dev',
    ) as { id: number };
    const body = {
      environment_id: id,
      display_name: 'reader',
      scopes: ['environment:records:read'],
    };
    const key = await gateway.call('POST', '/environment/api-keys', {
      body,
      key: gateway.accountKey,
    });
    const { secret: limited } = (key.body as { data: { secret: string } }).data;
    const headers = { authorization: `Bearer ${limited}` };
    expect(await codeOf(await proxy('/x', { headers }))).toBe('403 forbidden');
  });

  it('is 502 when the provider cuts the line, with the code of what happened', async () => {
    upstream.onHead('/base/cut', (request) => request.socket.destroy());
    const answer = await proxy('/cut');
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'ECONNRESET', status: 502, method: 'GET' });
  });

  it('leaves no credential in the log of the service', () => {
    expect(gateway.log.join('\n')).not.toContain(secret);
  });
});

/** A path that no URL parser has tidied. */
async function rawGet(options: {
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      answer.resume();
      resolve(String(answer.statusCode));
    });
    sent.on('error', reject);
    sent.end();
  });
}
