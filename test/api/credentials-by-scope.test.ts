import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  openFakeTokenEndpoint,
  type FakeTokenEndpoint,
} from '#test/support/fakes/fake-token-endpoint.ts';
import { codeOf, startApi, type Api, type ApiAnswer } from '#test/support/worlds/api.ts';

const first = 'access-token-of-the-import';
const pathOf = (more = '') => `/connections/acme?provider_config_key=crm${more}`;

let stack: AsyncDisposableStack;
let api: Api;
let endpoint: FakeTokenEndpoint;
let refreshToken: string;
let environmentId: number;
const keys = new Map<string, string>();

/** A key of dev with these scopes, without `environment:`; the same one for the same scopes. */
async function keyWith(...scopes: string[]): Promise<string> {
  const known = keys.get(scopes.join());
  if (known !== undefined) return known;
  const body = {
    environment_id: environmentId,
    display_name: scopes.join(),
    scopes: scopes.map((scope) => `environment:${scope}`),
  };
  const made = await api.call('POST', '/environment/api-keys', { key: api.keys.account, body });
  const secret = made.at('data.secret') as string;
  keys.set(scopes.join(), secret);
  return secret;
}

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  endpoint = stack.use(await openFakeTokenEndpoint({ isRotating: false }));
  const folder = mkdtempSync(join(tmpdir(), 'svc-scopes-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const provider = {
    display_name: 'CRM',
    categories: [],
    docs: 'https://docs.example',
    auth_mode: 'OAUTH2',
    authorization_url: endpoint.url,
    token_url: endpoint.url,
  };
  writeFileSync(join(folder, 'crm.json'), JSON.stringify({ crm: provider }));
  api = stack.use(await startApi({ overlayPath: folder, egressAllow: [endpoint.hostPort] }));
  const { clientId: client_id, clientSecret: client_secret } = endpoint;
  const integration = {
    provider: 'crm',
    unique_key: 'crm',
    credentials: { type: 'OAUTH2', client_id, client_secret, webhook_secret: 'whsec' },
  };
  expect((await api.call('POST', '/integrations', { body: integration })).status).toBe(200);
  const environments = await api.call('GET', '/environments', { key: api.keys.account });
  environmentId = environments.at('data.0.id') as number;
});
afterAll(() => stack.disposeAsync());

const imported = (more: object = {}) => ({
  provider_config_key: 'crm',
  connection_id: 'acme',
  connection_config: { 'Refresh-Token': 'of the configuration', plan: 'pro' },
  credentials: {
    type: 'OAUTH2',
    access_token: first,
    refresh_token: refreshToken,
    expires_at: '2096-10-02T07:06:40.000Z',
  },
  ...more,
});

beforeEach(async () => {
  refreshToken = endpoint.newFamily();
  endpoint.grants.length = 0;
  expect((await api.call('POST', '/connections', { body: imported() })).status).toBe(201);
});

const options = ['force_refresh', 'refresh_token', 'refresh_github_app_jwt_token'];
const seeing = ['connections:read_credentials', 'connections:*', '*'];

describe('a connection read', () => {
  it.each(['connections:read', ...seeing])(
    'with %s shows its credentials to a credentials scope alone',
    async (scope) => {
      const answer = await api.call('GET', pathOf(), { key: await keyWith(scope) });
      expect(codeOf(answer)).toBe('200 ');
      const maySee = seeing.includes(scope);
      const credentials = { type: 'OAUTH2', access_token: first, raw: {} };
      if (maySee) expect(answer.at('credentials')).toMatchObject(credentials);
      else expect(answer.at('credentials')).toEqual({});
      expect(JSON.stringify(answer.body).includes(first)).toBe(maySee);
    },
  );

  it.each(options)(
    'with %s needs a credentials scope, and asks no provider without',
    async (option) => {
      const key = await keyWith('connections:read', 'connections:list_credentials');
      const refused = await api.call('GET', pathOf(`&${option}=true`), { key });
      expect(codeOf(refused)).toBe('403 forbidden');
      expect(endpoint.grants).toEqual([]);
      expect(codeOf(await api.call('GET', pathOf(`&${option}=false`), { key }))).toBe('200 ');
    },
  );

  it.each(seeing)(
    'shows refresh tokens with %s only when asked, at no depth otherwise',
    async (scope) => {
      const key = await keyWith(scope);
      const plain = await api.call('GET', pathOf(), { key });
      expect(JSON.stringify(plain.body)).not.toContain(refreshToken);
      expect(plain.at('connection_config')).toEqual({ plan: 'pro' });
      const asked = await api.call('GET', pathOf('&refresh_token=true'), { key });
      expect(asked.at('credentials.refresh_token')).toBe(refreshToken);
      expect(asked.at('connection_config')).toHaveProperty('Refresh-Token');
      expect(endpoint.grants).toEqual([]);
    },
  );

  it.each(seeing)('is refreshed by force with %s, whatever the expiry', async (scope) => {
    const key = await keyWith(scope);
    const answer = await api.call('GET', pathOf('&force_refresh=true'), { key });
    expect(codeOf(answer)).toBe('200 ');
    expect(answer.at('credentials.access_token')).not.toBe(first);
    expect(endpoint.grants).toMatchObject([{ refreshToken, outcome: 'granted' }]);
    expect(JSON.stringify(answer.body)).not.toContain(refreshToken);
  });

  it('is refreshed for a key that may not see the result, when it has expired', async () => {
    const credentials = { ...imported().credentials, expires_at: '2020-01-01T00:00:00.000Z' };
    await api.call('POST', '/connections', { body: imported({ credentials }) });
    const answer = await api.call('GET', pathOf(), { key: await keyWith('connections:read') });
    expect(codeOf(answer)).toBe('200 ');
    expect(answer.at('credentials')).toEqual({});
    expect(endpoint.grants).toHaveLength(1);
  });

  it('with masked credentials shows which there are, refreshes nothing, and is no audited read', async () => {
    const expired = { ...imported().credentials, expires_at: '2020-01-01T00:00:00.000Z' };
    await api.call('POST', '/connections', { body: imported({ credentials: expired }) });
    const reads = vi.spyOn(api.services.audit, 'read');
    for (const scope of ['connections:read', '*']) {
      const key = await keyWith(scope);
      const answer = await api.call('GET', pathOf('&credentials=masked'), { key });
      expect(codeOf(answer)).toBe('200 ');
      expect(answer.at('credentials')).toEqual({
        type: 'OAUTH2',
        expires_at: '2020-01-01T00:00:00.000Z',
        access_token: '***',
        refresh_token: '***',
      });
      expectNoSecret(answer);
    }
    expect(reads).not.toHaveBeenCalled();
    reads.mockRestore();
    expect(endpoint.grants).toEqual([]);
    const forced = await api.call('GET', pathOf('&credentials=masked&force_refresh=true'));
    expect(forced.at('credentials.access_token')).toBe('***');
    expectNoSecret(forced);
    expect(endpoint.grants).toHaveLength(1);
  });

  it('whose refresh fails shows no credentials in the refusal, also to Full access', async () => {
    endpoint.plan({ status: 400, body: '{"error":"invalid_grant"}' });
    const failed = await api.call('GET', pathOf('&force_refresh=true'));
    expect(codeOf(failed)).toBe('400 invalid_credentials');
    expect(failed.at('error.payload.connection.credentials')).toEqual({});
    expect(failed.at('error.payload.connection.errors.0.type')).toBe('auth');
    expectNoSecret(failed);
  });
});

describe('connections listed, made and changed', () => {
  it.each([
    ['connections:list', false],
    ['connections:list_credentials', true],
    ['connections:*', true],
    ['*', true],
  ] as const)('show credentials with %s: %s', async (scope, maySee) => {
    for (const path of ['/connections', '/connection']) {
      const answer = await api.call('GET', path, { key: await keyWith(scope) });
      expect(codeOf(answer)).toBe('200 ');
      const entry = answer.at('connections.0') as Record<string, unknown>;
      expect('credentials' in entry).toBe(maySee);
      const text = JSON.stringify(answer.body);
      expect([text.includes(first), text.includes(refreshToken)]).toEqual([maySee, false]);
    }
  });

  it.each([
    [['connections:create'], false],
    [['connections:create', 'connections:read_credentials'], true],
  ] as const)('show credentials to their maker with %s: %s', async (scopes, maySee) => {
    const key = await keyWith(...scopes);
    const made = await api.call('POST', '/connections', { key, body: imported() });
    expect(codeOf(made)).toBe('201 ');
    const text = JSON.stringify(made.body);
    expect([text.includes(first), text.includes(refreshToken)]).toEqual([maySee, false]);
  });

  it('show no credentials in any answer to a change', async () => {
    const key = await keyWith('connections:update', 'connections:delete');
    const body = { provider_config_key: 'crm', connection_id: 'acme', metadata: { a: 1 } };
    const answers = [
      await api.call('PATCH', pathOf(), { key, body: { tags: { a: 'b' } } }),
      await api.call('POST', '/connections/metadata', { key, body }),
      await api.call('PATCH', '/connections/metadata', { key, body }),
    ];
    for (const answer of answers) expectNoSecret(answer);
  });
});

describe('integrations', () => {
  it.each([
    ['integrations:read', false],
    ['integrations:read_credentials', true],
    ['integrations:list_credentials', null],
    ['integrations:*', true],
  ] as const)('read with include=credentials and %s show them: %s', async (scope, maySee) => {
    const path = '/integrations/crm?include=credentials&include=webhook';
    const answer = await api.call('GET', path, { key: await keyWith(scope) });
    expect(answer.status).toBe(maySee === null ? 403 : 200);
    expect(JSON.stringify(answer.body).includes(endpoint.clientSecret)).toBe(maySee === true);
  });

  it.each([
    ['integrations:list', false],
    ['integrations:list_credentials', true],
    ['integrations:*', true],
  ] as const)('listed with %s show credentials: %s', async (scope, maySee) => {
    const answer = await api.call('GET', '/integrations', { key: await keyWith(scope) });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body).includes(endpoint.clientSecret)).toBe(maySee);
  });

  it('show no credentials in the answer to a change', async () => {
    const key = await keyWith('integrations:update');
    const body = { display_name: 'Named again' };
    expectNoSecret(await api.call('PATCH', '/integrations/crm', { key, body }));
  });
});

function expectNoSecret(answer: ApiAnswer): void {
  const text = JSON.stringify(answer.body);
  const secrets = { first, refreshToken, clientSecret: endpoint.clientSecret, webhook: 'whsec' };
  const found = Object.entries(secrets).flatMap(([what, value]) =>
    text.includes(value) ? [what] : [],
  );
  expect(found).toEqual([]);
}

it('a list without credentials has none, whatever the key may see, and is no audited read', async () => {
  const reads = vi.spyOn(api.services.audit, 'read');
  for (const [path, list] of [
    ['/connections', 'connections'],
    ['/integrations', 'data'],
  ] as const) {
    reads.mockClear();
    const without = await api.call('GET', `${path}?credentials=none`);
    expect(codeOf(without)).toBe('200 ');
    expect(without.at(`${list}.0`)).toBeDefined();
    expect(without.at(`${list}.0.credentials`)).toBeUndefined();
    expect(reads).not.toHaveBeenCalled();
    expect((await api.call('GET', path)).at(`${list}.0.credentials`)).toBeDefined();
    expect(reads).toHaveBeenCalledTimes(1);
  }
  reads.mockRestore();
});
