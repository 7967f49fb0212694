import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import {
  startApiWithProviders,
  type ApiWithProviders,
} from '#test/support/worlds/api-with-providers.ts';
import { codeOf, type ApiAnswer } from '#test/support/worlds/api.ts';
import { connectionsFound } from '#test/support/worlds/control.ts';

let api: ApiWithProviders;
let token: string;
beforeAll(async () => {
  api = await startApiWithProviders();
  token = await tokenFor({ end_user: user });
});
afterAll(() => api[Symbol.asyncDispose]());

const user = { id: 'u1', email: 'u1@acme.test', display_name: 'Uma' };
async function tokenFor(body: object, path = '/connect/sessions'): Promise<string> {
  return (await api.call('POST', path, { body })).at('data.token') as string;
}
const submit = (path: string, body: object, more: Record<string, string> = {}) => {
  const query = new URLSearchParams({ connect_session_token: token, ...more });
  return api.call('POST', `${path}?${query.toString()}`, { key: 'none', body });
};
const read = (id: unknown, integration: string) =>
  api.call('GET', `/connections/${String(id)}?provider_config_key=${integration}`);
const issues = (answer: ApiAnswer) =>
  (answer.at('error.errors') as { path: string[] }[]).map(({ path }) => path.join('.'));

describe('a form', () => {
  it('makes a connection of the end user, with credentials that the provider knows', async () => {
    const made = await submit('/api-auth/api-key/tested', { apiKey: 'good' });
    expect(codeOf(made)).toBe('200 ');
    expect(Object.keys(made.body as object).sort()).toEqual(['connectionId', 'providerConfigKey']);
    expect(made.at('providerConfigKey')).toBe('tested');
    const shown = await read(made.at('connectionId'), 'tested');
    expect(shown.body).toMatchObject({
      credentials: { type: 'API_KEY', apiKey: 'good' },
      end_user: { id: 'u1', email: 'u1@acme.test', display_name: 'Uma' },
      tags: {
        end_user_id: 'u1',
        end_user_email: 'u1@acme.test',
        end_user_display_name: 'Uma',
      },
      errors: [],
    });
  });

  it('makes a connection each time, each with an end user of its own', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => (await submit('/auth/unauthenticated/open', {})).at('connectionId')),
    );
    expect(new Set(ids).size).toBe(2);
    const patch = { end_user: { id: 'u1', display_name: 'Renamed' } };
    const path = `/connections/${String(ids[0])}?provider_config_key=open`;
    await api.call('PATCH', path, { body: patch });
    expect((await read(ids[0], 'open')).at('end_user.display_name')).toBe('Renamed');
    expect((await read(ids[1], 'open')).at('end_user.display_name')).toBe('Uma');
  });

  it('shows that the provider refused, with the id of the log', async () => {
    const refused = await submit('/api-auth/api-key/tested', { apiKey: 'canary-wrong-key' });
    expect(codeOf(refused)).toBe('400 connection_test_failed');
    expect(refused.at('error.payload.log_id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(refused.at('error.message')).toContain('401');
    expect(refused.at('error.payload.provider')).toEqual({ status: 401, code: null });
    expect(JSON.stringify(refused.body)).not.toContain('canary-wrong-key');
  });

  it.each([
    ['/api-auth/api-key/tested', {}, ['apiKey']],
    ['/api-auth/api-key/tested', { apiKey: '' }, ['apiKey']],
    ['/api-auth/basic/basic', { username: 'u' }, ['password']],
    ['/api-auth/basic/basic', { username: 'u', password: 'p', more: 1 }, ['']],
    ['/auth/unauthenticated/open', { apiKey: 'x' }, ['']],
  ])('names the field: %s %j', async (path, body, paths) => {
    const refused = await submit(path, body);
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(issues(refused)).toEqual(paths);
  });

  it.each([
    ['/api-auth/api-key/nobody', '404 unknown_provider_config'],
    ['/oauth2/auth/nobody', '400 unknown_provider_config'],
    ['/api-auth/api-key/basic', '400 invalid_auth_mode'],
    ['/auth/unauthenticated/oauth', '400 invalid_auth_mode'],
    ['/auth/oauth-outbound/oauth', '400 invalid_auth_mode'],
  ])('%s answers %s', async (path, expected) => {
    expect(codeOf(await submit(path, {}))).toBe(expected);
  });

  it('takes no id of a connection from a browser', async () => {
    const refused = await submit('/auth/unauthenticated/open', {}, { connection_id: 'mine' });
    expect(codeOf(refused)).toBe('400 invalid_query_params');
  });

  it('is for the integrations that the session allows', async () => {
    const few = await tokenFor({ end_user: user, allowed_integrations: ['basic'] });
    const query = `?connect_session_token=${few}`;
    const refused = await api.call('POST', `/auth/unauthenticated/open${query}`, { body: {} });
    expect(codeOf(refused)).toBe('400 integration_not_allowed');
    const body = { username: '', password: '' };
    const made = await api.call('POST', `/api-auth/basic/basic${query}`, { body });
    expect(codeOf(made)).toBe('200 ');
  });

  it('gives the connection what the session fixes, over what the browser sends', async () => {
    const fixed = await tokenFor({
      end_user: user,
      organization: { id: 'o1' },
      tags: { end_user_id: 'other', Team: 'x' },
      webhook_url_override: 'https://hooks.acme.test/c',
      integrations_config_defaults: { open: { connection_config: { region: 'eu' } } },
    });
    const query = `?connect_session_token=${fixed}&params[region]=us&params[plan]=pro&params[webhook_url]=https://evil.test`;
    const made = await api.call('POST', `/auth/unauthenticated/open${query}`, { body: {} });
    const shown = await read(made.at('connectionId'), 'open');
    expect(shown.body).toMatchObject({
      connection_config: { region: 'eu', plan: 'pro' },
      webhook_url_override: 'https://hooks.acme.test/c',
      tags: { end_user_id: 'other', organization_id: 'o1', team: 'x' },
      end_user: { id: 'u1', organization: { id: 'o1' } },
    });
    expect(shown.at('connection_config.webhook_url')).toBeUndefined();
  });

  it('refuses configuration that only the service or the application sets', async () => {
    for (const name of ['installation_id', 'oauth_scopes_override', 'pending']) {
      const refused = await submit('/auth/unauthenticated/open', {}, { [`params[${name}]`]: 'x' });
      expect(codeOf(refused)).toBe('400 invalid_query_params');
      expect(issues(refused)).toEqual([`params.${name}`]);
    }
  });
});

describe('reconnecting', () => {
  it('gives the connection its new credentials and leaves the rest alone', async () => {
    const made = await submit('/api-auth/api-key/tested', { apiKey: 'good' });
    const id = made.at('connectionId') as string;
    const metadata = {
      connection_id: id,
      provider_config_key: 'tested',
      metadata: { plan: 'pro' },
    };
    await api.call('POST', '/connections/metadata', { body: metadata });
    const before = await read(id, 'tested');
    const again = await tokenFor(
      { connection_id: id, integration_id: 'tested' },
      '/connect/sessions/reconnect',
    );
    const path = `/api-auth/api-key/tested?connect_session_token=${again}`;
    expect(codeOf(await api.call('POST', path, { body: { apiKey: 'bad' } }))).toBe(
      '400 connection_test_failed',
    );
    const done = await api.call('POST', path, { body: { apiKey: 'good' } });
    expect(done.body).toEqual({ connectionId: id, providerConfigKey: 'tested' });
    const after = await read(id, 'tested');
    for (const field of ['id', 'metadata', 'tags', 'end_user', 'created_at']) {
      expect([field, after.at(field)]).toEqual([field, before.at(field)]);
    }
    const other = `/auth/unauthenticated/open?connect_session_token=${again}`;
    expect(codeOf(await api.call('POST', other, { body: {} }))).toBe('400 integration_not_allowed');
  });

  it('is refused once the connection is gone', async () => {
    const made = await submit('/auth/unauthenticated/open', {});
    const id = made.at('connectionId') as string;
    const again = await tokenFor(
      { connection_id: id, integration_id: 'open' },
      '/connect/sessions/reconnect',
    );
    const { control } = api.services;
    const known = connectionsFound(control, {
      environmentUid: control.view.findBy(environmentEntity, 'name', 'dev')!.state.uid,
      connectionId: id,
    })[0]!;
    const { uid } = known.state;
    await control.execute(known.ref, { type: 'MarkDeleting' }, { actor: 'system' });
    await control.execute(known.ref, { type: 'Delete', uid }, { actor: 'system' });
    const path = `/auth/unauthenticated/open?connect_session_token=${again}`;
    expect(codeOf(await api.call('POST', path, { body: {} }))).toBe('400 invalid_connection');
    const body = { provider_config_key: 'open', connection_id: id, credentials: { type: 'NONE' } };
    await api.call('POST', '/connections', { body });
    expect(codeOf(await api.call('POST', path, { body: {} }))).toBe('400 invalid_connection');
  });
});
