import { describe, expect, it } from 'vitest';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';

const play = playingInEachTest();
const field = (more: object = {}) =>
  ({ type: 'string', title: 'Field', description: 'A field.', ...more }) as const;
const jwt: Partial<Provider> = {
  auth_mode: 'JWT',
  credentials: { key: field({ secret: true }), user: field() },
  token: {
    signing_key: '${credentials.key}',
    expires_in_ms: 60_000,
    header: { typ: 'JWT' },
    payload: { iss: '${credentials.user}', aud: 'crm', sub: '${connectionConfig.gone}' },
  },
};

describe.each<[string, Partial<Provider>]>([
  ['an RSA key', { ...jwt, signature: { protocol: 'RSA' } }],
  ['a P-256 key', { ...jwt, signature: { protocol: 'EC' } }],
  ['a secret in hexadecimal', { ...jwt, signature: { protocol: 'HMAC' } }],
  ['a secret as text', { ...jwt, signature: { protocol: 'HMAC', hmac_secret_encoding: 'utf8' } }],
  [
    'a header of the provider',
    {
      ...jwt,
      signature: { protocol: 'RSA' },
      proxy: { base_url: 'https://api.crm.example', headers: { 'x-token': 'T ${accessToken}' } },
    },
  ],
  ['the key of the store', { auth_mode: 'APP_STORE' }],
  [
    'a digest of the password',
    {
      auth_mode: 'SIGNATURE',
      signature: { protocol: 'WSSE' },
      token: { expires_in_ms: 300_000 },
      proxy: { base_url: 'https://api.crm.example', headers: { 'x-wsse': '${accessToken}' } },
    },
  ],
])('tokens signed with %s', (_, more) => {
  it('are taken from import and form, and signed again when they end', async () => {
    const caller = play(more);
    const imported = await caller.import();
    expect(await caller.call(imported)).toBe(200);
    const { rules, form, context } = caller;
    const given = rules.form!.shape(context().provider).parse(form);
    expect(await caller.call(await rules.form!.submit(given, context()))).toBe(200);
    expect(imported.expiresAt).toBeGreaterThan(Date.now());
    const renewed = await rules.renewal!.renew(imported.credentials as Credentials, context());
    expect(await caller.call(renewed)).toBe(200);
    expect(caller.outcomes('api')).toEqual(['granted', 'granted', 'granted']);
  });

  it('are refused when they were made with another key', async () => {
    const own = play(more);
    const foreign = await play({ ...more, name: 'other' }).import();
    expect(await own.call(foreign)).toBe(401);
  });
});

describe('a key that cannot sign', () => {
  it('is a problem of the credentials', async () => {
    const caller = play({ ...jwt, signature: { protocol: 'RSA' } });
    await expect(caller.import({ key: 'no key' })).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    const store = play({ auth_mode: 'APP_STORE', name: 'store' });
    const wrongKind = (caller.form as Record<string, string>)['key'] ?? '';
    await expect(store.import({ privateKey: wrongKind })).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
  });
});
