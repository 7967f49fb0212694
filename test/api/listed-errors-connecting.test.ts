import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { dayMs } from '#kernel/time.ts';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';
import { aProvider, connectionsFound } from '#test/support/worlds/control.ts';

const clock = movedClock();
const system = { actor: 'system' };
const entry = { categories: [], docs: 'https://docs.example' };
/** Nobody answers there; and there nobody may be asked. */
const nowhere = 'http://127.0.0.1:9/token';
const inside = 'http://127.0.0.1:10/token';
const unnamed = 'https://${connectionConfig.host}';
const field = { type: 'string', title: 'Field', description: 'A field.' };
const connection_config = { host: { ...field, optional: true } };
const ofClient = { token_url: nowhere };

/** Definitions that lack what a connection needs of them. */
const definitions = {
  oauth: { auth_mode: 'OAUTH2', authorization_url: 'https://idp.example/a', token_url: inside },
  addressless: { auth_mode: 'OAUTH2', authorization_url: `${unnamed}/a`, connection_config },
  clientless: { auth_mode: 'OAUTH2', authorization_url: 'https://idp.example/a' },
  'oauth-1': { auth_mode: 'OAUTH1', authorization_url: inside, request_url: inside },
  baseless: { auth_mode: 'NONE' },
  hostless: { auth_mode: 'NONE', proxy: { base_url: unnamed }, connection_config },
  whole: { auth_mode: 'NONE', proxy: { base_url: 'https://api.example' } },
  cc: { auth_mode: 'OAUTH2_CC', ...ofClient },
  'cc-signed': {
    auth_mode: 'OAUTH2_CC',
    token_request_auth_method: 'private_key_jwt',
    ...ofClient,
  },
  'cc-certified': { auth_mode: 'OAUTH2_CC', require_client_certificate: true, ...ofClient },
  'cc-addressless': { auth_mode: 'OAUTH2_CC', token_url: `${unnamed}/token`, connection_config },
  'cc-inside': { auth_mode: 'OAUTH2_CC', token_url: inside },
  steps: { auth_mode: 'TWO_STEP', credentials: { user: field }, token_url: nowhere },
};

let folder: string;
let api: Api;
let environmentUid: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-lacking-'));
  const named = Object.entries(definitions).map(([name, of]) => [
    name,
    { ...entry, display_name: name, ...of },
  ]);
  const overlayPath = join(folder, 'lacking.json');
  await writeFile(overlayPath, JSON.stringify(Object.fromEntries(named)));
  api = await startApi({ clock, overlayPath, egressAllow: [new URL(nowhere).host] });
  const { view } = api.services.control;
  environmentUid = view.findBy(environmentEntity, 'name', 'dev')!.state.uid;
  for (const [name, { auth_mode }] of Object.entries(definitions)) {
    if (name === 'clientless') continue;
    const credentials = { type: auth_mode, client_id: 'c', client_secret: 's' };
    const hasClient = /^OAUTH[12]$/.test(auth_mode);
    const body = { provider: name, unique_key: name, ...(hasClient ? { credentials } : {}) };
    expect(codeOf(await api.call('POST', '/integrations', { body }))).toBe('200 ');
  }
  // Made when the catalog said otherwise.
  for (const name of ['clientless', 'forgotten']) {
    const provider = aProvider({ name, auth_mode: 'API_KEY' });
    await createIntegration(api.services, { environmentUid, uniqueKey: name, provider }, system);
  }
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function token(body: object = { end_user: { id: 'u1' } }, path = ''): Promise<string> {
  const made = await api.call('POST', `/connect/sessions${path}`, { body });
  expect(codeOf(made)).toBe('201 ');
  return made.at('data.token') as string;
}
const redirected = async (key: string, session?: string) =>
  api.call('GET', `/oauth/connect/${key}?connect_session_token=${session ?? (await token())}`);
const submitted = async (path: string, body: object) =>
  api.call('POST', `${path}?connect_session_token=${await token()}`, { body });
const imported = async (provider_config_key: string, credentials: object) => {
  const body = { provider_config_key, connection_id: 'acme', credentials };
  expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
};
const proxied = (key: string, method = 'GET') =>
  api.call(method, '/proxy/v1/things', {
    headers: { 'provider-config-key': key, 'connection-id': 'acme' },
  });

describe('a provider that is no longer in the catalog', () => {
  it('keeps its integration as it is', async () => {
    const body = { display_name: 'Other' };
    const refused = await api.call('PATCH', '/integrations/forgotten', { body });
    expect(codeOf(refused)).toBe('400 unknown_provider');
  });

  it('is connected neither by a redirect nor by a form', async () => {
    const gone = '404 unknown_provider_template';
    expect(codeOf(await redirected('forgotten'))).toBe(gone);
    expect(codeOf(await submitted('/api-auth/api-key/forgotten', { apiKey: 'k' }))).toBe(gone);
  });
});

describe('a redirect', () => {
  it.each([
    ['addressless', '400 missing_api_url'],
    ['clientless', '400 invalid_credentials'],
    ['oauth-1', '400 url_not_allowed'],
  ])('to the provider "%s" is refused with %s', async (key, code) => {
    expect(codeOf(await redirected(key))).toBe(code);
  });

  it('for a connection that is gone is refused', async () => {
    await imported('oauth', { type: 'OAUTH2', access_token: 'a' });
    const again = await token({ connection_id: 'acme', integration_id: 'oauth' }, '/reconnect');
    const { control } = api.services;
    const [known] = connectionsFound(control, { environmentUid, connectionId: 'acme' });
    const { uid } = known!.state;
    await control.execute(known!.ref, { type: 'MarkDeleting' }, system);
    await control.execute(known!.ref, { type: 'Delete', uid }, system);
    expect(codeOf(await redirected('oauth', again))).toBe('400 invalid_connection');
  });
});

describe('a form', () => {
  const client = { client_id: 'c', client_secret: 's' };
  it.each([
    ['/oauth2/auth/cc', {}, 'missing_client_id'],
    ['/oauth2/auth/cc', { client_id: 'c' }, 'missing_client_secret'],
    ['/oauth2/auth/cc', client, 'client_credentials_fetch_error'],
    ['/oauth2/auth/cc-inside', client, 'url_not_allowed'],
    ['/oauth2/auth/cc-signed', client, 'missing_client_private_key'],
    ['/oauth2/auth/cc-signed', { ...client, client_private_key: '{}' }, 'invalid_credentials'],
    ['/oauth2/auth/cc-certified', client, 'invalid_certificate_or_key_format'],
    ['/oauth2/auth/cc-addressless', client, 'missing_api_url'],
    ['/auth/two-step/steps', { user: 'u' }, 'two_step_credentials_fetch_error'],
  ])('%s with %j is refused with %s', async (path, body, code) => {
    expect(codeOf(await submitted(path, body))).toBe(`400 ${code}`);
  });
});

describe('a proxied call', () => {
  it.each([
    ['baseless', '400 unsupported_provider'],
    ['hostless', '400 missing_api_url'],
  ])('to the provider "%s" is refused with %s', async (key, code) => {
    await imported(key, { type: 'NONE' });
    expect(codeOf(await proxied(key))).toBe(code);
  });

  it('that may be sent again has a body of at most 75 MB', async () => {
    await imported('whole', { type: 'NONE' });
    const headers = { 'provider-config-key': 'whole', 'connection-id': 'acme', retries: '1' };
    const body = 'x'.repeat(limits.requestBytesMax);
    const refused = await api.call('POST', '/proxy/v1/things', { headers, body });
    expect(codeOf(refused)).toBe('413 request_too_large');
  });

  it('with credentials that cannot be renewed: refused, then not tried, after days given up', async () => {
    const past = new Date(clock.now() - dayMs).toISOString();
    const held = { type: 'OAUTH2', access_token: 'a', refresh_token: 'r', expires_at: past };
    await imported('oauth', held);
    expect(codeOf(await proxied('oauth'))).toBe('400 invalid_credentials');
    expect(codeOf(await proxied('oauth'))).toBe('424 connection_refresh_backoff');
    for (let day = 2; day <= limits.refreshFailureDaysMax; day += 1) {
      clock.forward(dayMs);
      expect(codeOf(await proxied('oauth'))).toBe('400 invalid_credentials');
    }
    clock.forward(dayMs);
    expect(codeOf(await proxied('oauth'))).toBe('424 connection_refresh_exhausted');
  });
});
