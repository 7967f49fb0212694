/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer, and expect.any() is anything */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOptions } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  for (const provider of ['crm-basic', 'crm-oauth', 'crm-open']) {
    const body = {
      provider,
      unique_key: provider,
      ...(provider === 'crm-oauth'
        ? { credentials: { type: 'OAUTH2', client_id: 'app', client_secret: 'app-secret' } }
        : {}),
    };
    succeeded(await world.gateway.call('POST', '/integrations', { body }));
  }
});
afterAll(() => world[Symbol.asyncDispose]());

const call = (method: string, path: string, options?: CallOptions) =>
  world.gateway.call(method, path, options);
/** The outcome: the status with the code of a refusal, or the body. */
const outcome = async (method: string, path: string, options?: CallOptions) => {
  const { status, body } = await call(method, path, options);
  return status < 400 ? body : [status, body.error.code];
};
const create = (key: string, credentials: object, more: object = {}) =>
  call('POST', '/connections', {
    body: { provider_config_key: key, connection_id: `c-${randomUUID()}`, credentials, ...more },
  });
const get = (key: string, id: string, query = '', options?: CallOptions) =>
  outcome('GET', `/connections/${id}?provider_config_key=${key}${query}`, options);
const keyWith = async (...scopes: string[]) => {
  const body = { environment_id: world.environmentId, display_name: `k-${randomUUID()}`, scopes };
  const account = { key: world.gateway.accountKey, body };
  const { data } = succeeded(await call('POST', '/environment/api-keys', account));
  return data as { id: string; secret: string };
};

describe('importing a connection', () => {
  it('takes the credentials of each mode and shows them to whom may see them', async () => {
    const config = { connection_config: { account: 'importing' } };
    world.provider.account('importing').plan('/verify', { status: 200 }, { status: 401 });
    const basic = { type: 'BASIC', username: 'ada', password: '' };
    expect((await create('crm-basic', basic, config)).body.credentials).toEqual(basic);
    const refused = await create('crm-basic', basic, config);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'connection_test_failed']);

    expect((await create('crm-open', { type: 'NONE' }, config)).body).toMatchObject({
      provider: 'crm-open',
      credentials: {},
      errors: [],
      metadata: {},
      tags: {},
      end_user: null,
      connection_config: { account: 'importing' },
    });

    const expiry = '2099-01-01T00:00:00.000Z';
    const tokens = { type: 'OAUTH2', access_token: 'at', refresh_token: 'rt', expires_at: expiry };
    const made = await create('crm-oauth', tokens, config);
    expect(made.status).toBe(201);
    const { connection_id: id } = made.body as { connection_id: string };
    const { refresh_token: _, ...shown } = tokens;
    expect((await get('crm-oauth', id)).credentials).toEqual({ ...shown, raw: {} });
    const whole = await get('crm-oauth', id, '&refresh_token=true');
    expect(whole.credentials).toEqual({ ...tokens, raw: {} });
  });

  it.each([
    ['crm', { type: 'BASIC', username: 'a', password: 'b' }],
    ['crm', { type: 'API_KEY' }],
    ['crm', { type: 'API_KEY', apiKey: 'k', more: 1 }],
    ['crm-oauth', { type: 'OAUTH2', access_token: '' }],
    ['crm-open', { type: 'NONE', apiKey: 'k' }],
  ])('of %s refuses %j', async (key, credentials) => {
    const { status, body } = await create(key, credentials);
    expect([status, body.error.code]).toEqual([400, 'invalid_body']);
    expect(body.error.errors[0].path[0]).toBe('credentials');
  });

  it('over a known id keeps its records and gives it the new credentials', async () => {
    const crm = await world.connect({ metadata: { a: 1 } });
    crm.account.contacts = [{ id: 'c' }];
    await crm.run('contacts');
    const { id } = await crm.shown();
    const credentials = { type: 'API_KEY', apiKey: 'another' };
    const more = { connection_id: crm.id, connection_config: { account: crm.id } };
    expect(await create('crm', credentials, more)).toMatchObject({
      status: 201,
      body: { id, credentials, metadata: { a: 1 } },
    });
    expect(await crm.all('Contact')).toHaveLength(1);
    expect(await crm.run('contacts')).toMatchObject({ success: false });
  });
});

describe('listing connections', () => {
  const list = async (query: string) => {
    const { connections } = succeeded(await call('GET', `/connections?${query}`));
    return (connections as { connection_id: string }[]).map((one) => one.connection_id);
  };

  it('finds them by each condition, newest first, page by page', async () => {
    const mark = randomUUID();
    const ids: string[] = [];
    for (const [n, key] of ['crm', 'crm-open', 'crm-open'].entries()) {
      const credentials = key === 'crm' ? { type: 'API_KEY', apiKey: 'k' } : { type: 'NONE' };
      const made = await create(key, credentials, {
        connection_id: `${mark}-${n}`,
        tags: { Team: `T${n}`, mark },
        end_user: { id: `u-${mark}-${n}`, email: `Ada${n}@${mark}.example`, display_name: 'Ada' },
        metadata: n === 0 ? { a: 1 } : {},
      });
      ids.unshift((succeeded(made) as { connection_id: string }).connection_id);
    }
    const [third, second, first] = ids;
    const ofMark = `tags[mark]=${mark}`;
    expect(await list(ofMark)).toEqual(ids);
    expect(await list(`connectionId=${mark}-1`)).toEqual([second]);
    expect(await list(`search=${mark.slice(0, 20).toUpperCase()}`)).toEqual(ids);
    expect(await list(`search=ada2@${mark}`)).toEqual([third]);
    expect(await list(`endUserId=u-${mark}-0`)).toEqual([first]);
    expect(await list(`endUserOrganizationId=o-${mark}`)).toEqual([]);
    expect(await list(`integrationId=crm,other&${ofMark}`)).toEqual([first]);
    expect(await list(`${ofMark}&tags[team]=T2`)).toEqual([third]);
    expect(await list(`${ofMark}&limit=2`)).toEqual([third, second]);
    expect(await list(`${ofMark}&limit=2&page=1`)).toEqual([first]);
    expect(await list(`${ofMark}&limit=2&page=2`)).toEqual([]);
    const { body } = await call('GET', `/connections?connectionId=${mark}-0`);
    expect(body.connections[0]).toMatchObject({
      provider: 'crm',
      metadata: { a: 1 },
      errors: expect.any(Array),
      tags: { team: 'T0', mark },
      created: expect.stringMatching(/\+00:00$/),
      end_user: { id: `u-${mark}-0`, email: `Ada0@${mark}.example` },
    });
    const others = await call('GET', `/connections?connectionId=${mark}-1`);
    expect(others.body.connections[0].metadata).toBeNull();
  });
});

describe('changing a connection', () => {
  it('replaces or merges metadata, of several at once and of all or none', async () => {
    const [one, two] = [await world.connect(), await world.connect({ metadata: { b: { c: 1 } } })];
    const write = (method: string, ids: unknown, metadata: object) =>
      call(method, '/connections/metadata', {
        body: { connection_id: ids, provider_config_key: 'crm', metadata },
      });
    const stored = async () => [(await one.shown()).metadata, (await two.shown()).metadata];
    const both = [one.id, two.id];
    expect(await write('PATCH', both, { a: 1, b: { d: 2 } })).toMatchObject({
      status: 200,
      body: { connection_id: both, provider_config_key: 'crm', metadata: { a: 1, b: { d: 2 } } },
    });
    expect(await stored()).toEqual([
      { a: 1, b: { d: 2 } },
      { a: 1, b: { d: 2 } },
    ]);
    expect((await write('POST', one.id, { z: null })).status).toBe(201);
    expect(await stored()).toEqual([{ z: null }, { a: 1, b: { d: 2 } }]);
    for (const method of ['POST', 'PATCH']) {
      const refused = await write(method, [one.id, 'none'], { lost: true });
      expect([refused.status, refused.body.error.code]).toEqual([404, 'unknown_connection']);
    }
    expect(await stored()).toEqual([{ z: null }, { a: 1, b: { d: 2 } }]);
    expect((await write('POST', both, {})).status).toBe(201);
    expect(await stored()).toEqual([{}, {}]);
  });

  it('keeps tags in lower case, their values as they are, and refuses doubles', async () => {
    const crm = await world.connect({ tags: { TEAM: 'Blue', 'a/B.c': 'D' } });
    expect((await crm.shown()).tags).toEqual({ team: 'Blue', 'a/b.c': 'D' });
    const path = `/connections/${crm.id}?provider_config_key=crm`;
    const body = { tags: { X: 'Y' }, end_user: { id: 'u' }, webhook_url_override: '' };
    expect(await outcome('PATCH', path, { body })).toEqual({ success: true });
    // Those of the end user come first.
    const kept = { tags: { end_user_id: 'u', x: 'Y' }, end_user: { id: 'u' } };
    expect(await crm.shown()).toMatchObject(kept);
    for (const tags of [{ a: '1', A: '2' }, { '1a': 'x' }, { a: '' }, { a: 1 }]) {
      expect(await outcome('PATCH', path, { body: { tags } })).toEqual([400, 'invalid_body']);
    }
    expect(await crm.shown()).toMatchObject(kept);
  });

  it('deletes it with its records; made again under the same id it is another', async () => {
    const crm = await world.connect();
    crm.account.contacts = [{ id: 'c', name: 'first life' }];
    await crm.run('contacts');
    const [before] = await crm.all('Contact');
    const path = `/connections/${crm.id}?provider_config_key=crm`;
    expect(await outcome('DELETE', path)).toEqual({ success: true });
    const read = () => outcome('GET', '/records?model=Contact', { headers: crm.headers });
    expect(await read()).toEqual([400, 'unknown_connection']);
    expect(await get('crm', crm.id)).toEqual([404, 'not_found']);
    expect(await outcome('DELETE', path)).toEqual([400, 'unknown_connection']);
    const { body } = await crm.trigger('contacts');
    expect(body.error.code).toBe('unknown_connection');
    expect((await crm.action('echo', 1)).body.error.code).toBe('unknown_connection');

    const again = { connection_id: crm.id, connection_config: { account: crm.id } };
    const credentials = { type: 'API_KEY', apiKey: world.provider.apiKey };
    expect((await create('crm', credentials, again)).status).toBe(201);
    expect(await crm.all('Contact')).toEqual([]);
    crm.account.contacts = [{ id: 'c', name: 'second life' }];
    expect(await crm.run('contacts')).toMatchObject({
      syncType: 'INITIAL',
      responseResults: { added: 1, updated: 0, deleted: 0 },
    });
    const cursor = before!._svc_metadata.cursor;
    expect(await crm.records('Contact', { cursor })).toMatchObject({
      records: [{ id: 'c', name: 'second life' }],
    });
  });
});

describe('keys', () => {
  it('see what their scopes say, and no credentials without the scope for them', async () => {
    const crm = await world.connect();
    const plain = await keyWith('environment:connections:read', 'environment:connections:list');
    const path = `/connections/${crm.id}?provider_config_key=crm`;
    const seen = await call('GET', path, { key: plain.secret });
    expect(seen.body).toMatchObject({ connection_id: crm.id, credentials: {} });
    expect(JSON.stringify(seen.body)).not.toContain(world.provider.apiKey);
    expect(seen.headers.get('cache-control')).toBe('no-store');
    const listed = await call('GET', `/connections?connectionId=${crm.id}`, { key: plain.secret });
    expect(listed.body.connections[0]).not.toHaveProperty('credentials');
    for (const option of ['force_refresh', 'refresh_token']) {
      const asked = await get('crm', crm.id, `&${option}=true`, { key: plain.secret });
      expect(asked).toEqual([403, 'forbidden']);
    }
    expect(await outcome('DELETE', path, { key: plain.secret })).toEqual([403, 'forbidden']);
    const records = { key: plain.secret, headers: crm.headers };
    expect(await outcome('GET', '/records?model=Contact', records)).toEqual([403, 'forbidden']);

    const all = await keyWith('environment:connections:*');
    expect((await get('crm', crm.id, '', { key: all.secret })).credentials).toEqual({
      type: 'API_KEY',
      apiKey: world.provider.apiKey,
    });
  });

  it('of the wrong kind or environment get nowhere', async () => {
    const crm = await world.connect();
    const { accountKey, prodKey } = world.gateway;
    expect(await outcome('GET', '/connections', { key: accountKey })).toEqual([403, 'forbidden']);
    expect(await outcome('GET', '/environments')).toEqual([403, 'forbidden']);
    expect((await call('GET', '/connections', { key: prodKey })).body.connections).toEqual([]);
    const read = await outcome('GET', '/records?model=Contact', {
      key: prodKey,
      headers: crm.headers,
    });
    expect(read).toEqual([400, 'unknown_connection']);
  });

  it.each([
    ['none', {}, 'missing_auth_header'],
    ['of another scheme', { authorization: 'Basic YTpi' }, 'malformed_auth_header'],
    ['without a key', { authorization: 'Bearer' }, 'malformed_auth_header'],
    ['of another form', { authorization: 'Bearer abc' }, 'invalid_secret_key_format'],
    ['unknown', { authorization: `Bearer svc_env_${'A'.repeat(43)}` }, 'unknown_account'],
    [
      'unknown to the account',
      { authorization: `Bearer svc_acct_${'A'.repeat(43)}` },
      'unknown_account',
    ],
  ])('%s are a 401', async (_what, headers, code) => {
    for (const path of ['/connections', '/environments', '/records?model=Contact']) {
      expect(await outcome('GET', path, { key: null, headers })).toEqual([401, code]);
    }
  });

  it('work at once when they are made, and not a moment longer than they live', async () => {
    const { id, secret } = await keyWith('environment:connections:list');
    expect((await call('GET', '/connections', { key: secret })).status).toBe(200);
    const account = { key: world.gateway.accountKey };
    const keys = async () => {
      const path = `/environment/api-keys?environment_id=${world.environmentId}`;
      return (await call('GET', path, account)).body.data as {
        id: string;
        last_used_at: unknown;
      }[];
    };
    const used = await eventually(
      async () => (await keys()).find((key) => key.id === id),
      (key) => key?.last_used_at !== null,
    );
    expect(used).toMatchObject({ secret: expect.stringContaining(secret.slice(-4)) });
    expect(JSON.stringify(await keys())).not.toContain(secret);
    const body = { environment_id: world.environmentId, key_id: id };
    expect(await outcome('DELETE', '/environment/api-keys', { ...account, body })).toEqual({
      success: true,
    });
    expect(await outcome('GET', '/connections', { key: secret })).toEqual([401, 'unknown_account']);
  });
});
