/* eslint-disable @typescript-eslint/no-unsafe-member-access -- a test looks into any answer */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes, streamRoutes } from '../../src/http/routes.ts';
import { environmentScopes, passes, served, table, wildcards } from '../support/access/table.ts';
import type { Call, Row } from '../support/access/row.ts';
import { ask, missing, openAccessWorld, type AccessWorld } from '../support/access/world.ts';
import type { Answer } from '../support/gateway.ts';

let world: AccessWorld;
beforeAll(async () => {
  world = await openAccessWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

type Served = Row & { readonly call: Call };

/** Status, and of refusals the code. */
const outcomeOf = ({ status, body }: Answer): string =>
  [401, 403].includes(status) ? `${status} ${body.error.code as string}` : String(status);

const sentBy = ({ call }: Served) => call.send(call.on === 'present' ? world.present : missing());

/** What every endpoint answers to the key, as one object, so that a difference names the endpoint. */
async function outcomes(key: string | null, rows: readonly Served[] = served) {
  const found: Record<string, string> = {};
  for (const row of rows) {
    found[row.endpoint] = outcomeOf(await ask(world, row.endpoint, sentBy(row), key));
  }
  return found;
}

function expected(of: (row: Served) => string): Record<string, string> {
  return Object.fromEntries(served.map((row) => [row.endpoint, of(row)]));
}

const admitted = ({ call }: Served): string => String(call.status);
const forbidden = '403 forbidden';

/** To a key of the environment with the scope. */
const toScope = (scope: string) => (row: Served) => {
  if (row.takes === 'none') return admitted(row);
  return row.takes === 'environment' && passes(scope, row.scopes) ? admitted(row) : forbidden;
};

const withKey = (prefix: string) => prefix + randomBytes(32).toString('base64url');

describe('the table of who may call what', () => {
  const inCode = [
    ...routes.map(({ method, path, credential, scopes }) => ({
      endpoint: `${method} ${path}`,
      credential,
      scopes,
    })),
    ...streamRoutes.flatMap(({ methods, path, credential, scopes }) =>
      methods.map((method) => ({ endpoint: `${method} ${path}`, credential, scopes })),
    ),
  ];

  it('names every endpoint once', () => {
    const names = table.map(({ endpoint }) => endpoint);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('has a row for every route, and a route for every row that it calls', () => {
    const known = served.map(({ endpoint }) => endpoint);
    expect(inCode.map(({ endpoint }) => endpoint).sort()).toEqual(known.sort());
  });

  it.each(inCode)('demands of $endpoint what the route declares', ({ endpoint, ...route }) => {
    const row = served.find((one) => one.endpoint === endpoint);
    expect(row?.takes).toBe(route.credential);
    expect(row?.scopes.map((scope) => `${route.credential}:${scope}`)).toEqual(route.scopes);
  });

  it('knows every scope of the specification, and no endpoint wants another', () => {
    const wanted = new Set(
      table.filter(({ takes }) => takes === 'environment').flatMap(({ scopes }) => scopes),
    );
    wanted.delete('*');
    expect(environmentScopes).toHaveLength(35);
    expect([...wanted].sort()).toEqual(environmentScopes.toSorted());
  });
});

describe('whoever has no key that is known', () => {
  it.each([
    ['no header', null, '401 missing_auth_header'],
    ['a key that nobody has', withKey('svc_env_'), '401 unknown_account'],
    ['an account key that nobody has', withKey('svc_acct_'), '401 unknown_account'],
    ['a key of another form', 'a-secret', '401 invalid_secret_key_format'],
  ])('is told so with %s', async (_what, key, refusal) => {
    const of = (row: Served) => (row.takes === 'none' ? admitted(row) : refusal);
    expect(await outcomes(key)).toEqual(expected(of));
  });

  it('is told so with a header that is no bearer token', async () => {
    for (const row of served.filter(({ takes }) => takes !== 'none')) {
      const sent = sentBy(row);
      const headers = { ...sent.headers, authorization: 'Basic YTpi' };
      const answer = await ask(world, row.endpoint, { ...sent, headers }, null);
      expect([row.endpoint, outcomeOf(answer)]).toEqual([
        row.endpoint,
        '401 malformed_auth_header',
      ]);
    }
  });

  it('is told so with a key that was deleted a moment ago', async () => {
    const key = await world.makeKey(['*']);
    const readable = served.filter(({ endpoint }) => endpoint === 'GET /connections');
    expect(await outcomes(key.secret, readable)).toEqual({ 'GET /connections': '200' });
    await key.remove();
    const of = (row: Served) => (row.takes === 'none' ? admitted(row) : '401 unknown_account');
    expect(await outcomes(key.secret)).toEqual(expected(of));
  });
});

describe('a key', () => {
  it('with Full access may call every endpoint of its environment, and none of the account', async () => {
    expect(await outcomes(world.crm.gateway.key)).toEqual(expected(toScope('*')));
  });

  it('of the account may call every endpoint of the account, and none of an environment', async () => {
    const of = ({ takes, ...row }: Served) =>
      takes === 'environment' ? forbidden : admitted({ takes, ...row });
    expect(await outcomes(world.crm.gateway.accountKey)).toEqual(expected(of));
  });

  it.each([...environmentScopes, ...wildcards])(
    'with the scope %s may call just what asks for it',
    async (scope) => {
      const key = await world.makeKey([scope]);
      expect(await outcomes(key.secret)).toEqual(expected(toScope(scope)));
      await key.remove();
    },
  );

  it('with several scopes may call what asks for one of them', async () => {
    const scopes = ['connections:read', 'records:read', 'actions:execute', 'proxy'];
    const key = await world.makeKey(scopes);
    const of = (row: Served) =>
      scopes.some((scope) => toScope(scope)(row) !== forbidden) ? admitted(row) : forbidden;
    expect(await outcomes(key.secret)).toEqual(expected(of));
    await key.remove();
  });

  it('without the scope is refused before its body is read', async () => {
    const key = await world.makeKey(['mcp']);
    const { url } = world.crm.gateway;
    for (const { endpoint, takes } of served) {
      const [method = '', path = ''] = endpoint.split(' ');
      if (takes === 'none' || method === 'GET') continue;
      const answer = await fetch(`${url}${path.replace(/\{\w+\}/g, 'x')}`, {
        method,
        headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'text/plain' },
        body: '{"not": json',
      });
      expect([endpoint, answer.status]).toEqual([endpoint, 403]);
    }
    await key.remove();
  });
});
