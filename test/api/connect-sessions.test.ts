import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectSessionEntity } from '#modules/connections/connect-sessions/entity.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import {
  startApiWithProviders,
  type ApiWithProviders,
} from '#test/support/worlds/api-with-providers.ts';
import { codeOf, type ApiAnswer } from '#test/support/worlds/api.ts';
import { everythingOn } from '#test/support/worlds/control.ts';

const clock = movedClock();
let api: ApiWithProviders;
beforeAll(async () => {
  api = await startApiWithProviders({ clock });
});
afterAll(() => api[Symbol.asyncDispose]());

const user = { id: 'u1', email: 'u1@acme.test', display_name: 'Uma', tags: { Plan: 'pro' } };
const create = (body: object, more: object = {}): Promise<ApiAnswer> =>
  api.call('POST', '/connect/sessions', { body, ...more });
const tokenOf = async (body: object): Promise<string> =>
  (await create(body)).at('data.token') as string;
const session = (key: string): Promise<ApiAnswer> => api.call('GET', '/connect/session', { key });
const issues = (answer: ApiAnswer) =>
  (answer.at('error.errors') as { path: string[] }[]).map(({ path }) => path.join('.'));

describe('a connect session', () => {
  it('is made with a token, a link to the page and an end in 30 minutes', async () => {
    const before = clock.now();
    const made = await create({ end_user: user });
    expect(codeOf(made)).toBe('201 ');
    const token = made.at('data.token') as string;
    expect(token).toMatch(/^svc_connect_session_[0-9a-f]{64}$/);
    expect(made.at('data.connect_link')).toBe(
      `http://gateway.test/connect/ui/?session_token=${token}`,
    );
    const end = Date.parse(made.at('data.expires_at') as string);
    expect(end - before).toBeGreaterThanOrEqual(30 * 60_000);
    expect(end - clock.now()).toBeLessThanOrEqual(30 * 60_000);
    expect(made.headers.get('cache-control')).toBe('no-store');
  });

  it('shows its page what it may do, and never its token', async () => {
    const token = await tokenOf({
      end_user: user,
      organization: { id: 'o1', display_name: 'Acme' },
      allowed_integrations: ['tested', 'basic'],
      integrations_config_defaults: {
        tested: {
          user_scopes: 'a,b',
          authorization_params: { prompt: 'consent' },
          connection_config: { region: 'eu' },
        },
      },
      overrides: { basic: { docs_connect: 'https://help.acme.test' } },
    });
    const read = await session(token);
    expect(codeOf(read)).toBe('200 ');
    expect(read.at('data')).toMatchObject({
      endUser: {
        id: 'u1',
        email: 'u1@acme.test',
        display_name: 'Uma',
        tags: { plan: 'pro' },
        organization: { id: 'o1', display_name: 'Acme' },
      },
      allowed_integrations: ['tested', 'basic'],
      integrations_config_defaults: {
        tested: {
          authorization_params: { prompt: 'consent' },
          connection_config: { region: 'eu' },
        },
      },
      overrides: { basic: { docs_connect: 'https://help.acme.test' } },
      websocketsPath: '/',
    });
    expect(read.at('data.isReconnecting')).toBeUndefined();
    expect(JSON.stringify(read.body)).not.toContain(token);
  });

  it('shows the integrations that it allows, and all where it names none', async () => {
    const keysFor = async (key: string) => {
      const { body } = await api.call('GET', '/integrations', { key });
      return (body as { data: { unique_key: string }[] }).data.map(({ unique_key: of }) => of);
    };
    const few = await tokenOf({ end_user: user, allowed_integrations: ['tested'] });
    expect(await keysFor(few)).toEqual(['tested']);
    expect(await keysFor(await tokenOf({ tags: { team: 'x' } }))).toEqual([
      'basic',
      'oauth',
      'open',
      'tested',
    ]);
    const listed = await api.call('GET', '/integrations', { key: few });
    expect(listed.at('data.0.credentials')).toBeUndefined();
    const provider = await api.call('GET', '/providers/tested', { key: few });
    expect(provider.at('data.credentials.apiKey.title')).toBe('Key');
    expect((await api.call('GET', '/providers', { key: few })).status).toBe(200);
  });

  it('opens nothing else, and API keys do not open what is its own', async () => {
    const key = await tokenOf({ end_user: user });
    for (const [method, path] of [
      ['GET', '/connections'],
      ['GET', '/integrations/tested'],
      ['POST', '/connect/sessions'],
      ['POST', '/connect/sessions/reconnect'],
      ['GET', '/environments'],
    ] as const) {
      const body = method === 'POST' ? {} : undefined;
      expect([path, codeOf(await api.call(method, path, { key, body }))]).toEqual([
        path,
        '403 forbidden',
      ]);
    }
    expect(codeOf(await session(api.keys.dev))).toBe('403 forbidden');
    expect(codeOf(await session(api.keys.account))).toBe('403 forbidden');
    const other = await api.keyWith('environment:integrations:list');
    expect(codeOf(await create({ end_user: user }, { key: other }))).toBe('403 forbidden');
    const right = await api.keyWith('environment:connect_sessions:write');
    expect(codeOf(await create({ end_user: user }, { key: right }))).toBe('201 ');
  });

  it('belongs to the environment of the key that made it', async () => {
    const made = await create({ end_user: user }, { key: api.keys.prod });
    const listed = await api.call('GET', '/integrations', { key: made.at('data.token') as string });
    expect(listed.body).toEqual({ data: [] });
  });

  it.each([
    [{}, ['end_user']],
    [{ end_user: { email: 'u1@acme.test' } }, ['end_user.id']],
    [{ end_user: user, more: 1 }, ['']],
    [{ end_user: user, allowed_integrations: ['open', 'gone'] }, ['allowed_integrations.1']],
    [
      { end_user: user, integrations_config_defaults: { gone: {} } },
      ['integrations_config_defaults.gone'],
    ],
    [{ end_user: user, overrides: { gone: {} } }, ['overrides.gone']],
    [
      { end_user: user, overrides: { open: { docs_connect: 'javascript:alert(1)' } } },
      ['overrides.open.docs_connect'],
    ],
    [{ end_user: user, webhook_url_override: 'ftp://x' }, ['webhook_url_override']],
    [
      {
        end_user: user,
        integrations_config_defaults: { open: { connection_config: { webhook_url: 'nope' } } },
      },
      ['integrations_config_defaults.open.connection_config.webhook_url'],
    ],
    [{ end_user: user, tags: { '1': 'x' } }, ['tags.1']],
    [
      {
        end_user: user,
        tags: Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`t${n}`, 'x'])),
      },
      ['tags'],
    ],
  ])('is refused as %j', async (body, paths) => {
    const refused = await create(body);
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(issues(refused)).toEqual(paths);
  });

  it('asks for a token of the right form that somebody was given', async () => {
    const unknown = `svc_connect_session_${'0'.repeat(64)}`;
    expect(codeOf(await session(unknown))).toBe('401 unknown_connect_session_token');
    expect(codeOf(await session('svc_connect_session_short'))).toBe(
      '401 invalid_connect_session_token_format',
    );
    expect(codeOf(await api.call('GET', '/integrations', { key: unknown }))).toBe(
      '401 unknown_connect_session_token',
    );
    const path = '/auth/unauthenticated/open';
    const post = (query: string) => api.call('POST', path + query, { body: {} }).then(codeOf);
    expect(await post('')).toBe('401 missing_public_key');
    expect(await post('?public_key=5d8a2b9e-9d0f-4d5c-8f0a-1f5b8a3a7c11')).toBe(
      '401 deprecated_authentication',
    );
    expect(await post(`?connect_session_token=${unknown}`)).toBe(
      '401 unknown_connect_session_token',
    );
    expect(await post('?connect_session_token=x')).toBe('401 invalid_connect_session_token_format');
  });

  it('gives a repeated request the same token', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await create({ end_user: user }, { headers });
    const again = await create({ end_user: user }, { headers });
    expect(again.body).toEqual(first.body);
    expect(codeOf(await session(again.at('data.token') as string))).toBe('200 ');
    const other = await create({ end_user: { id: 'u2' } }, { headers });
    expect(codeOf(other)).toBe('409 idempotency_conflict');
  });

  it('ends when it is deleted', async () => {
    const key = await tokenOf({ end_user: user });
    const ended = await api.call('DELETE', '/connect/session', { key });
    expect([ended.status, ended.body]).toEqual([204, undefined]);
    expect(codeOf(await session(key))).toBe('401 unknown_connect_session_token');
    expect(codeOf(await api.call('DELETE', '/connect/session', { key }))).toBe(
      '401 unknown_connect_session_token',
    );
  });

  it('stands on no topic with its token or with what the application fixed', async () => {
    const key = await tokenOf({
      end_user: user,
      integrations_config_defaults: { open: { connection_config: { key: 'canary-default' } } },
    });
    const text = await everythingOn(api.services.log);
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice('svc_connect_session_'.length));
    expect(text).not.toContain('canary-default');
  });

  it('is over after 30 minutes, and is removed then', async () => {
    const key = await tokenOf({ end_user: user });
    const { view } = api.services.control;
    const left = () => view.list(connectSessionEntity, []).length;
    expect(left()).toBeGreaterThan(0);
    clock.forward(30 * 60_000 - 60_000);
    expect(codeOf(await session(key))).toBe('200 ');
    clock.forward(60_000);
    expect(codeOf(await session(key))).toBe('401 unknown_connect_session_token');
    await vi.waitFor(() => expect(left()).toBe(0), { timeout: 30_000 });
  });
});

describe('a session to reconnect', () => {
  const reconnect = (body: object, more: object = {}) =>
    api.call('POST', '/connect/sessions/reconnect', { body, ...more });

  it('is for one connection and its integration', async () => {
    const body = {
      provider_config_key: 'open',
      connection_id: 'rc',
      credentials: { type: 'NONE' },
    };
    await api.call('POST', '/connections', { body });
    const made = await reconnect({ connection_id: 'rc', integration_id: 'open' });
    expect(codeOf(made)).toBe('201 ');
    const read = await session(made.at('data.token') as string);
    expect(read.at('data')).toMatchObject({
      endUser: null,
      isReconnecting: true,
      allowed_integrations: ['open'],
    });
  });

  it('needs a connection that is there, and the scope', async () => {
    for (const body of [
      { connection_id: 'gone', integration_id: 'open' },
      { connection_id: 'rc', integration_id: 'tested' },
    ]) {
      const refused = await reconnect(body);
      expect(codeOf(refused)).toBe('400 invalid_body');
      expect(issues(refused)).toEqual(['connection_id']);
    }
    expect(codeOf(await reconnect({ integration_id: 'open' }))).toBe('400 invalid_body');
    const list = { connection_id: 'rc', integration_id: 'open', allowed_integrations: [] };
    expect(codeOf(await reconnect(list))).toBe('400 invalid_body');
    const key = await api.keyWith('environment:connections:read');
    expect(codeOf(await reconnect({ connection_id: 'rc', integration_id: 'open' }, { key }))).toBe(
      '403 forbidden',
    );
    const foreign = { connection_id: 'rc', integration_id: 'open' };
    expect(codeOf(await reconnect(foreign, { key: api.keys.prod }))).toBe('400 invalid_body');
  });
});
