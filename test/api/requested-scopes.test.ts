import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeOf, startApi, type Api, type ApiAnswer } from '#test/support/worlds/api.ts';

const entry = { categories: [], docs: 'https://docs.example' };
const oauth2 = {
  ...entry,
  auth_mode: 'OAUTH2',
  authorization_url: 'https://crm.example/authorize',
  token_url: 'https://crm.example/token',
};
const overlay = {
  described: {
    ...oauth2,
    display_name: 'Described',
    default_scopes: ['read', 'write', 'other'],
    scope_descriptions: {
      read: 'Reads contacts.',
      write: { en: 'Changes contacts.', de: 'Ändert Kontakte.' },
    },
  },
  fixed: {
    ...oauth2,
    display_name: 'Fixed',
    scope_separator: ',',
    default_scopes: ['ignored'],
    authorization_params: { scope: 'bot,commands' },
  },
  'per-host': {
    ...oauth2,
    display_name: 'Per host',
    default_scopes: ['https://${connectionConfig.host}/.default', 'offline_access'],
    connection_config: { host: { type: 'string', title: 'Host', description: 'Your host.' } },
  },
  server: { ...entry, display_name: 'Server', auth_mode: 'MCP_OAUTH2' },
  basic: { ...entry, display_name: 'Basic', auth_mode: 'BASIC' },
};

let api: Api;
const folder = mkdtempSync(join(tmpdir(), 'svc-scopes-'));
beforeAll(async () => {
  writeFileSync(join(folder, 'overlay.json'), JSON.stringify(overlay));
  api = await startApi({ overlayPath: folder });
  for (const [provider, { auth_mode: type }] of Object.entries(overlay)) {
    const credentials = type === 'OAUTH2' ? { type, client_id: 'c', client_secret: 's' } : null;
    const body = { provider, unique_key: provider, ...(credentials ? { credentials } : {}) };
    expect(codeOf(await api.call('POST', '/integrations', { body }))).toBe('200 ');
  }
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function scopesOf(
  integration: string,
  session: object = {},
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  const body = { end_user: { id: 'u1' }, ...session };
  const made = await api.call('POST', '/connect/sessions', { body });
  const key = made.at('data.token') as string;
  return api.call('GET', `/oauth/connect/${integration}/scopes`, { key, headers });
}
const namesOf = (answer: ApiAnswer) =>
  (answer.at('data') as { name: string }[]).map(({ name }) => name);
const defaultsOf = (key: string, defaults: object) => ({
  integrations_config_defaults: { [key]: defaults },
});

it('the scopes of the integration, with what the definition says about each', async () => {
  const answer = await scopesOf('described');
  expect(answer.at('data')).toEqual([
    { name: 'read', description: 'Reads contacts.', language: 'en' },
    { name: 'write', description: 'Changes contacts.', language: 'en' },
    { name: 'other', description: null, language: null },
  ]);
});

it('the meanings are in the language of the person where the definition has it', async () => {
  const answer = await scopesOf('described', {}, { 'accept-language': 'de' });
  expect(answer.at('data')).toMatchObject([
    { description: 'Reads contacts.', language: 'en' },
    { description: 'Ändert Kontakte.', language: 'de' },
    { description: null, language: null },
  ]);
});

it('the scopes that the application fixes for the session count, and those of the user token', async () => {
  const session = defaultsOf('described', {
    connection_config: { oauth_scopes_override: 'write,admin' },
    user_scopes: 'chat',
  });
  expect(namesOf(await scopesOf('described', session))).toEqual(['write', 'admin', 'chat']);
});

it('a scope among the parameters of the definition or the session is the one that is sent', async () => {
  expect(namesOf(await scopesOf('fixed'))).toEqual(['bot', 'commands']);
  const session = defaultsOf('fixed', { authorization_params: { scope: 'bot' } });
  expect(namesOf(await scopesOf('fixed', session))).toEqual(['bot']);
});

it('what the person enters later is left open in a scope', async () => {
  expect(namesOf(await scopesOf('per-host'))).toEqual(['https://…/.default', 'offline_access']);
  const session = defaultsOf('per-host', { connection_config: { host: 'acme.example' } });
  expect(namesOf(await scopesOf('per-host', session))).toEqual([
    'https://acme.example/.default',
    'offline_access',
  ]);
});

it('a connection that is renewed asks for its own scopes', async () => {
  const connection = await api.call('POST', '/connections', {
    body: {
      provider_config_key: 'described',
      connection_id: 'own',
      connection_config: { oauth_scopes_override: ['write'] },
      credentials: { type: 'OAUTH2', access_token: 't' },
    },
  });
  expect(codeOf(connection)).toBe('201 ');
  const body = { connection_id: 'own', integration_id: 'described' };
  const made = await api.call('POST', '/connect/sessions/reconnect', { body });
  const key = made.at('data.token') as string;
  expect(namesOf(await api.call('GET', '/oauth/connect/described/scopes', { key }))).toEqual([
    'write',
  ]);
});

it('scopes that only an MCP server knows are not listed', async () => {
  expect((await scopesOf('server')).at('data')).toEqual([]);
});

it('an integration without a redirect, or that the session does not allow, is refused', async () => {
  expect(codeOf(await scopesOf('basic'))).toBe('400 invalid_auth_mode');
  const refused = await scopesOf('described', { allowed_integrations: ['basic'] });
  expect(codeOf(refused)).toBe('400 integration_not_allowed');
  expect(codeOf(await scopesOf('absent'))).toBe('404 unknown_provider_config');
});
