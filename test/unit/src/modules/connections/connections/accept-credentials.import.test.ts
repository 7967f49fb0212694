import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import { importCredentials } from '#modules/connections/connections/accept-credentials.ts';
import { publicCredentials } from '#modules/connections/connections/presenter.ts';
import type { ModeContext } from '#modules/connections/credentials/modes/mode.ts';
import type { AuthMode, Provider } from '#modules/connections/providers/definition.ts';

const now = Date.UTC(2026, 1, 2, 8);
const contextOf = (auth_mode: AuthMode, more: Partial<Provider> = {}): ModeContext => ({
  provider: { name: 'p', display_name: 'P', categories: [], auth_mode, docs: '', ...more },
  client: null,
  connectionConfig: { accountId: 'acme' },
  http: { request: () => Promise.reject(new Error('this mode asks nobody')) },
  clock: { now: () => now, nowMicros: () => now * 1000 },
});
const imported = (mode: AuthMode, body: unknown, more: Partial<Provider> = {}) =>
  importCredentials(contextOf(mode, more), body);

describe('imported credentials', () => {
  it('are kept as they are for an API key', async () => {
    const body = { type: 'API_KEY', apiKey: 'k' };
    expect(await imported('API_KEY', body)).toEqual({ credentials: body, expiresAt: null });
  });

  it('may be empty texts for BASIC', async () => {
    const body = { type: 'BASIC', username: '', password: '' };
    expect((await imported('BASIC', body)).credentials).toEqual(body);
  });

  it('are none for NONE', async () => {
    const none = { credentials: null, expiresAt: null };
    expect(await imported('NONE', { type: 'NONE' })).toEqual(none);
  });

  it.each([
    ['ISO text', '2026-02-02T09:00:00Z'],
    ['epoch milliseconds', Date.UTC(2026, 1, 2, 9)],
    ['epoch seconds', Date.UTC(2026, 1, 2, 9) / 1000],
  ])('of OAUTH2 may say their expiry as %s', async (_, expires_at) => {
    const body = { type: 'OAUTH2', access_token: 'a', expires_at };
    const { credentials, expiresAt } = await imported('OAUTH2', body);
    expect(expiresAt).toBe(Date.UTC(2026, 1, 2, 9));
    expect(credentials).toEqual({
      type: 'OAUTH2',
      access_token: 'a',
      expires_at: '2026-02-02T09:00:00.000Z',
      raw: {},
    });
  });

  it('of OAUTH2_CC without an expiry are fetched again after 55 minutes', async () => {
    const body = { type: 'OAUTH2_CC', token: 't', client_id: 'c', client_secret: 's' };
    expect((await imported('OAUTH2_CC', body)).expiresAt).toBe(now + 55 * 60_000);
  });

  it.each<[AuthMode, JsonObject]>([
    ['OAUTH1', { oauth_token: 't', oauth_token_secret: 's', raw: {} }],
    ['TBA', { token_id: 't', token_secret: 's', config_override: {} }],
  ])('of %s never expire', async (mode, stored) => {
    const { raw: _raw, config_override: _none, ...given } = stored;
    const { credentials, expiresAt } = await imported(mode, { type: mode, ...given });
    expect(credentials).toEqual({ type: mode, ...stored });
    expect(expiresAt).toBeNull();
  });

  it.each([
    ['another type than the provider has', { type: 'BASIC', username: 'a', password: 'b' }],
    ['an unknown field', { type: 'API_KEY', apiKey: 'k', more: 1 }],
    ['an empty key', { type: 'API_KEY', apiKey: '' }],
    ['a key that is too long', { type: 'API_KEY', apiKey: 'k'.repeat(1025) }],
    ['no object', 'k'],
  ])('are refused with %s', async (_, body) => {
    await expect(imported('API_KEY', body)).rejects.toMatchObject({ code: 'invalid_body' });
  });

  it("take the provider's own fields, each problem named", async () => {
    const credentials = {
      key: { type: 'string', title: 'Key', description: '', pattern: '^k' },
      region: { type: 'string', title: 'Region', description: '', enum: ['eu', 'us'] },
      note: { type: 'string', title: 'Note', description: '', optional: true },
    } as const;
    const body = { type: 'TWO_STEP', key: 'x', region: 'mars' };
    await expect(imported('TWO_STEP', body, { credentials })).rejects.toMatchObject({
      code: 'invalid_body',
      details: {
        errors: [
          { path: ['credentials', 'key'], message: 'Does not match ^k.' },
          { path: ['credentials', 'region'], message: 'One of eu, us.' },
        ],
      },
    });
    await expect(imported('TWO_STEP', { type: 'TWO_STEP' }, { credentials })).rejects.toMatchObject(
      {
        details: {
          errors: [{ path: ['credentials', 'key'] }, { path: ['credentials', 'region'] }],
        },
      },
    );
  });
});

describe('credentials as a caller sees them', () => {
  const credentials = {
    type: 'OAUTH2',
    access_token: 'a',
    refresh_token: 'r',
    raw: { deep: [{ RefreshToken: 'r', 'refresh-token': 'r', kept: 1 }] },
  };

  it('are empty without a credentials scope', () => {
    const options = { withCredentials: false, withRefreshToken: true };
    expect(publicCredentials(credentials, options)).toEqual({});
  });

  it('hold no refresh token at any depth unless asked for', () => {
    const options = { withCredentials: true, withRefreshToken: false };
    expect(publicCredentials(credentials, options)).toEqual({
      type: 'OAUTH2',
      access_token: 'a',
      raw: { deep: [{ kept: 1 }] },
    });
    expect(publicCredentials(credentials, { ...options, withRefreshToken: true })).toEqual(
      credentials,
    );
  });
});
