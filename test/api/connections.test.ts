import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startApiWithProviders,
  type ApiWithProviders,
} from '#test/support/worlds/api-with-providers.ts';
import { codeOf } from '#test/support/worlds/api.ts';

let api: ApiWithProviders;
beforeAll(async () => {
  api = await startApiWithProviders();
});
afterAll(() => api[Symbol.asyncDispose]());

describe('connections', () => {
  it('are imported in each mode and read back with their credentials', async () => {
    const cases = [
      ['open', { type: 'NONE' }, {}],
      ['tested', { type: 'API_KEY', apiKey: 'good' }, { type: 'API_KEY', apiKey: 'good' }],
      [
        'basic',
        { type: 'BASIC', username: '', password: '' },
        { type: 'BASIC', username: '', password: '' },
      ],
      [
        'oauth',
        { type: 'OAUTH2', access_token: 'at', refresh_token: 'rt', expires_at: 4_000_000_000 },
        { type: 'OAUTH2', access_token: 'at', expires_at: '2096-10-02T07:06:40.000Z', raw: {} },
      ],
    ] as const;
    for (const [integration, credentials, shown] of cases) {
      const body = { provider_config_key: integration, connection_id: 'imp', credentials };
      const made = await api.call('POST', '/connections', { body });
      expect(codeOf(made)).toBe('201 ');
      expect(made.body).toMatchObject({
        connection_id: 'imp',
        provider_config_key: integration,
        errors: [],
        end_user: null,
        tags: {},
        metadata: {},
        connection_config: {},
        webhook_url_override: null,
        credentials: shown,
      });
      expect(typeof made.at('id')).toBe('number');
      expect(made.at('created_at')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}\+00:00$/);
      const read = await api.call('GET', `/connections/imp?provider_config_key=${integration}`);
      expect(read.body).toMatchObject({ id: made.at('id') as number, credentials: shown });
      expect(read.headers.get('cache-control')).toBe('no-store');
    }
    const path = '/connections/imp?provider_config_key=oauth&refresh_token=true';
    const withToken = await api.call('GET', path);
    expect(withToken.at('credentials.refresh_token')).toBe('rt');
    expect(withToken.at('credentials.access_token')).toBe('at');
  });

  it('without a refresh token are returned unchanged, also after their end', async () => {
    const credentials = { type: 'OAUTH2', access_token: 'old', expires_at: 1_700_000_000 };
    const body = { provider_config_key: 'oauth', connection_id: 'old', credentials };
    await api.call('POST', '/connections', { body });
    const read = await api.call('GET', '/connections/old?provider_config_key=oauth');
    expect(codeOf(read)).toBe('200 ');
    expect(read.at('credentials.access_token')).toBe('old');
  });

  it('that cannot be refreshed answer the connection without its credentials', async () => {
    const credentials = {
      type: 'OAUTH2',
      access_token: 'stale',
      refresh_token: 'rt',
      expires_at: 1_700_000_000,
    };
    const body = { provider_config_key: 'oauth', connection_id: 'stale', credentials };
    await api.call('POST', '/connections', { body });
    const path = '/connections/stale?provider_config_key=oauth';
    const failed = await api.call('GET', path);
    expect(codeOf(failed)).toBe('400 invalid_credentials');
    expect(failed.at('error.payload.connection')).toMatchObject({
      connection_id: 'stale',
      credentials: {},
      errors: [{ type: 'auth' }],
    });
    expect(codeOf(await api.call('GET', path))).toBe('424 invalid_credentials');
  });

  it('try the credentials where the provider says how', async () => {
    const credentials = { type: 'API_KEY', apiKey: 'bad' };
    const body = { provider_config_key: 'tested', credentials };
    expect(codeOf(await api.call('POST', '/connections', { body }))).toBe(
      '400 connection_test_failed',
    );
  });

  it.each([
    [{ provider_config_key: 'nobody', credentials: { type: 'NONE' } }, '404 not_found'],
    [
      { provider_config_key: 'open', credentials: { type: 'API_KEY', apiKey: 'x' } },
      '400 invalid_body',
    ],
    [{ provider_config_key: 'open' }, '400 invalid_body'],
    [{ provider_config_key: 'tested', credentials: { type: 'API_KEY' } }, '400 invalid_body'],
    [{ provider_config_key: 'open', credentials: { type: 'NONE' }, more: 1 }, '400 invalid_body'],
    [
      { provider_config_key: 'open', credentials: { type: 'NONE' }, tags: { '1': 'x' } },
      '400 invalid_body',
    ],
    [
      { provider_config_key: 'open', credentials: { type: 'NONE' }, metadata: [] },
      '400 invalid_body',
    ],
    ...[5, {}, ['read', 5]].map((oauth_scopes_override): [object, string] => [
      {
        provider_config_key: 'open',
        credentials: { type: 'NONE' },
        connection_config: { oauth_scopes_override },
      },
      '400 invalid_body',
    ]),
  ])('refuse %j with %s', async (body, expected) => {
    expect(codeOf(await api.call('POST', '/connections', { body }))).toBe(expected);
  });

  it('are stripped of credentials for a key without that scope, which cannot ask for tokens', async () => {
    const body = {
      provider_config_key: 'oauth',
      connection_id: 'stripped',
      credentials: { type: 'OAUTH2', access_token: 'secret-at' },
    };
    const create = await api.keyWith('environment:connections:create');
    const made = await api.call('POST', '/connections', { key: create, body });
    expect(made.at('credentials')).toEqual({});
    const key = await api.keyWith('environment:connections:read');
    const path = '/connections/stripped?provider_config_key=oauth';
    const read = await api.call('GET', path, { key });
    expect(read.status).toBe(200);
    expect(read.at('credentials')).toEqual({});
    for (const option of ['force_refresh', 'refresh_token', 'refresh_github_app_jwt_token']) {
      expect(codeOf(await api.call('GET', `${path}&${option}=true`, { key }))).toBe(
        '403 forbidden',
      );
      expect((await api.call('GET', `${path}&${option}=false`, { key })).status).toBe(200);
    }
    const reader = await api.keyWith('environment:connections:read_credentials');
    const full = await api.call('GET', `${path}&force_refresh=true`, { key: reader });
    expect(full.at('credentials.access_token')).toBe('secret-at');
  });

  it('distinguish an unknown integration from an unknown connection', async () => {
    const get = (path: string) => api.call('GET', path).then(codeOf);
    expect(await get('/connections/x?provider_config_key=nobody')).toBe(
      '400 unknown_provider_config',
    );
    expect(await get('/connections/x?provider_config_key=open')).toBe('404 not_found');
    expect(await get('/connections/x')).toBe('400 invalid_query_params');
    const gone = await api.call('DELETE', '/connections/x?provider_config_key=open');
    expect(codeOf(gone)).toBe('400 unknown_connection');
    const patch = await api.call('PATCH', '/connections/x?provider_config_key=open', { body: {} });
    expect(codeOf(patch)).toBe('404 not_found');
    const metadata = { connection_id: 'x', provider_config_key: 'open', metadata: {} };
    const set = await api.call('POST', '/connections/metadata', { body: metadata });
    expect(codeOf(set)).toBe('404 unknown_connection');
  });

  it('are filtered, searched and paged, newest first', async () => {
    const people = [
      ['list-1', { id: 'u1', email: 'ann@acme.example', display_name: 'Ann' }, { team: 'blue' }],
      [
        'list-2',
        { id: 'u2', email: 'bob@acme.example', display_name: 'Bob' },
        { team: 'blue', x: '1' },
      ],
      ['list-3', { id: 'u1', display_name: 'Ann Other' }, { Team: 'Red' }],
    ] as const;
    for (const [connection_id, end_user, tags] of people) {
      const body = {
        provider_config_key: 'open',
        connection_id,
        end_user,
        tags,
        credentials: { type: 'NONE' },
      };
      expect((await api.call('POST', '/connections', { body })).status).toBe(201);
    }
    const ids = async (query: string) => {
      const answer = await api.call('GET', `/connections?${query}`);
      expect(answer.status).toBe(200);
      return (answer.at('connections') as { connection_id: string }[])
        .map(({ connection_id }) => connection_id)
        .filter((id) => id.startsWith('list-'));
    };
    expect(await ids('')).toEqual(['list-3', 'list-2', 'list-1']);
    expect(await ids('connectionId=list-2')).toEqual(['list-2']);
    expect(await ids('connectionIds=list-3&connectionIds=list-1&connectionIds=gone')).toEqual([
      'list-3',
      'list-1',
    ]);
    expect(await ids('connectionIds=list-3')).toEqual(['list-3']);
    expect(await ids('search=ANN')).toEqual(['list-3', 'list-1']);
    expect(await ids('search=bob@acme')).toEqual(['list-2']);
    expect(await ids('endUserId=u1')).toEqual(['list-3', 'list-1']);
    expect(await ids('tags[Team]=blue')).toEqual(['list-2', 'list-1']);
    expect(await ids('tags[team]=blue&tags[x]=1')).toEqual(['list-2']);
    expect(await ids('integrationId=open,tested&search=list-')).toHaveLength(3);
    expect(await ids('integrationId=tested')).toEqual([]);
    expect(await ids('search=list-&limit=2')).toEqual(['list-3', 'list-2']);
    expect(await ids('search=list-&limit=2&page=1')).toEqual(['list-1']);
    const first = await api.call('GET', '/connections?search=list-&limit=2');
    const cursor = String(first.at('next_cursor'));
    await api.call('DELETE', '/connections/list-3?provider_config_key=open');
    // The page is the same, whatever came or went before it.
    expect(await ids(`search=list-&limit=2&cursor=${cursor}`)).toEqual(['list-1']);
    const rest = await api.call('GET', `/connections?search=list-&limit=2&cursor=${cursor}`);
    expect(rest.at('next_cursor')).toBeNull();
    for (const wrong of ['x', Buffer.from('[1]').toString('base64url')]) {
      const refused = await api.call('GET', `/connections?cursor=${wrong}`);
      expect(codeOf(refused)).toBe('400 invalid_cursor_value');
    }
    const one = await api.call('GET', '/connections?connectionId=list-1');
    expect(one.at('connections.0')).toMatchObject({
      provider: 'open-meteo',
      provider_config_key: 'open',
      metadata: null,
      errors: [],
      end_user: { id: 'u1', email: 'ann@acme.example', organization: null },
      tags: { team: 'blue', end_user_id: 'u1' },
    });
    expect(one.at('connections.0.created')).toMatch(/^\d{4}-/);
    for (const wrong of ['limit=0', 'limit=2001', 'page=-1', 'other=1', 'tags=x']) {
      expect(codeOf(await api.call('GET', `/connections?${wrong}`))).toBe(
        '400 invalid_query_params',
      );
    }
  });

  it('have metadata that is replaced or merged, for one or many, all or none', async () => {
    for (const connection_id of ['m1', 'm2']) {
      const body = { provider_config_key: 'open', connection_id, credentials: { type: 'NONE' } };
      await api.call('POST', '/connections', { body });
    }
    const write = (method: string, connection_id: unknown, metadata: unknown) =>
      api.call(method, '/connections/metadata', {
        body: { connection_id, provider_config_key: 'open', metadata },
      });
    const read = async (id: string) =>
      (await api.call('GET', `/connections/${id}?provider_config_key=open`)).at('metadata');

    const set = await write('POST', 'm1', { a: { x: 1, y: 2 }, b: 1 });
    expect(set.status).toBe(201);
    expect(set.body).toEqual({
      connection_id: 'm1',
      provider_config_key: 'open',
      metadata: { a: { x: 1, y: 2 }, b: 1 },
    });
    expect((await write('PATCH', ['m1', 'm2'], { a: { z: 3 } })).status).toBe(200);
    expect(await read('m1')).toEqual({ a: { z: 3 }, b: 1 });
    expect(await read('m2')).toEqual({ a: { z: 3 } });
    expect(codeOf(await write('PATCH', ['m1', 'nobody'], { c: 1 }))).toBe('404 unknown_connection');
    expect(await read('m1')).toEqual({ a: { z: 3 }, b: 1 });
    await write('POST', 'm1', {});
    expect(await read('m1')).toEqual({});
  });

  it('are patched and deleted; the id is free again', async () => {
    const body = {
      provider_config_key: 'open',
      connection_id: 'gone',
      credentials: { type: 'NONE' },
    };
    const first = await api.call('POST', '/connections', { body });
    const path = '/connections/gone?provider_config_key=open';
    const patch = {
      end_user: { id: 'u9' },
      tags: { A: 'B' },
      webhook_url_override: 'https://app.example/hook',
    };
    expect((await api.call('PATCH', path, { body: patch })).body).toEqual({ success: true });
    expect((await api.call('GET', path)).body).toMatchObject({
      end_user: { id: 'u9', email: null },
      tags: { end_user_id: 'u9', a: 'B' },
      webhook_url_override: 'https://app.example/hook',
    });
    await api.call('PATCH', path, { body: { webhook_url_override: '' } });
    expect((await api.call('GET', path)).at('webhook_url_override')).toBeNull();
    expect((await api.call('DELETE', path)).body).toEqual({ success: true });
    expect(codeOf(await api.call('GET', path))).toBe('404 not_found');
    const again = await api.call('POST', '/connections', { body });
    expect(again.status).toBe(201);
    expect(again.at('id')).not.toBe(first.at('id'));
  });

  it('are made once per Idempotency-Key', async () => {
    const body = { provider_config_key: 'open', credentials: { type: 'NONE' } };
    const headers = { 'idempotency-key': 'once' };
    const first = await api.call('POST', '/connections', { body, headers });
    const second = await api.call('POST', '/connections', { body, headers });
    expect(second.at('connection_id')).toBe(first.at('connection_id'));
    const other = { ...body, tags: { a: 'b' } };
    expect(codeOf(await api.call('POST', '/connections', { body: other, headers }))).toBe(
      '409 idempotency_conflict',
    );
  });
});
