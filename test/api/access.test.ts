/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { randomBytes, randomUUID } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRequestPipeline } from '#api/request-pipeline.ts';
import { routes, streamRoutes } from '#api/routes.ts';
import { checkScope } from '#http/check-parts.ts';
import type { RouteGuards, RequestPipeline } from '#http/pipeline.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Call, Row } from '#test/support/judges/access/row.ts';
import {
  environmentScopes,
  passes,
  served,
  table,
  wildcards,
} from '#test/support/judges/access/table.ts';
import {
  ask,
  missing,
  openAccessWorld,
  type AccessWorld,
} from '#test/support/judges/access/world.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import { startApi, type Api } from '#test/support/worlds/api.ts';

type Served = Row & { readonly call: Call };
type Declared = RouteGuards & { readonly endpoint: string };

const inCode: readonly Declared[] = [
  ...routes.map((route) => ({ endpoint: `${route.method} ${route.path}`, ...route })),
  ...streamRoutes.flatMap((route) =>
    route.methods.map((method) => ({ endpoint: `${method} ${route.path}`, ...route })),
  ),
];

const admitted = ({ call }: Served): string => String(call.status);
const forbidden = '403 forbidden';

/** For callers that the endpoint is not for: some take no header at all, and some look for a token in the query. */
const refusedTo =
  (refusal: string, admission = admitted) =>
  (row: Served) => {
    if (row.takes === 'none') return admission(row);
    return row.tokenIn === 'query' ? '401 missing_public_key' : refusal;
  };

const expected = (of: (row: Served) => string, rows: readonly Served[] = served) =>
  Object.fromEntries(rows.map((row) => [row.endpoint, of(row)]));

describe('the table of who may call what', () => {
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

  it('knows every scope that can be granted, and no endpoint wants another', () => {
    const wanted = new Set(
      table.filter(({ takes }) => takes === 'environment').flatMap(({ scopes }) => scopes),
    );
    wanted.delete('*');
    expect(environmentScopes).toHaveLength(52);
    expect([...wanted].sort()).toEqual(environmentScopes.toSorted());
  });
});

/** The whole table, each endpoint for each credential, asked of the request pipeline in process. */
describe('the request pipeline', () => {
  let api: Api;
  let pipeline: RequestPipeline;
  let environmentId: number | undefined;
  beforeAll(async () => {
    api = await startApi();
    const listed = await api.call('GET', '/environments', { key: api.keys.account });
    const all = listed.at('data') as { id: number; name: string }[];
    environmentId = all.find(({ name }) => name === 'dev')?.id;
    pipeline = await openRequestPipeline(api.services);
  });
  afterAll(async () => {
    await pipeline[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  });

  interface Sent {
    readonly authorization?: string;
    /** Of the query. */
    readonly token?: string;
  }

  const passed = 'passes';

  async function decision(route: Declared, { authorization, token }: Sent): Promise<string> {
    const request = new IncomingMessage(new Socket());
    if (authorization !== undefined) request.headers = { authorization };
    const search = token === undefined ? '' : `connect_session_token=${token}`;
    const call = { route, request, search, address: '127.0.0.1', setHeader: () => undefined };
    try {
      checkScope(route, await pipeline.authorize(call));
      return passed;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return `${error.status} ${error.code}`;
    }
  }

  /**
   * What it decides for every endpoint, as one object, so that a difference names the endpoint. All at once: an
   * unknown credential is looked for in the log, which takes a moment.
   */
  async function decisionsOn(sentTo: (route: Declared) => Sent): Promise<Record<string, string>> {
    const deciding = inCode.map(async (route) => [
      route.endpoint,
      await decision(route, sentTo(route)),
    ]);
    return Object.fromEntries(await Promise.all(deciding)) as Record<string, string>;
  }

  const decisionsFor = (secret: string) =>
    decisionsOn(() => ({ authorization: `Bearer ${secret}` }));
  const refused = (refusal: string) => expected(refusedTo(refusal, () => passed));
  const decided = (isAdmitted: (row: Served) => boolean) =>
    expected((row) => (isAdmitted(row) ? passed : refusedTo(forbidden, () => passed)(row)));
  const unknown = (prefix: string) => prefix + randomBytes(32).toString('base64url');

  async function makeKey(scopes: readonly string[]) {
    const account = { key: api.keys.account };
    const body = {
      environment_id: environmentId,
      display_name: randomUUID(),
      scopes: scopes.map((scope) => `environment:${scope}`),
    };
    const made = await api.call('POST', '/environment/api-keys', { ...account, body });
    const named = { environment_id: environmentId, key_id: made.at('data.id') };
    return {
      secret: made.at('data.secret') as string,
      async [Symbol.asyncDispose]() {
        await api.call('DELETE', '/environment/api-keys', { ...account, body: named });
      },
    };
  }

  async function makeToken(): Promise<string> {
    const made = await api.call('POST', '/connect/sessions', { body: { end_user: { id: 'u' } } });
    return made.at('data.token') as string;
  }

  it.each([
    ['no header', undefined, '401 missing_auth_header'],
    ['a header that is no bearer token', 'Basic YTpi', '401 malformed_auth_header'],
    ['a key of another form', 'Bearer a-secret', '401 invalid_secret_key_format'],
    ['a key that nobody has', `Bearer ${unknown('svc_env_')}`, '401 unknown_account'],
    ['an account key that nobody has', `Bearer ${unknown('svc_acct_')}`, '401 unknown_account'],
  ])('refuses %s', async (_what, authorization, refusal) => {
    const sent = authorization === undefined ? {} : { authorization };
    expect(await decisionsOn(() => sent)).toEqual(refused(refusal));
  });

  it('refuses a key that was deleted a moment ago', async () => {
    const key = await makeKey(['*']);
    expect(await decisionsFor(key.secret)).toEqual(
      decided(({ takes }) => takes === 'environment' || takes === 'key'),
    );
    await key[Symbol.asyncDispose]();
    expect(await decisionsFor(key.secret)).toEqual(refused('401 unknown_account'));
  });

  it('lets a key of the account pass to every endpoint of the account, and to none of an environment', async () => {
    const found = await decisionsFor(api.keys.account);
    expect(found).toEqual(decided(({ takes }) => takes === 'account' || takes === 'key'));
  });

  it.each([
    ...['*', ...environmentScopes, ...wildcards].map((scope) => [`the scope ${scope}`, [scope]]),
    ['several scopes', ['connections:read', 'records:read', 'actions:execute', 'proxy']],
    ...environmentScopes.map((scope) => [
      `every scope but ${scope}`,
      environmentScopes.filter((one) => one !== scope),
    ]),
  ] as [string, readonly string[]][])(
    'lets a key with %s pass where the table says so',
    async (_what, scopes) => {
      await using key = await makeKey(scopes);
      const isAdmitted = ({ takes, scopes: wanted }: Served) =>
        takes === 'key' ||
        (takes === 'environment' && scopes.some((scope) => passes(scope, wanted)));
      expect(await decisionsFor(key.secret)).toEqual(decided(isAdmitted));
    },
  );

  /** In the header, or in the query where the endpoint looks there. */
  const decisionsOfToken = (token: string) =>
    decisionsOn(({ tokenIn }) =>
      tokenIn === 'query' ? { token } : { authorization: `Bearer ${token}` },
    );

  it('lets a connect token pass to what is for it, and to the list of integrations', async () => {
    const of = (row: Served) => {
      const isAdmitted = row.withConnectToken && passes('integrations:list', row.scopes);
      return isAdmitted || row.takes === 'none' ? passed : forbidden;
    };
    expect(await decisionsOfToken(await makeToken())).toEqual(expected(of));
  });

  const closedTo = (refusal: string) =>
    expected((row) => (row.takes === 'none' ? passed : refusal));

  it.each([
    ['that nobody has', '0'.repeat(64), '401 unknown_connect_session_token'],
    ['of another form', 'g'.repeat(64), '401 invalid_connect_session_token_format'],
  ])('refuses a connect token %s', async (_what, digits, refusal) => {
    const found = await decisionsOfToken(`svc_connect_session_${digits}`);
    expect(found).toEqual(closedTo(refusal));
  });

  it('refuses the token of a session that has ended', async () => {
    const token = await makeToken();
    const ended = await api.call('DELETE', '/connect/session', { key: token });
    expect(ended.status).toBe(204);
    expect(await decisionsOfToken(token)).toEqual(closedTo('401 unknown_connect_session_token'));
  });
});

/** One key that may call it and one that may not, for each endpoint. */
describe('an endpoint', () => {
  let world: AccessWorld;
  beforeAll(async () => {
    world = await openAccessWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** Status, and of refusals the code. */
  const outcomeOf = ({ status, body }: Answer): string =>
    [401, 403].includes(status) ? `${status} ${body.error.code as string}` : String(status);

  const sentBy = ({ call }: Served) => call.send(call.on === 'present' ? world.present : missing());

  async function outcomes(key: string | null, rows: readonly Served[]) {
    const found: Record<string, string> = {};
    for (const row of rows) {
      found[row.endpoint] = outcomeOf(await ask(world, row.endpoint, sentBy(row), key));
    }
    return found;
  }

  /** What endpoints answer to a key that has just these scopes, made for those that share them. */
  async function outcomesByKey(scopesOf: (row: Served) => readonly string[]) {
    const found: Record<string, string> = {};
    for (const rows of Map.groupBy(scoped, (row) => scopesOf(row).join()).values()) {
      const key = await world.makeKey(rows.flatMap((row, at) => (at === 0 ? scopesOf(row) : [])));
      Object.assign(found, await outcomes(key.secret, rows));
      await key.remove();
    }
    return found;
  }

  const taking = (kind: Row['takes']) => served.filter(({ takes }) => takes === kind);
  const [ofEnvironment, ofAccount, ofConnect] = [
    taking('environment'),
    taking('account'),
    taking('connect'),
  ];
  const scoped = ofEnvironment.filter(({ scopes }) => scopes.length > 0);
  const unscoped = ofEnvironment.filter(({ scopes }) => scopes.length === 0);

  it('of an environment takes a key with its scope alone, or any key where it asks for none', async () => {
    const found = await outcomesByKey(({ scopes }) => scopes.slice(0, 1));
    expect(found).toEqual(expected(admitted, scoped));
    const { key } = world.crm.gateway;
    expect(await outcomes(key, unscoped)).toEqual(expected(admitted, unscoped));
  });

  it('of an environment refuses a key with every other scope, and a key of the account where it asks for none', async () => {
    const found = await outcomesByKey(({ scopes }) =>
      environmentScopes.filter((scope) => !passes(scope, scopes)),
    );
    const refusal = refusedTo(forbidden);
    expect(found).toEqual(expected(refusal, scoped));
    const { accountKey } = world.crm.gateway;
    expect(await outcomes(accountKey, unscoped)).toEqual(expected(refusal, unscoped));
  });

  it('of the account takes a key of the account, and refuses one of an environment', async () => {
    const { key, accountKey } = world.crm.gateway;
    expect(await outcomes(accountKey, ofAccount)).toEqual(expected(admitted, ofAccount));
    expect(await outcomes(key, ofAccount)).toEqual(expected(() => forbidden, ofAccount));
  });

  it('of either takes both kinds of keys, and refuses a connect token', async () => {
    const rows = taking('key');
    const { key, accountKey } = world.crm.gateway;
    for (const secret of [key, accountKey]) {
      expect(await outcomes(secret, rows)).toEqual(expected(admitted, rows));
    }
    const token = await world.makeToken();
    expect(await outcomes(token, rows)).toEqual(expected(() => forbidden, rows));
  });

  it('of a connect session takes its token, and refuses a key of the environment', async () => {
    const found: Record<string, string> = {};
    for (const row of ofConnect) {
      const sent = sentBy(row);
      const token = await world.makeToken();
      const isInHeader = row.tokenIn === 'header';
      const path = isInHeader ? sent.path : `${sent.path}?connect_session_token=${token}`;
      const answer = await ask(world, row.endpoint, { ...sent, path }, isInHeader ? token : null);
      found[row.endpoint] = outcomeOf(answer);
    }
    expect(found).toEqual(expected(admitted, ofConnect));
    const refusals = await outcomes(world.crm.gateway.key, ofConnect);
    expect(refusals).toEqual(expected(refusedTo(forbidden), ofConnect));
  });

  it('that takes no credential answers without one, and with any', async () => {
    const rows = taking('none');
    for (const key of [null, world.crm.gateway.key]) {
      expect(await outcomes(key, rows)).toEqual(expected(admitted, rows));
    }
  });

  it('refuses a key that was deleted a moment ago', async () => {
    const key = await world.makeKey(['*']);
    const [row] = served.filter(({ endpoint }) => endpoint === 'GET /connections');
    expect(await outcomes(key.secret, [row!])).toEqual({ 'GET /connections': '200' });
    await key.remove();
    const after = await outcomes(key.secret, [row!]);
    expect(after).toEqual({ 'GET /connections': '401 unknown_account' });
  });

  it('refuses a key without the scope before it reads the body', async () => {
    // Nothing but reading is open to it.
    const key = await world.makeKey(['variables:read']);
    const { url } = world.crm.gateway;
    for (const { endpoint } of ofEnvironment) {
      const [method = '', path = ''] = endpoint.split(' ');
      if (method === 'GET') continue;
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
