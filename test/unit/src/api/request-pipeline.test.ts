import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { defineRoute } from '#api/services.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { flag, jsonObject, listOf, wholeNumber } from '#http/fields.ts';
import { GatewayError } from '#kernel/errors.ts';
import { healthRoutes } from '#modules/operations/health/routes.ts';
import type { Coordination } from '#ports/coordination.ts';
import { plainRoute, startHttpOnly, type HttpOnly } from '#test/support/worlds/http.ts';

interface ErrorBody {
  error: {
    code: string;
    message?: string;
    errors?: { code: string; message: string; path: string[] }[];
    method?: string;
    path?: string;
  };
}

let app: HttpOnly | undefined;
afterEach(async () => {
  await app?.[Symbol.asyncDispose]();
  app = undefined;
});

let handled: unknown[] = [];
const seen = (value: unknown) => {
  handled.push(value);
  return { status: 200, body: value };
};

const echo = defineRoute({
  method: 'POST',
  path: '/echo/{name}',
  credential: 'environment',
  scopes: ['environment:records:write'],
  summary: 'Echo.',
  params: z.strictObject({ name: z.string().regex(/^[a-z/]+$/) }),
  query: z.strictObject({
    limit: wholeNumber(1, 10).optional(),
    dry: flag.optional(),
    ids: listOf(z.string()).optional(),
    tags: z.record(z.string(), z.string()).optional(),
  }),
  headers: z.object({ 'connection-id': z.string() }),
  body: z.strictObject({ data: jsonObject, count: z.number().optional() }),
  errors: [],
  handle: async ({ params, query, body, headers }) =>
    seen({ params, query, body, connection: headers['connection-id'] }),
});

const account = defineRoute({
  method: 'GET',
  path: '/account',
  credential: 'account',
  scopes: ['account:things:list'],
  summary: 'Account.',
  errors: [],
  handle: async ({ caller }) => seen({ actor: caller.actor }),
});

const table: AnyRoute[] = [
  echo,
  account,
  plainRoute('/bytes', async () => ({ status: 200, body: Buffer.from('{"a":1}') })),
  plainRoute('/nothing', async () => ({ status: 204 })),
  plainRoute('/bug', async () => {
    throw new Error('the password is hunter2');
  }),
  plainRoute('/busy', async () => {
    throw new GatewayError('projection_unavailable', { retryAfterS: 7 });
  }),
  ...healthRoutes,
];

const start = async (options: Parameters<typeof startHttpOnly>[1] = {}) => {
  handled = [];
  app = await startHttpOnly(table, options);
  const key = app.addKey({ scopes: ['environment:*'] });
  return { app, key, full: key };
};

const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'connection-id': 'c', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const errorOf = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/json');
  return ((await response.json()) as ErrorBody).error;
};

describe('credentials', () => {
  it.each([
    [undefined, 'missing_auth_header'],
    ['Basic abc', 'malformed_auth_header'],
    ['Bearer', 'malformed_auth_header'],
    ['Bearer a b', 'malformed_auth_header'],
    ['Bearer nonsense', 'invalid_secret_key_format'],
    ['Bearer svc_env_short', 'invalid_secret_key_format'],
    [`Bearer svc_connect_session_${'a'.repeat(64)}`, 'unknown_connect_session_token'],
    ['Bearer svc_connect_session_a', 'invalid_connect_session_token_format'],
    [`Bearer svc_env_${'a'.repeat(43)}`, 'unknown_account'],
    [`Bearer svc_acct_${'a'.repeat(43)}`, 'unknown_account'],
  ])('%s is answered 401 %s', async (authorization, code) => {
    const { app } = await start();
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const response = await app.fetch('/bytes', { headers });
    expect(response.status).toBe(401);
    expect(await errorOf(response)).toMatchObject({ code });
  });

  it('of the other kind are answered 403', async () => {
    const { app, key } = await start();
    const accountKey = app.addKey({ scopes: ['account:*'], environmentUid: null });
    for (const response of [
      await app.fetch('/account', { key }),
      await app.fetch('/bytes', { key: accountKey }),
    ]) {
      expect(response.status).toBe(403);
      expect((await errorOf(response)).code).toBe('forbidden');
    }
    expect((await app.fetch('/account', { key: accountKey })).status).toBe(200);
  });

  it('stop working when the key is deleted, though its look-up is kept', async () => {
    const { app, key } = await start();
    expect((await app.fetch('/bytes', { key })).status).toBe(200);
    app.removeKeys();
    expect((await app.fetch('/bytes', { key })).status).toBe(401);
  });

  it.each([
    ['environment:records:write', 200],
    ['environment:*', 200],
    ['environment:records:*', 200],
    ['environment:records:read', 403],
    ['environment:records', 403],
    ['environment:records:writ', 403],
    ['environment:record:*', 403],
    ['account:*', 403],
    ['*', 403],
  ])('with the scope %s are answered %i', async (scope, status) => {
    const { app } = await start();
    const key = app.addKey({ scopes: [scope] });
    const response = await app.fetch('/echo/a', { key, ...json({ data: {} }) });
    expect(response.status).toBe(status);
    if (status === 403) {
      expect((await errorOf(response)).message).toContain('environment:records:write');
    }
  });
});

describe('the order of checks', () => {
  /** Each request is wrong from one part on; the first wrong part is the answer. */
  it.each([
    ['credentials', null, 401, 'missing_auth_header'],
    ['scope', ['environment:records:read'], 403, 'forbidden'],
    ['content type', ['environment:*'], 415, 'invalid_content_type'],
  ])('%s come before what follows', async (_part, scopes, status, code) => {
    const { app } = await start();
    const key = scopes ? { key: app.addKey({ scopes }) } : {};
    const headers = { 'content-type': 'text/plain' };
    const wrong = { method: 'POST', headers, body: '{' };
    const response = await app.fetch('/echo/A?limit=0&more=1', { ...key, ...wrong });
    expect(response.status).toBe(status);
    expect((await errorOf(response)).code).toBe(code);
  });

  it('goes on with query, body, path and headers, each with all of its issues', async () => {
    const { app, key } = await start();
    const ask = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const response = await app.fetch(path, { key, ...json(body, headers) });
      expect(response.status).toBe(400);
      return errorOf(response);
    };
    const query = await ask('/echo/A?limit=0&dry=maybe&more=1', '{');
    expect(query.code).toBe('invalid_query_params');
    expect(query.errors?.map(({ path }) => path.join('.'))).toEqual(['limit', 'dry', '']);
    expect((await ask('/echo/A', '{')).code).toBe('invalid_json');
    const body = await ask('/echo/A', { data: [], count: 'x', more: 1 });
    expect(body.code).toBe('invalid_body');
    expect(body.errors).toHaveLength(3);
    expect(body.errors?.at(-1)).toMatchObject({ code: 'unrecognized_keys', path: [] });
    expect((await ask('/echo/A', { data: {} })).code).toBe('invalid_uri_params');
    expect((await ask('/echo/%E0%A4', { data: {} })).code).toBe('invalid_uri_params');
    const missing = await app.fetch('/echo/a', {
      key,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"data":{}}',
    });
    expect(await errorOf(missing)).toMatchObject({
      code: 'invalid_headers',
      errors: [{ path: ['connection-id'] }],
    });
    expect(handled).toEqual([]);
  });

  it('gives the handler typed input', async () => {
    const { app, key } = await start();
    const path = '/echo/a%2Fb?limit=3&dry=ON&ids=x&tags[a]=b';
    const response = await app.fetch(path, { key, ...json({ data: { a: null } }) });
    expect(await response.json()).toEqual({
      params: { name: 'a/b' },
      query: { limit: 3, dry: true, ids: ['x'], tags: { a: 'b' } },
      body: { data: { a: null } },
      connection: 'c',
    });
  });

  it('refuses a query where none is taken', async () => {
    const { app, key } = await start();
    const response = await app.fetch('/bytes?a=1', { key });
    expect(await errorOf(response)).toMatchObject({
      code: 'invalid_query_params',
      errors: [{ code: 'unrecognized_keys' }],
    });
  });

  it('refuses a repeated parameter that is no list', async () => {
    const { app, key } = await start();
    const response = await app.fetch('/echo/a?limit=1&limit=2', { key, ...json({ data: {} }) });
    expect((await errorOf(response)).code).toBe('invalid_query_params');
  });
});

describe('paths and methods', () => {
  it('unknown: 404; known with another method: 405 with Allow; both without a key', async () => {
    const { app } = await start();
    const unknown = await app.fetch('/nowhere');
    expect(unknown.status).toBe(404);
    expect((await errorOf(unknown)).code).toBe('not_found');
    const wrong = await app.fetch('/echo/a', { method: 'DELETE' });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('OPTIONS, POST');
    expect((await errorOf(wrong)).code).toBe('method_not_allowed');
  });

  it('answers HEAD as GET without a body', async () => {
    const { app } = await start();
    const response = await app.fetch('/health', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe('answers', () => {
  it('bytes go out as they are, as JSON; none has no body', async () => {
    const { app, key } = await start();
    const bytes = await app.fetch('/bytes', { key });
    expect(bytes.headers.get('content-type')).toBe('application/json');
    expect(await bytes.text()).toBe('{"a":1}');
    expect((await app.fetch('/nothing', { key })).status).toBe(204);
  });

  it('of a bug say nothing of it; the log has it whole', async () => {
    const { app, key } = await start();
    const response = await app.fetch('/bug', { key });
    expect(response.status).toBe(500);
    const request_id = response.headers.get('x-request-id')!;
    expect(await response.json()).toEqual({
      error: {
        code: 'server_error',
        message: 'An internal error occurred.',
        fix: expect.stringContaining('error.request_id') as string,
        request_id,
      },
    });
    expect(app.log.join('')).toContain('hunter2');
    expect(app.log.join('')).toContain(request_id);
  });

  it('that are to be tried again say when', async () => {
    const { app, key } = await start();
    const response = await app.fetch('/busy', { key });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('7');
  });

  it('of a node that cannot work say why', async () => {
    const { app } = await start({ services: { readiness: () => ['the log is full'] } });
    const response = await app.fetch('/ready');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ result: 'not ready', reasons: ['the log is full'] });
    expect(await (await app.fetch('/health')).json()).toEqual({ result: 'ok' });
  });
});

describe('the rate limit', () => {
  it('counts per key, says so on each answer, and ends in 429', async () => {
    const { app, key } = await start({ rateLimitPerMinute: 2 });
    const other = app.addKey({ scopes: ['environment:*'] });
    const first = await app.fetch('/bytes', { key });
    expect(first.headers.get('x-ratelimit-limit')).toBe('2');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
    const reset = Number(first.headers.get('x-ratelimit-reset'));
    expect(Math.abs(reset - Date.now() / 1000 - 60)).toBeLessThan(10);
    // Also what is refused later counts.
    expect((await app.fetch('/bytes?a=1', { key })).status).toBe(400);
    const over = await app.fetch('/bytes', { key });
    expect(over.status).toBe(429);
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(over.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(await over.json()).toEqual({
      error: {
        code: 'too_many_request',
        fix: expect.stringContaining('Retry-After') as string,
        method: 'GET',
        path: '/bytes',
        request_id: over.headers.get('x-request-id'),
      },
    });
    expect((await app.fetch('/bytes', { key: other })).status).toBe(200);
  });

  it('comes before the scope, and charges ten for a call without a good key', async () => {
    const { app } = await start({ rateLimitPerMinute: 15 });
    expect((await app.fetch('/bytes')).headers.get('x-ratelimit-remaining')).toBe('5');
    expect((await app.fetch('/bytes')).status).toBe(429);
    const key = app.addKey({ scopes: ['environment:logs:read'] });
    const statuses: number[] = [];
    for (let n = 0; n < 16; n += 1) {
      const response = await app.fetch('/echo/a', { key, ...json({ data: {} }) });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([...Array.from({ length: 15 }, () => 403), 429]);
    // Probes are never refused.
    expect((await app.fetch('/health')).status).toBe(200);
  });

  it('of 0 counts nothing', async () => {
    const { app, key } = await start({ rateLimitPerMinute: 0 });
    const response = await app.fetch('/bytes', { key });
    expect(response.status).toBe(200);
    expect(response.headers.has('x-ratelimit-limit')).toBe(false);
  });

  it('lets calls through when the limiter fails', async () => {
    const coordination: Coordination = {
      ...openInProcessCoordination(),
      count: async () => Promise.reject(new Error('no counter')),
    };
    const { app, key } = await start({ services: { coordination } });
    expect((await app.fetch('/bytes', { key })).status).toBe(200);
  });
});

describe('CORS', () => {
  it('is open on every answer, errors too', async () => {
    const { app } = await start();
    for (const path of ['/health', '/nowhere', '/bytes']) {
      const response = await app.fetch(path);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toContain('X-RateLimit-Limit');
    }
  });

  it('answers preflights without a key', async () => {
    const { app } = await start();
    const response = await app.fetch('/echo/a', { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toBe('OPTIONS, POST');
    expect(response.headers.get('access-control-allow-headers')).toContain('Provider-Config-Key');
    expect(response.headers.get('access-control-max-age')).toBe('600');
  });
});
