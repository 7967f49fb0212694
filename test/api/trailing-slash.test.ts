/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { request as sendRaw } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes, streamRoutes } from '#api/routes.ts';
import type { Call, Row } from '#test/support/judges/access/row.ts';
import { served } from '#test/support/judges/access/table.ts';
import {
  ask,
  missing,
  openAccessWorld,
  type AccessWorld,
} from '#test/support/judges/access/world.ts';
import type { Answer } from '#test/support/processes/gateway.ts';

type Served = Row & { readonly call: Call };

let world: AccessWorld;
beforeAll(async () => {
  world = await openAccessWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** The routes of pages and of paths at a provider, where a slash at the end has a meaning. */
const withSlash = new Set(
  [...routes, ...streamRoutes]
    .filter(({ path, keepsSlash }) => keepsSlash === true || path.endsWith('/'))
    .map(({ path }) => path),
);
const pathOf = ({ endpoint }: Served): string => endpoint.slice(endpoint.indexOf(' ') + 1);
const ofApi = served.filter((row) => {
  const path = pathOf(row);
  return !withSlash.has(path) && path !== '/docs' && !path.startsWith('/docs/');
});

/** `/records?model=A` becomes `/records/?model=A`. */
const slashed = (path: string): string => path.replace(/(?=\?|$)/, '/');

async function credentialOf({ takes }: Served): Promise<string | null> {
  const { key, accountKey } = world.crm.gateway;
  if (takes === 'none') return null;
  if (takes === 'connect') return world.makeToken();
  return takes === 'account' ? accountKey : key;
}

async function answerTo(row: Served, shape: (path: string) => string): Promise<Answer> {
  const { path, ...sent } = row.call.send(row.call.on === 'present' ? world.present : missing());
  const credential = await credentialOf(row);
  const isInQuery = row.tokenIn === 'query';
  const query = isInQuery ? `?connect_session_token=${credential}` : '';
  const request = { ...sent, path: `${shape(path)}${query}` };
  return ask(world, row.endpoint, request, isInQuery ? null : credential);
}

/** Status, type and, of a refusal, the code. */
const outcomeOf = ({ status, headers, body }: Answer) => ({
  status,
  type: headers.get('content-type'),
  code: (body as { error?: { code: string } } | undefined)?.error?.code,
  message: (body as { error?: { message: string } } | undefined)?.error?.message,
  deprecation: headers.get('deprecation'),
});

describe('a slash at the end of a path', () => {
  it('has a meaning at the provider and on the pages of the documentation and of sign-in alone', () => {
    expect([...withSlash].sort()).toEqual(['/connect/ui/', '/docs/{page}', '/proxy/{path}']);
  });

  it.each(ofApi)('changes nothing of $endpoint', async (row) => {
    const plain = outcomeOf(await answerTo(row, (path) => path));
    expect(plain.status).toBe(row.call.status);
    expect(plain.message).not.toBe('The endpoint does not exist.');
    const found = outcomeOf(await answerTo(row, slashed));
    // Names of things that are not there are random.
    const { message: _, ...expected } = plain;
    expect(found).toMatchObject(expected);
  });

  it('is served with a query, and counted under the path of the route', async () => {
    const { gateway } = world.crm;
    const query = `?model=Contact`;
    const headers = {
      'provider-config-key': 'crm',
      'connection-id': world.connection.id,
    };
    const plain = await gateway.call('GET', `/records${query}`, { headers });
    const found = await gateway.call('GET', `/records/${query}`, { headers });
    expect(found.status).toBe(200);
    expect(found.body).toEqual(plain.body);
    expect(found.body.records).toHaveLength(2);
    const metrics = await gateway.call('GET', '/metrics/', { key: gateway.accountKey });
    // The page of the connect sessions has a slash at its end; other files of this gateway may open it.
    expect(metrics.body).not.toMatch(/route="(?!\/connect\/ui\/")[^"]+[^/]\/"/);
  });

  it('gives the methods of the path, and a preflight', async () => {
    const { gateway } = world.crm;
    const refused = await gateway.call('PATCH', '/connections/');
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, OPTIONS, POST']);
    const streamed = await gateway.call('POST', '/runs/tail/');
    expect([streamed.status, streamed.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
    const asked = await gateway.call('OPTIONS', '/records/', { key: null });
    expect([asked.status, asked.headers.get('access-control-allow-methods')]).toEqual([
      204,
      'GET, OPTIONS',
    ]);
  });

  it.each([
    ['/connections//', 404],
    ['/connections//?limit=1', 404],
    ['//connections/', 404],
    ['/connections/a%2F?provider_config_key=crm', 404],
    ['/connections?limit=1/', 400],
    ['/proxy', 404],
    ['/', 404],
  ])('is one slash of the path: %s is answered %d', async (path, status) => {
    const { url, key } = world.crm.gateway;
    const { hostname, port } = new URL(url);
    const found = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      sendRaw({ hostname, port, path, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(found).toBe(status);
  });

  it('belongs to an id where it is encoded', async () => {
    const { gateway } = world.crm;
    const body = {
      provider_config_key: 'crm',
      connection_id: `${world.connection.id}/`,
      credentials: { type: 'API_KEY', apiKey: 'k' },
      connection_config: { account: world.connection.id },
    };
    expect((await gateway.call('POST', '/connections/', { body })).status).toBe(201);
    const id = encodeURIComponent(body.connection_id);
    for (const end of ['', '/']) {
      const path = `/connections/${id}${end}?provider_config_key=crm`;
      const answer = await gateway.call('GET', path);
      expect(answer.body.connection_id).toBe(body.connection_id);
    }
  });

  it('makes a repeated request the same', async () => {
    const { gateway } = world.crm;
    const headers = { 'idempotency-key': `slash-${world.connection.id}` };
    const body = { end_user: { id: 'u' } };
    const first = await gateway.call('POST', '/connect/sessions', { body, headers });
    const again = await gateway.call('POST', '/connect/sessions/', { body, headers });
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});
