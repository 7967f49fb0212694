/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { openFakeAuth, type FakeAuth } from '#fake-providers/server.ts';
import { authModeRules } from '#modules/connections/credentials/modes/registry.ts';
import type { AuthMode, Provider } from '#modules/connections/providers/definition.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import { startGateway, type Answer, type RunningGateway } from '#test/support/processes/gateway.ts';
import { aProvider } from '#test/support/worlds/control.ts';

/** One entry of the catalog for each mode. */
const entries: Readonly<Record<AuthMode, string>> = {
  OAUTH1: 'twitter',
  OAUTH2: 'salesforce',
  MCP_OAUTH2: 'linear-mcp',
  AWS_SIGV4: 'aws-sigv4',
  OAUTH2_CC: 'box-cc',
  BASIC: 'freshdesk',
  API_KEY: 'stripe-api-key',
  APP_STORE: 'apple-app-store',
  CUSTOM: 'github-app-oauth',
  APP: 'github-app',
  NONE: 'open-meteo',
  TBA: 'netsuite-tba',
  JWT: 'snowflake-jwt',
  BILL: 'bill',
  TWO_STEP: 'tableau',
  SIGNATURE: 'emarsys',
};
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

/** Signs each body, and puts a field of its own into it. */
const signing: Provider = aProvider({
  name: 'signing',
  auth_mode: 'API_KEY',
  credentials: { apiKey: { type: 'string', title: 'Key', description: 'A key.', secret: true } },
  proxy: {
    base_url: 'https://signing.example',
    headers: { 'x-key': '${apiKey}', 'x-sum': '${sha256Hex(${bodyCanonicalParams})}' },
    body: { workspace: 'acme' },
  },
});

let stack: AsyncDisposableStack;
let fake: FakeAuth;
let gateway: RunningGateway;
const played = new Map<string, PlayedProvider>();

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await openFakeAuth());
  const catalogue = loadCatalogue({ overlayPath: null });
  const scripted = ['jira', 'xero'];
  for (const name of [...Object.values(entries), ...scripted]) {
    played.set(name, fake.play(catalogue.find(name)!));
  }
  played.set('signing', fake.play(signing));
  const folder = mkdtempSync(join(tmpdir(), 'svc-modes-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'played.json'), JSON.stringify(fake.definitions()));
  const env = { SVC_PROVIDERS: folder, SVC_EGRESS_ALLOW: fake.hostPort };
  gateway = stack.use(await startGateway({ env }));
});
afterAll(() => stack.disposeAsync());

/** Makes the integration and imports a connection of it. */
async function connect(provider: string, id: string, more: object = {}): Promise<Answer> {
  const { integration, connectionConfig, toldConfig, importable } = played.get(provider)!;
  const credentials = integration === null ? {} : { credentials: integration };
  const made = { provider, unique_key: provider, ...credentials };
  const known = await gateway.call('GET', `/integrations/${provider}`);
  if (known.status === 404) {
    const answer = await gateway.call('POST', '/integrations', { body: made });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  }
  const body = {
    provider_config_key: provider,
    connection_id: id,
    connection_config: { ...connectionConfig, ...toldConfig },
    credentials: importable(),
    ...more,
  };
  return gateway.call('POST', '/connections', { body });
}

const fetched = (provider: string, id: string, query = '') =>
  gateway.call('GET', `/connections/${id}?provider_config_key=${provider}${query}`);

async function proxied(provider: string, id: string, init: RequestInit = {}) {
  const answer = await fetch(`${gateway.url}/proxy/v1/things?b=2&a=%20`, {
    ...init,
    headers: {
      authorization: `Bearer ${gateway.key}`,
      'provider-config-key': provider,
      'connection-id': id,
      ...(init.headers as Record<string, string>),
    },
  });
  await answer.arrayBuffer();
  return answer.status;
}

describe('a connection of every mode', () => {
  it.concurrent.each(authModes.map((mode) => [mode, entries[mode]] as const))(
    '%s (%s) is imported, fetched, renewed, put into calls, renewed on 401, and deleted',
    async (mode, provider) => {
      const { outcomes, endTokens, asked } = played.get(provider)!;
      const isRenewable = authModeRules[mode].renewal !== null;
      const imported = await connect(provider, 'c-1');
      expect(imported.status, JSON.stringify(imported.body)).toBe(201);
      const first = await fetched(provider, 'c-1');
      expect(first.body).toMatchObject({ connection_id: 'c-1', provider, errors: [] });
      expect(first.body.credentials.type).toBe(mode === 'NONE' ? undefined : mode);
      expect(await proxied(provider, 'c-1')).toBe(200);

      const renewed = await fetched(provider, 'c-1', '&force_refresh=true');
      expect(renewed.status, JSON.stringify(renewed.body)).toBe(200);
      if (!isRenewable) expect(renewed.body.credentials).toEqual(first.body.credentials);
      const posted = { method: 'POST', body: 'q=Hello+%26+%25&empty=', headers: form };
      expect(await proxied(provider, 'c-1', posted)).toBe(200);
      expect(
        await proxied(provider, 'c-1', { method: 'PUT', body: '{"a":1}', headers: json }),
      ).toBe(200);

      endTokens();
      const status = await proxied(provider, 'c-1', { headers: { retries: '1' } });
      // AWS answers 403, which says nothing about the keys.
      const ended = mode === 'AWS_SIGV4' ? 403 : isRenewable || mode === 'NONE' ? 200 : 401;
      expect(status).toBe(ended);
      expect(outcomes('token').filter((outcome) => outcome !== 'granted')).toEqual([]);
      const expected = ['granted', 'challenged'];
      const refusals = asked.filter(({ outcome }) => !expected.includes(outcome));
      expect(refusals.map(({ role }) => role)).toEqual(mode === 'NONE' ? [] : expectedRefusals);

      const deleted = await gateway.call(
        'DELETE',
        `/connections/c-1?provider_config_key=${provider}`,
      );
      expect(deleted.body).toEqual({ success: true });
      expect((await fetched(provider, 'c-1')).status).toBe(404);
      expect(await proxied(provider, 'c-1')).toBe(400);
    },
  );
});

/** The call with the ended token; where nothing renews it, it is not repeated. */
const expectedRefusals: readonly string[] = ['api'];

describe('expired credentials', () => {
  it.each([
    ['OAUTH2', 'salesforce'],
    ['OAUTH2_CC', 'box-cc'],
  ])('of %s are renewed when they are fetched', async (_, provider) => {
    const { importable, outcomes } = played.get(provider)!;
    const before = outcomes('token').length;
    const credentials = { ...importable(), expires_at: '2026-01-01T00:00:00Z' };
    expect((await connect(provider, 'c-old', { credentials })).status).toBe(201);
    expect(await proxied(provider, 'c-old')).toBe(200);
    expect((await fetched(provider, 'c-old')).body.errors).toEqual([]);
    expect(outcomes('token').slice(before)).toEqual(['granted']);
  });
});

describe('the JWT of an app', () => {
  it.each([
    ['APP', 'github-app'],
    ['CUSTOM', 'github-app-oauth'],
  ])('of %s is renewed alone when a fetch asks for it', async (_, provider) => {
    const tokensOf = ({ body }: Answer) =>
      (body.credentials.app ?? body.credentials) as { access_token: string; jwtToken: string };
    expect((await connect(provider, 'c-jwt')).status).toBe(201);
    const before = tokensOf(await fetched(provider, 'c-jwt'));
    const { outcomes } = played.get(provider)!;
    const asked = outcomes('installation').length;
    // Of the same second it is the same.
    const after = await vi.waitUntil(
      async () => {
        const answer = await fetched(provider, 'c-jwt', '&refresh_github_app_jwt_token=true');
        const tokens = tokensOf(answer);
        return tokens.jwtToken === before.jwtToken ? null : tokens;
      },
      { timeout: 20_000 },
    );
    expect(after.jwtToken.split('.')).toHaveLength(3);
    expect(after.access_token).toBe(before.access_token);
    expect(outcomes('installation')).toHaveLength(asked);
  });

  it('is nothing that other modes have: their tokens stay', async () => {
    expect((await connect('salesforce', 'c-no-jwt')).status).toBe(201);
    const credentials: unknown = (await fetched('salesforce', 'c-no-jwt')).body.credentials;
    const again = await fetched('salesforce', 'c-no-jwt', '&refresh_github_app_jwt_token=true');
    expect(again.body.credentials).toEqual(credentials);
  });
});

describe('client credentials by a form', () => {
  it('are asked for with what the session fixed, also when they are renewed', async () => {
    const { form: typed, asked, connectionConfig } = played.get('box-cc')!;
    await connect('box-cc', 'c-1');
    const fixed = { 'box-cc': { authorization_params: { audience: 'acme' } } };
    const wanted = { end_user: { id: 'u1' }, integrations_config_defaults: fixed };
    const session = await gateway.call('POST', '/connect/sessions', { body: wanted });
    const token = String(session.body.data.token);
    const query = new URLSearchParams({ connect_session_token: token });
    for (const [name, value] of Object.entries(connectionConfig))
      query.set(`params[${name}]`, value);
    const body = typed ?? {};
    const made = await gateway.call('POST', `/oauth2/auth/box-cc?${query.toString()}`, {
      key: null,
      body,
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    await fetched('box-cc', String(made.body.connectionId), '&force_refresh=true');
    const tokenCalls = asked.filter(({ role }) => role === 'token').slice(-2);
    expect(tokenCalls.map((call) => new URLSearchParams(call.body).get('audience'))).toEqual([
      'acme',
      'acme',
    ]);
  });
});

describe('an import that lacks the account which its calls are signed for', () => {
  it('is refused, and names the field', async () => {
    const answer = await connect('netsuite-tba', 'c-wrong', { connection_config: {} });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_body']);
    expect(answer.body.error.errors[0].path).toEqual(['connection_config', 'accountId']);
  });
});

describe('an import that the provider refuses', () => {
  it.each([
    ['BASIC', 'freshdesk', { type: 'BASIC', username: 'a', password: 'wrong' }],
    ['API_KEY', 'stripe-api-key', { type: 'API_KEY', apiKey: 'wrong' }],
    ['TBA', 'netsuite-tba', { type: 'TBA', token_id: 'a', token_secret: 'wrong' }],
  ])('of %s is 400, and stores nothing', async (_, provider, credentials) => {
    const answer = await connect(provider, 'c-wrong', { credentials });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'connection_test_failed']);
    expect((await fetched(provider, 'c-wrong')).status).toBe(404);
  });
});

describe('the account of a connection', () => {
  it('is asked of the provider, and the calls go there', async () => {
    const { on, toldConfig: told } = played.get('jira')!;
    on('/oauth/token/accessible-resources', [
      { id: 'another', url: 'https://another.atlassian.net' },
      { id: told['cloudId']!, url: told['siteUrl']! },
    ]);
    const of = { connection_config: { siteUrl: told['siteUrl'] } };
    const imported = await connect('jira', 'c-site', of);
    expect(imported.body.connection_config).toEqual({ ...told, baseUrl: told['siteUrl'] });
    expect(await proxied('jira', 'c-site')).toBe(200);
  });

  it('that the provider does not return prevents the creation of the connection', async () => {
    played.get('xero')!.on('/connections', []);
    const answer = await connect('xero', 'c-none', { connection_config: {} });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'connection_test_failed']);
    expect(answer.body.error.message).toContain('returned no matching account');
  });
});

describe('a provider that signs bodies and adds to them', () => {
  it.each([
    ['JSON', { body: '{"a":1}', headers: json }, '{"workspace":"acme","a":1}'],
    ['a form', { body: 'a=1+2', headers: form }, 'workspace=acme&a=1+2'],
  ])('gets %s with its field, signed as it is sent', async (_, init, expected) => {
    const { asked } = played.get('signing')!;
    expect((await connect('signing', 'c-1')).status).toBe(201);
    expect(await proxied('signing', 'c-1', { method: 'POST', ...init })).toBe(200);
    expect(asked.at(-1)?.body).toBe(expected);
  });
});

describe('an integration by another name of its provider', () => {
  it('is of the provider', async () => {
    const body = { provider: 'active-campaign', unique_key: 'by-alias' };
    const made = await gateway.call('POST', '/integrations', { body });
    expect(made.body.data.provider).toBe('activecampaign');
    const shown = await gateway.call('GET', '/providers/active-campaign');
    expect(shown.body.data.name).toBe('activecampaign');
  });
});

describe('a connection whose configuration has another name', () => {
  it('has its value under the name of the field too', async () => {
    const integration = { provider: 'shopify-partner', unique_key: 'partner' };
    await gateway.call('POST', '/integrations', { body: integration });
    const body = {
      provider_config_key: 'partner',
      connection_id: 'c-1',
      credentials: { type: 'API_KEY', apiKey: 'k' },
      connection_config: { partnerId: '4711' },
    };
    const imported = await gateway.call('POST', '/connections', { body });
    expect(imported.body.connection_config).toEqual({ partnerId: '4711', organizationId: '4711' });
  });
});
