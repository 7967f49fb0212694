import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuthMode, Provider } from '#modules/connections/providers/definition.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import {
  openPageSocket,
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';
import { everythingOn } from '#test/support/worlds/control.ts';

/** Where the form of a mode is sent; the others go to the provider. */
const forms: Partial<Record<AuthMode, string>> = {
  OAUTH2_CC: '/oauth2/auth',
  API_KEY: '/api-auth/api-key',
  BASIC: '/api-auth/basic',
  TBA: '/auth/tba',
  JWT: '/auth/jwt',
  BILL: '/auth/bill',
  TWO_STEP: '/auth/two-step',
  SIGNATURE: '/auth/signature',
  NONE: '/auth/unauthenticated',
  APP_STORE: '/app-store-auth',
  AWS_SIGV4: '/auth/aws-sigv4',
};
const installs = new Set<AuthMode>(['APP']);
/** The field of the form that is wrong, of modes whose credentials a call tests. */
const testedFields = {
  API_KEY: 'apiKey',
  BASIC: 'password',
  TBA: 'token_secret',
  SIGNATURE: 'password',
  AWS_SIGV4: 'secret_access_key',
} as const;
type TestedMode = keyof typeof testedFields;
const testedModes = Object.keys(testedFields) as TestedMode[];
const nameOf = (mode: AuthMode): string => `mode-${mode.toLowerCase().replaceAll('_', '-')}`;
const testedName = (mode: AuthMode): string => `tested-${nameOf(mode)}`;

/** With a call that tests credentials; AWS tests those of a role when the role is assumed. */
function testedProvider(mode: TestedMode): Provider {
  const provider = providerOf(mode, { name: testedName(mode) });
  const { role_arn: _role, ...connection_config } = provider.connection_config ?? {};
  const proxy = { ...provider.proxy!, verification: { endpoints: ['/me'] } };
  return { ...provider, connection_config, proxy };
}

let api: AuthorizingApi;
beforeAll(async () => {
  api = await startAuthorizing([
    ...authModes.map((mode) => ({
      provider: providerOf(mode, { name: nameOf(mode) }),
      options: { installsApp: true },
    })),
    ...testedModes.map((mode) => ({ provider: testedProvider(mode) })),
  ]);
});
afterAll(() => api[Symbol.asyncDispose]());

/** The whole of a connect, as a person does it; the id of the connection. */
async function connect(mode: AuthMode): Promise<string> {
  const key = nameOf(mode);
  const played = api.played(key);
  const path = forms[mode];
  if (path !== undefined) {
    const made = await api.submit(path, key, played.form ?? {});
    expect([key, codeOf(made), made.at('error')]).toEqual([key, '200 ', undefined]);
    return made.at('connectionId') as string;
  }
  await using socket = await openPageSocket(api.url);
  const started = await api.redirect(key, { ws_client_id: socket.id });
  expect([key, started.status, started.body]).toEqual([key, 302, '']);
  const to = installs.has(mode) ? '/app-auth/connect' : '/oauth/callback';
  const landed = await started.back(await started.consent(), { path: to });
  expect([key, landed.status]).toEqual([key, 200]);
  expect(landed.headers.get('content-type')).toContain('text/html');
  const told = await socket.next();
  expect(told).toMatchObject({
    message_type: 'success',
    provider_config_key: key,
    is_pending: false,
  });
  return String(told['connection_id']);
}

/** A call to the provider with the credentials of the connection. */
async function proxied(key: string, id: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${api.keys.dev}`,
    'provider-config-key': key,
    'connection-id': id,
  };
  const answer = await fetch(`${api.url}/proxy/v1/things`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

describe('connecting', () => {
  it.each(authModes)('with %s gives a connection that lives like any other', async (mode) => {
    const key = nameOf(mode);
    const id = await connect(mode);
    const shown = await api.connection(id, key);
    expect(codeOf(shown)).toBe('200 ');
    expect(shown.at('end_user.id')).toBe('u1');
    expect(shown.at('tags')).toEqual({ end_user_id: 'u1' });
    if (mode === 'NONE') expect(shown.at('credentials')).toEqual({});
    else expect(shown.at('credentials.type')).toBe(mode);
    expect([key, await proxied(key, id)]).toEqual([key, 200]);

    const named = `/connections/${id}?provider_config_key=${key}`;
    const renewed = await api.call('GET', `${named}&force_refresh=true`);
    expect([key, codeOf(renewed)]).toEqual([key, '200 ']);
    expect([key, await proxied(key, id)]).toEqual([key, 200]);
    const expected = ['granted', 'challenged'];
    const refused = api.played(key).asked.filter(({ outcome }) => !expected.includes(outcome));
    expect(refused).toEqual([]);

    expect(codeOf(await api.call('DELETE', named))).toBe('200 ');
    expect(codeOf(await api.connection(id, key))).toBe('404 not_found');
  });

  it.each(testedModes)('with %s and a wrong secret is refused by the test call', async (mode) => {
    const key = testedName(mode);
    const { form } = api.played(key);
    const path = forms[mode]!;
    const wrong = { ...form, [testedFields[mode]]: 'wrong-secret' };
    const refused = await api.submit(path, key, wrong);
    expect([key, codeOf(refused)]).toEqual([key, '400 connection_test_failed']);
    expect(JSON.stringify(refused.body)).not.toContain('wrong-secret');
    expect([key, codeOf(await api.submit(path, key, form ?? {}))]).toEqual([key, '200 ']);
  });

  it('lets no secret of any mode onto a topic', async () => {
    const secrets = authModes.flatMap((mode) => {
      const { form, integration } = api.played(nameOf(mode));
      const named = Object.entries({ ...form, ...integration });
      return named.filter(([name]) => /secret|password|key|token/i.test(name)).map(([, of]) => of);
    });
    const text = await everythingOn(api.services.log);
    for (const secret of secrets) {
      if (typeof secret === 'string' && secret.length > 8) expect(text).not.toContain(secret);
    }
    expect(secrets.length).toBeGreaterThan(10);
  });
});
