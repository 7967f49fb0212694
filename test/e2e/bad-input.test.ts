import { request } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '#api/routes.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { catalogue } from '#kernel/errors.ts';
import { holdAnswer } from '#test/support/judges/answers.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '#test/support/worlds/crm-world.ts';

const seed = seedOfRun();
const runsPerRoute = roundsOf({ push: 20, all: 40 });

let world: CrmWorld;
let crm: CrmConnection;
/** Of a connect session, and of one that tests may end. */
let tokens: { readonly lasting: string; readonly ending: string };
beforeAll(async () => {
  console.log(`SVC_TEST_SEED=${seed}`);
  world = await openCrmWorld();
  crm = await world.connect();
  crm.account.contacts = [{ id: 'c-1', name: 'One' }];
  await crm.run('contacts');
  tokens = { lasting: await connectToken(), ending: await connectToken() };
});
afterAll(() => world[Symbol.asyncDispose]());

async function connectToken(): Promise<string> {
  const body = { end_user: { id: 'u1' } };
  const made = await world.gateway.call('POST', '/connect/sessions', { body });
  return (made.body as { data: { token: string } }).data.token;
}

interface Raw {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

interface RawAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends what it is given as it is: `fetch` would fix or refuse much of it. */
function send({ method, path, headers = {}, body = '' }: Raw): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(world.gateway.url);
    const sent = { 'content-length': String(Buffer.byteLength(body)), ...headers };
    const going = request({ hostname, port, method, path, headers: sent }, (response) => {
      response.toArray().then((chunks) => {
        const type = response.headers['content-type'] ?? '';
        resolve({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() });
      }, reject);
    });
    going.on('error', reject);
    going.end(body);
  });
}

/** Where a person's browser comes back to: it is answered with a page. */
const shown = new Set(['/oauth/callback', '/app-auth/connect']);

/** Said instead of a code of ours by an endpoint that speaks JSON-RPC, which has codes of its own. */
const ofJsonRpc = 'json-rpc';

/**
 * Never a 5xx; a refusal is JSON with a code of the catalog (or a page, for a person), and says nothing of the inside.
 */
function expectSound({ status, type, text }: RawAnswer, isShown = false): string | null {
  expect(status, text).toBeLessThan(500);
  if (status < 400) return null;
  expect(text).not.toMatch(/node_modules|\.ts:\d|sqlite|chdb|\bat \w+ \(/i);
  if (isShown && type.startsWith('text/html')) return null;
  expect(type).toBe('application/json');
  const { error, jsonrpc } = JSON.parse(text) as {
    error: { code: string | number };
    jsonrpc?: string;
  };
  if (jsonrpc === '2.0') return ofJsonRpc;
  expect(Object.keys(catalogue)).toContain(error.code);
  return String(error.code);
}

const authorization = (route: AnyRoute) => {
  const { key, accountKey } = world.gateway;
  const secrets = {
    account: accountKey,
    connect: tokenOf(route),
    environment: key,
    key,
    none: key,
  };
  return `Bearer ${secrets[route.credential]}`;
};
const tokenOf = ({ method }: AnyRoute) => (method === 'DELETE' ? tokens.ending : tokens.lasting);
/** The first pair of the query: the token, where it stands there. */
const tokenPair = (route: AnyRoute) =>
  route.tokenIn === 'query' ? [`connect_session_token=${tokenOf(route)}`] : [];
const named = (route: AnyRoute, value = 'x') => route.path.replace(/\{\w+\}/g, value);
const isWrite = ({ method }: AnyRoute) => method !== 'GET';
const title = ({ method, path }: AnyRoute) => `${method} ${path}`;
const each = (chosen: readonly AnyRoute[]) => chosen.map((route) => [title(route), route] as const);

/** Names that the routes know, so that bad values get past the check of names. */
const names = [
  ...new Set(
    routes.flatMap((route) =>
      [route.body, route.query].flatMap((schema) => {
        const { shape } = (schema ?? {}) as { shape?: object };
        return Object.keys(shape ?? {});
      }),
    ),
  ),
  // Fields of credentials, which depend on the provider.
  'type',
  'apiKey',
  'username',
  'password',
  'client_id',
  'client_secret',
  '__proto__',
  'constructor',
  'toString',
];
const known = [
  ...['crm', 'crm-open', 'contacts', 'echo', 'Contact', 'NONE', 'API_KEY', 'OAUTH2', 'webhook'],
  ...['true', '1', 'base', '*'],
];
const odd = [
  '',
  '\0',
  '\ud800',
  '%',
  '../..',
  '${apiKey}',
  'x'.repeat(300),
  '1e999',
  '-1',
  '[]',
  '🙂',
  'a::b::c',
  '2026-13-40',
];
const leaf = fc.oneof(
  fc.constantFrom<unknown>(...known, ...odd, -1, 0, 1e308, 2 ** 53, -0.5, null, true),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double(),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
  ),
}));
const body = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 }) },
  { weight: 1, arbitrary: value },
);
const text = fc.oneof(
  fc.constantFrom(...known, ...odd),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const query = fc.array(
  fc.tuple(fc.constantFrom(...names), fc.constantFrom('', '[]', '[a]', '[__proto__]', '['), text),
  { maxLength: 5 },
);
/** What a header can carry at all. */
const header = text.map((given) => given.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').trim());
/** What stands in the way of all that comes after it: a used key is a conflict. */
const mostlyAbsent = <T>(given: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: given });
/** Long values with a short name for the list of tests. */
const called = (values: readonly string[]) =>
  values.map((whole) => [whole.slice(0, 60), whole] as const);
const encode = (part: string) => encodeURIComponent(part.toWellFormed());

/** Removals, and what they may not name: all other tests need it. */
const keeps: Readonly<Record<string, (part: string) => boolean>> = {
  'DELETE /environments/{environmentId}': (part) => Number(part) === world.environmentId,
  'DELETE /integrations/{uniqueKey}': (part) => part === 'crm',
};

describe('anything at all', () => {
  it.each(each(routes))('sent to %s is never an error of the service', async (_title, route) => {
    const sound = fc.asyncProperty(
      text,
      query,
      body,
      header,
      mostlyAbsent(header),
      async (part, pairs, sent, connectionId, other) => {
        const isKept = keeps[title(route)]?.(part) === true;
        const path = part === '' || isKept ? 'x' : encode(part);
        const search = [
          ...tokenPair(route),
          ...pairs.map(([name, mark, item]) => `${name}${mark}=${encode(item)}`),
        ];
        const url = `${named(route, path)}${search.length === 0 ? '' : `?${search.join('&')}`}`;
        const answer = await send({
          method: route.method,
          path: url,
          headers: {
            authorization: authorization(route),
            ...(isWrite(route) ? { 'content-type': 'application/json' } : {}),
            'connection-id': connectionId,
            'provider-config-key': 'crm',
            'x-async': 'false',
            ...(other === null ? {} : { 'idempotency-key': other }),
          },
          ...(isWrite(route) ? { body: JSON.stringify(sent) } : {}),
        });
        expectSound(answer, shown.has(route.path));
        const headers = new Headers({ 'content-type': answer.type });
        holdAnswer(route.method, url, { ...answer, headers });
      },
    );
    await fc.assert(sound, { seed, numRuns: runsPerRoute });
  });

  it('leaves what was there as it was', async () => {
    expect((await crm.records('Contact')).records).toMatchObject([{ id: 'c-1', name: 'One' }]);
    expect((await crm.action('echo', 'fine')).body).toBe('fine');
    expect(world.gateway.log.filter((line) => line.includes('request failed'))).toEqual([]);
  });
});

describe('a body', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const writes = routes.filter(
    (route) => route.body !== undefined && route.bodyFormat === undefined,
  );

  it.each(each(writes))('of %s that is no JSON object is refused', async (_title, route) => {
    const json = { 'content-type': 'application/json' };
    const cases: [string | Buffer, Record<string, string>, string[]][] = [
      ['{', json, ['invalid_json']],
      ['nonsense', json, ['invalid_json']],
      ['{"a":NaN}', json, ['invalid_json']],
      [Buffer.from([0x22, 0xff, 0xfe, 0x22]), json, ['invalid_json']],
      [deep(100_000), json, ['invalid_json']],
      [`{"x":${deep(5_000)}}`, json, ['invalid_json']],
      ['[]', json, ['invalid_body']],
      ['null', json, ['invalid_body', 'none']],
      ['"text"', json, ['invalid_body']],
      ['{"\\u0000":1}', json, ['invalid_body']],
      ['{}', { 'content-type': 'text/plain' }, ['invalid_content_type']],
      ['{}', { 'content-type': 'application/jsonp' }, ['invalid_content_type']],
      ['{}', { 'content-type': '' }, ['invalid_content_type', 'invalid_body', 'none']],
      ['a=1', { 'content-type': 'application/x-www-form-urlencoded' }, ['invalid_content_type']],
    ];
    for (const [sent, type, codes] of cases) {
      const headers = { authorization: authorization(route), ...type, ...crm.headers };
      const path = [named(route, '00000000-0000-4000-8000-000000000000'), ...tokenPair(route)].join(
        '?',
      );
      const answer = await send({ method: route.method, path, headers, body: sent });
      const what = `${Buffer.from(sent).subarray(0, 20).toString()} ${type['content-type']}`;
      const code = expectSound(answer) ?? 'none';
      // A strict route may refuse the query or the path that it is given first.
      const before = ['invalid_query_params', 'invalid_uri_params', 'not_found'];
      if (route.path.startsWith('/mcp')) before.push(ofJsonRpc);
      const after = ['unknown_connection', 'unknown_provider_config', 'unknown_environment'];
      if (codes.includes('none')) expect([...codes, ...before, ...after], what).toContain(code);
      else expect([...codes, ...before], what).toContain(code);
    }
  });

  it('may be cut short by its sender', async () => {
    const { hostname, port } = new URL(world.gateway.url);
    const headers = {
      authorization: `Bearer ${world.gateway.key}`,
      'content-type': 'application/json',
      'content-length': '1000',
    };
    const to = { hostname, port, method: 'POST', path: '/integrations', headers, agent: false };
    const going = request(to);
    const gone = new Promise((resolve) => going.once('close', resolve));
    going.on('error', () => undefined);
    going.write('{"unique_key":', () => going.destroy());
    await gone;
    expect((await world.gateway.call('GET', '/health', { key: null })).status).toBe(200);
  });
});

describe('a query and its headers', () => {
  const codeOf = async (path: string, headers: Record<string, string> = {}) =>
    expectSound(
      await send({
        method: 'GET',
        path,
        headers: { authorization: `Bearer ${world.gateway.key}`, ...crm.headers, ...headers },
      }),
    );

  const refused = [
    'limit=0',
    'limit=10001',
    'limit=-1',
    'limit=1.5',
    'limit=1e3',
    'limit=99999999999999999999',
    'limit=1&limit=2',
    'model=Contact',
    'cursor=',
    `cursor=${'A'.repeat(1001)}`,
    'modified_after=yesterday',
    'modified_after=2026-02-30T00:00:00Z',
    'modified_after=2026-02-01T00:00:00',
    'filter=',
    'filter=added,gone',
    `ids=${'i'.repeat(257)}`,
    Array.from({ length: 101 }, (_, n) => `ids=${n}`).join('&'),
    'ids[a]=1',
    'variant=a%20b',
    'variant=%00',
    'unknown=1',
    '__proto__=1',
    'constructor[prototype][x]=1',
  ];
  it.each(called(refused))('of records: %s is refused', async (_name, query) => {
    expect(await codeOf(`/records?model=Contact&${query}`)).toBe('invalid_query_params');
  });

  const cursors = [
    'x',
    'AAAA',
    'MjAyNi0wMi0wMVQwODowMDowMC4xMjM0NTYrMDA6MDB8fDhmMTQ=',
    '!!!!',
    '%F0%9F%99%82',
    'A'.repeat(1000),
    Buffer.alloc(24, 0xff).toString('base64url'),
  ];
  it.each(called(cursors))('the cursor %s is refused', async (_name, cursor) => {
    expect(await codeOf(`/records?model=Contact&cursor=${cursor}`)).toBe('invalid_cursor_value');
    const prune = { model: 'Contact', until_cursor: decodeURIComponent(cursor) };
    const answer = await world.gateway.call('PATCH', '/records/prune', {
      headers: crm.headers,
      body: prune,
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_cursor_value' } },
    });
  });

  it.each([
    [{ 'connection-id': '' }, 'invalid_headers'],
    [{ 'connection-id': 'x'.repeat(256) }, 'invalid_headers'],
    [{ 'connection-id': 'a\xe9' }, 'invalid_headers'],
    [{ 'provider-config-key': 'a/b' }, 'invalid_headers'],
    [{ 'provider-config-key': 'unknown' }, 'unknown_connection'],
    [{ authorization: 'Bearer ' }, 'malformed_auth_header'],
    [{ authorization: `Bearer ${'x'.repeat(8000)}` }, 'invalid_secret_key_format'],
    [{ authorization: 'Bearer svc_env_\xff' }, 'malformed_auth_header'],
  ])('the headers %j are refused', async (headers, code) => {
    expect(await codeOf('/records?model=Contact', headers)).toBe(code);
  });

  it.each([
    ['GET', '/', 404, 'not_found'],
    ['GET', '//', 404, 'not_found'],
    ['GET', '/connections//', 404, 'not_found'],
    ['GET', '/connections/%?provider_config_key=crm', 400, 'invalid_uri_params'],
    ['GET', '/connections/%ff?provider_config_key=crm', 400, 'invalid_uri_params'],
    ['GET', `/connections/${'x'.repeat(4000)}?provider_config_key=crm`, 400, 'invalid_uri_params'],
    ['GET', '/records/../connections', 404, 'not_found'],
    ['PUT', '/connections', 405, 'method_not_allowed'],
    ['DELETE', '/records', 405, 'method_not_allowed'],
    ['TRACE', '/records', 405, 'method_not_allowed'],
  ])('%s %s answers %i', async (method, path, status, code) => {
    const headers = { authorization: `Bearer ${world.gateway.key}` };
    const answer = await send({ method, path, headers });
    expect([answer.status, expectSound(answer)]).toEqual([status, code]);
  });

  it('heads that HTTP does not allow are answered, too', async () => {
    const long = await send({ method: 'GET', path: '/health', headers: { x: 'y'.repeat(40_000) } });
    expect([long.status, expectSound(long)]).toEqual([431, 'invalid_request']);
  });
});
