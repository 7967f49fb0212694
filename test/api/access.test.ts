/* eslint-disable @typescript-eslint/no-unsafe-member-access -- a test looks into any answer */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyRoute } from '../../src/http/define-route.ts';
import { routes, streamRoutes } from '../../src/http/routes.ts';
import { holdsScope } from '../../src/http/authenticate.ts';
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

function expected(
  of: (row: Served) => string,
  rows: readonly Served[] = served,
): Record<string, string> {
  return Object.fromEntries(rows.map((row) => [row.endpoint, of(row)]));
}

/** Endpoints of an environment that ask for a scope. */
const scoped = served.filter(({ takes, scopes }) => takes === 'environment' && scopes.length > 0);

/** What the endpoints answer to a key that has just these scopes, made for those that share them. */
async function outcomesByKey(scopesOf: (row: Served) => readonly string[]) {
  const found: Record<string, string> = {};
  for (const rows of Map.groupBy(scoped, (row) => scopesOf(row).join()).values()) {
    const key = await world.makeKey(rows.flatMap((row, at) => (at === 0 ? scopesOf(row) : [])));
    Object.assign(found, await outcomes(key.secret, rows));
    await key.remove();
  }
  return found;
}

const admitted = ({ call }: Served): string => String(call.status);
const forbidden = '403 forbidden';

/** To whoever the endpoint is not for: some take no header at all, and some look for a token in the query. */
const refusedTo = (refusal: string) => (row: Served) => {
  if (row.takes === 'none') return admitted(row);
  return row.tokenIn === 'query' ? '401 missing_public_key' : refusal;
};

/** To a key of the environment with the scope. */
const toScope = (scope: string) => (row: Served) => {
  const isAdmitted = row.takes === 'environment' && passes(scope, row.scopes);
  return isAdmitted ? admitted(row) : refusedTo(forbidden)(row);
};

const withKey = (prefix: string) => prefix + randomBytes(32).toString('base64url');

describe('the table of who may call what', () => {
  type Declared = Pick<AnyRoute, 'credential' | 'scopes' | 'takesConnectToken' | 'tokenIn'>;
  const inCode: readonly (Declared & { readonly endpoint: string })[] = [
    ...routes.map(({ method, path, ...route }) => ({ endpoint: `${method} ${path}`, ...route })),
    ...streamRoutes.flatMap(({ methods, path, ...route }) =>
      methods.map((method) => ({ endpoint: `${method} ${path}`, ...route })),
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
    const takesToken = route.credential === 'connect' || route.takesConnectToken === true;
    expect(row?.withConnectToken).toBe(takesToken);
    expect(row?.tokenIn).toBe(route.tokenIn ?? 'header');
    expect(row?.scopes.map((scope) => `${route.credential}:${scope}`)).toEqual(route.scopes);
  });

  it.each([...environmentScopes, ...wildcards])(
    'lets the scope %s pass as the gateway does',
    (scope) => {
      const ofEnvironment = inCode.filter(({ credential }) => credential === 'environment');
      const decided = ofEnvironment.map(({ endpoint, scopes }) => {
        const held = [`environment:${scope}`];
        return [endpoint, scopes.length === 0 || scopes.some((one) => holdsScope(held, one))];
      });
      const demanded = ofEnvironment.map(({ endpoint }) => {
        const row = served.find((one) => one.endpoint === endpoint);
        return [endpoint, passes(scope, row?.scopes ?? [])];
      });
      expect(decided).toEqual(demanded);
    },
  );

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
    expect(await outcomes(key)).toEqual(expected(refusedTo(refusal)));
  });

  it('is told so with a header that is no bearer token', async () => {
    const found: Record<string, string> = {};
    for (const row of served) {
      const sent = sentBy(row);
      const headers = { ...sent.headers, authorization: 'Basic YTpi' };
      found[row.endpoint] = outcomeOf(await ask(world, row.endpoint, { ...sent, headers }, null));
    }
    expect(found).toEqual(expected(refusedTo('401 malformed_auth_header')));
  });

  it('is told so with a key that was deleted a moment ago', async () => {
    const key = await world.makeKey(['*']);
    const readable = served.filter(({ endpoint }) => endpoint === 'GET /connections');
    expect(await outcomes(key.secret, readable)).toEqual({ 'GET /connections': '200' });
    await key.remove();
    expect(await outcomes(key.secret)).toEqual(expected(refusedTo('401 unknown_account')));
  });
});

describe('a key', () => {
  it('with Full access may call every endpoint of its environment, and none of the account', async () => {
    expect(await outcomes(world.crm.gateway.key)).toEqual(expected(toScope('*')));
  });

  it('of the account may call every endpoint of the account, and none of an environment', async () => {
    const of = (row: Served) =>
      row.takes === 'account' ? admitted(row) : refusedTo(forbidden)(row);
    expect(await outcomes(world.crm.gateway.accountKey)).toEqual(expected(of));
  });

  it('with one scope alone may call what asks for it', async () => {
    const found = await outcomesByKey(({ scopes }) => scopes.slice(0, 1));
    expect(found).toEqual(expected(admitted, scoped));
  });

  it('with every scope but those that an endpoint asks for may not call it', async () => {
    const found = await outcomesByKey(({ scopes }) =>
      environmentScopes.filter((scope) => !passes(scope, scopes)),
    );
    expect(found).toEqual(expected(refusedTo(forbidden), scoped));
  });

  it('with several scopes may call what asks for one of them', async () => {
    const scopes = ['connections:read', 'records:read', 'actions:execute', 'proxy'];
    const key = await world.makeKey(scopes);
    const of = (row: Served) =>
      scopes.some((scope) => passes(scope, row.scopes)) && row.takes === 'environment'
        ? admitted(row)
        : refusedTo(forbidden)(row);
    expect(await outcomes(key.secret)).toEqual(expected(of));
    await key.remove();
  });

  it('without the scope is refused before its body is read', async () => {
    // Nothing but reading is open to it.
    const key = await world.makeKey(['variables:read']);
    const { url } = world.crm.gateway;
    for (const { endpoint, takes } of served) {
      const [method = '', path = ''] = endpoint.split(' ');
      if (takes !== 'environment' || method === 'GET') continue;
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

describe('a connect token', () => {
  /** In the header, or in the query where the endpoint looks there. */
  const askWith = (row: Served, token: string): Promise<Answer> => {
    const sent = sentBy(row);
    if (row.tokenIn === 'header') return ask(world, row.endpoint, sent, token);
    const path = `${sent.path}?connect_session_token=${token}`;
    return ask(world, row.endpoint, { ...sent, path }, null);
  };
  const outcomesWith = async (token: () => Promise<string>) => {
    const found: Record<string, string> = {};
    for (const row of served) found[row.endpoint] = outcomeOf(await askWith(row, await token()));
    return found;
  };

  it('opens what is for it, and lists integrations; no endpoint of keys', async () => {
    const of = (row: Served) => {
      const isAdmitted = row.withConnectToken && passes('integrations:list', row.scopes);
      return isAdmitted || row.takes === 'none' ? admitted(row) : forbidden;
    };
    expect(await outcomesWith(() => world.makeToken())).toEqual(expected(of));
  });

  it.each([
    ['that nobody has', '0'.repeat(64), '401 unknown_connect_session_token'],
    ['of another form', 'g'.repeat(64), '401 invalid_connect_session_token_format'],
  ])('%s opens nothing', async (_what, digits, refusal) => {
    const of = (row: Served) => (row.takes === 'none' ? admitted(row) : refusal);
    const token = async () => `svc_connect_session_${digits}`;
    expect(await outcomesWith(token)).toEqual(expected(of));
  });

  it('of a session that has ended opens nothing', async () => {
    const token = await world.makeToken();
    const ended = await world.crm.gateway.call('DELETE', '/connect/session', { key: token });
    expect(ended.status).toBe(204);
    const of = (row: Served) =>
      row.takes === 'none' ? admitted(row) : '401 unknown_connect_session_token';
    expect(await outcomesWith(async () => token)).toEqual(expected(of));
  });
});
