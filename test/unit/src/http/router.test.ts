import { once } from 'node:events';
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineRoute } from '#api/services.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { serveRoutes } from '#http/router.ts';
import { GatewayError } from '#kernel/errors.ts';

const route = (method: AnyRoute['method'], path: string): AnyRoute =>
  defineRoute({
    method,
    path,
    credential: 'none',
    scopes: [],
    summary: '',
    errors: [],
    handle: async () => ({ status: 200 }),
  });

const routes = [
  route('GET', '/connections/{connectionId}'),
  route('GET', '/connections'),
  route('DELETE', '/connections/{connectionId}'),
  route('POST', '/connections/metadata'),
  route('GET', '/integrations/{key}/functions/{name}'),
  route('GET', '/pages/assets/{file}'),
  { ...route('GET', '/pages/{page}'), takesRest: true } satisfies AnyRoute,
];

interface Routed {
  readonly path?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly refused?: string;
  readonly allow?: string;
}

let server: Server;
beforeAll(async () => {
  const app = new Koa();
  app.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      context.body = { refused: error.code, allow: context.response.get('allow') };
    }
  });
  const middlewares = serveRoutes(routes, async (context, match) => {
    context.body = { path: match.route.path, params: match.params };
  });
  for (const middleware of middlewares) app.use(middleware);
  const handle = app.callback();
  server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

/** The path as it is written here: clients of the platform would tidy it. */
function ask(method: string, path: string): Promise<{ status: number; routed: Routed }> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    send({ host: '127.0.0.1', port, method, path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk));
      response.on('end', () => {
        const routed = (text === '' ? {} : JSON.parse(text)) as Routed;
        resolve({ status: response.statusCode ?? 0, routed });
      });
    })
      .on('error', reject)
      .end();
  });
}

describe('the router', () => {
  it('prefers a literal path to one with parameters', async () => {
    const { routed } = await ask('POST', '/connections/metadata');
    expect(routed).toEqual({ path: '/connections/metadata', params: {} });
    const other = await ask('GET', '/connections/metadata');
    expect(other.routed.params).toEqual({ connectionId: 'metadata' });
  });

  it.each([
    ['a%2Fb', 'f'],
    ['a%zz', '%'],
  ])('takes parameters as they stand in the path: %s', async (key, name) => {
    const { routed } = await ask('GET', `/integrations/${key}/functions/${name}`);
    expect(routed.params).toEqual({ key, name });
  });

  it.each([
    ['/pages/', { page: '' }],
    ['/pages/a', { page: 'a' }],
    ['/pages/a/b%2Fc/', { page: 'a/b%2Fc/' }],
    ['/pages/assets/a/b', { page: 'assets/a/b' }],
    ['/pages/assets/a', { file: 'a' }],
  ])('gives the rest of a path to a parameter that takes it: %s', async (path, params) => {
    expect((await ask('GET', path)).routed.params).toEqual(params);
  });

  it('names the methods of a known path', async () => {
    const { routed } = await ask('PUT', '/connections/metadata');
    expect(routed).toEqual({
      refused: 'method_not_allowed',
      allow: 'DELETE, GET, OPTIONS, POST',
    });
  });

  it('answers HEAD as GET, and a preflight', async () => {
    expect(await ask('HEAD', '/connections')).toEqual({ status: 200, routed: {} });
    expect(await ask('OPTIONS', '/connections')).toEqual({ status: 204, routed: {} });
  });

  it.each([
    '/',
    '/connection',
    '/connections/',
    '/connections//',
    '/connections/a/b',
    '//connections',
    '/Connections',
  ])('does not know %s', async (path) => {
    expect((await ask('GET', path)).routed).toEqual({ refused: 'not_found' });
    expect((await ask('OPTIONS', path)).routed).toEqual({ refused: 'not_found' });
  });

  it('refuses two routes of one method and path', () => {
    const twice = [route('GET', '/a/{b}'), route('GET', '/a/{c}')];
    expect(() => serveRoutes(twice, async () => undefined)).toThrow('two routes for GET /a/{c}');
  });
});
