import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuthMode } from '#modules/connections/providers/definition.ts';
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
const nameOf = (mode: AuthMode): string => `mode-${mode.toLowerCase().replaceAll('_', '-')}`;

let api: AuthorizingApi;
beforeAll(async () => {
  api = await startAuthorizing(
    authModes.map((mode) => ({
      provider: providerOf(mode, { name: nameOf(mode) }),
      options: { installsApp: true },
    })),
  );
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
