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

describe('integrations', () => {
  it('show webhook and credentials only when asked for and allowed', async () => {
    const plain = await api.call('GET', '/integrations/oauth');
    expect(plain.at('data')).toMatchObject({
      unique_key: 'oauth',
      display_name: 'Hooked',
      provider: 'hooked',
      logo: 'http://gateway.test/images/template-logos/hooked.svg',
      forward_webhooks: true,
    });
    expect(Object.keys(plain.at('data') as object)).not.toContain('credentials');
    const both = await api.call('GET', '/integrations/oauth?include=webhook&include=credentials');
    expect(both.at('data.credentials')).toEqual({
      type: 'OAUTH2',
      client_id: 'cid',
      client_secret: 'shh',
      scopes: 'read,write',
      webhook_secret: null,
    });
    expect(both.at('data.webhook_url')).toMatch(
      /^http:\/\/gateway\.test\/webhook\/[0-9a-f-]{36}\/oauth$/,
    );
    expect(both.headers.get('cache-control')).toBe('no-store');

    const key = await api.keyWith('environment:integrations:read');
    const scopes = await api.call('GET', '/integrations/oauth?include=scopes', { key });
    expect(scopes.at('data.scopes')).toEqual(['read', 'write']);
    const none = await api.call('GET', '/integrations/open?include=scopes', { key });
    expect(none.at('data.scopes')).toBeNull();
    const without = await api.call('GET', '/integrations/oauth?include=credentials', { key });
    expect(without.status).toBe(200);
    expect(JSON.stringify(without.body)).not.toContain('shh');
    const open = await api.call('GET', '/integrations/open?include=webhook&include=credentials');
    expect(open.at('data')).toMatchObject({ webhook_url: null, credentials: null });
  });

  it('are listed with their mode and the number of their connections on request', async () => {
    const usages = async () => {
      const list = await api.call('GET', '/integrations?include=usage&credentials=none');
      const data = list.at('data') as { unique_key: string; [field: string]: unknown }[];
      return new Map(data.map(({ unique_key: key, ...rest }) => [key, rest]));
    };
    const before = (await usages()).get('open')?.['connections'];
    const body = { provider_config_key: 'open', credentials: { type: 'NONE' } };
    expect((await api.call('POST', '/connections', { body })).status).toBe(201);
    const after = await usages();
    expect(after.get('open')).toMatchObject({ auth_mode: 'NONE', connections: Number(before) + 1 });
    expect(after.get('oauth')).toMatchObject({ auth_mode: 'OAUTH2' });
    const plain = await api.call('GET', '/integrations');
    expect(JSON.stringify(plain.body)).not.toContain('"connections"');
  });

  it('are listed with credentials only under that scope', async () => {
    const key = await api.keyWith('environment:integrations:list');
    const list = await api.call('GET', '/integrations', { key });
    const keys = (list.at('data') as { unique_key: string }[]).map(({ unique_key }) => unique_key);
    expect(keys).toEqual(expect.arrayContaining(['basic', 'oauth', 'open', 'tested']));
    expect(JSON.stringify(list.body)).not.toContain('shh');
    expect(JSON.stringify((await api.call('GET', '/integrations')).body)).toContain('shh');
  });

  it.each([
    [{ provider: 'nobody', unique_key: 'x' }, 'provider'],
    [{ provider: 'open-meteo', unique_key: 'open' }, 'unique_key'],
    [{ provider: 'hooked', unique_key: 'x' }, 'credentials'],
    [{ provider: 'hooked', unique_key: 'x', credentials: { type: 'APP' } }, 'credentials.type'],
    [{ provider: 'generic', unique_key: 'x' }, 'integration_config.baseUrl'],
    [
      { provider: 'generic', unique_key: 'x', integration_config: { baseUrl: 'no url' } },
      'integration_config.baseUrl',
    ],
    [
      { provider: 'open-meteo', unique_key: 'x', integration_config: { a: 'b' } },
      'integration_config.a',
    ],
    [{ provider: 'generic', unique_key: 'x', custom: { a: 'b' } }, 'custom'],
    [{ provider: 'open-meteo', unique_key: 'a/b' }, 'unique_key'],
    [{ provider: 'open-meteo', unique_key: 'x', more: 1 }, ''],
  ])('refuse %j at %s', async (body, path) => {
    const answer = await api.call('POST', '/integrations', { body });
    expect(codeOf(answer)).toBe('400 invalid_body');
    expect((answer.at('error.errors.0.path') as string[]).join('.')).toBe(path);
  });

  it('are patched, renamed while empty, and deleted', async () => {
    const config = { baseUrl: 'https://a.example', note: 'n' };
    const body = { provider: 'generic', unique_key: 'gen', integration_config: config };
    await api.call('POST', '/integrations', { body });
    const patch = {
      unique_key: 'gen-2',
      display_name: 'Mine',
      forward_webhooks: false,
      integration_config: { note: '' },
    };
    const patched = await api.call('PATCH', '/integrations/gen', { body: patch });
    expect(patched.at('data')).toMatchObject({
      unique_key: 'gen-2',
      display_name: 'Mine',
      forward_webhooks: false,
    });
    expect(codeOf(await api.call('GET', '/integrations/gen'))).toBe('404 not_found');
    expect((await api.call('DELETE', '/integrations/gen-2')).body).toEqual({ success: true });
    expect(codeOf(await api.call('DELETE', '/integrations/gen-2'))).toBe('404 not_found');
  });

  it('of one environment are unknown in another', async () => {
    const { prod } = api.keys;
    expect(codeOf(await api.call('GET', '/integrations/open', { key: prod }))).toBe(
      '404 not_found',
    );
    expect((await api.call('GET', '/integrations', { key: prod })).body).toEqual({ data: [] });
  });
});
