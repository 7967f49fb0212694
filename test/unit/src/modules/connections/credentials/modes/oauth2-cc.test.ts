import { describe, expect, it } from 'vitest';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';

const play = playingInEachTest();
const cc: Partial<Provider> = { auth_mode: 'OAUTH2_CC', token_url: 'https://crm.example/token' };

describe.each<[string, Partial<Provider>]>([
  ['the client in the body', {}],
  ['the client in a Basic header', { token_request_auth_method: 'basic' }],
  ['the client under other names', { token_request_auth_method: 'custom' }],
  ['a signed assertion', { token_request_auth_method: 'private_key_jwt' }],
  ['JSON', { body_format: 'json' }],
  ['a query', { body_format: 'query' }],
  ['parameters of its own', { token_params: { audience: 'https://${connectionConfig.site}' } }],
])('client credentials with %s', (_, more) => {
  const site = { type: 'string', title: 'Site', description: 'The site.' } as const;
  const provider = { ...cc, ...more, connection_config: { site } };

  it('give a token that the API takes, and another one for the same client', async () => {
    const { rules, context, form, call, endTokens, outcomes } = play(provider);
    const given = rules.form!.shape(context().provider).parse(form);
    const first = await rules.form!.submit(given, context());
    expect(await call(first)).toBe(200);
    endTokens();
    expect(await call(first)).toBe(401);
    const second = await rules.renewal!.renew(first.credentials as Credentials, context());
    expect(await call(second)).toBe(200);
    expect(outcomes('token')).toEqual(['granted', 'granted']);
  });
});

describe('client credentials', () => {
  it('may be imported with a token, and are renewed with their client', async () => {
    const caller = play(cc);
    const imported = await caller.import();
    expect(await caller.call(imported)).toBe(200);
    const held = imported.credentials as Credentials;
    const renewed = await caller.rules.renewal!.renew(held, caller.context());
    expect(await caller.call(renewed)).toBe(200);
  });

  it('ask for the scopes of the connection', async () => {
    const { rules, context, form, asked } = play({ ...cc, scope_separator: ',' });
    const given = rules.form!.shape(context().provider).parse(form);
    await rules.form!.submit(given, context({ oauth_scopes: 'read,write' }));
    expect(new URLSearchParams(asked[0]?.body).get('scope')).toBe('read,write');
  });

  it('with a wrong secret are refused, and the refusal is definitive', async () => {
    const { rules, context, form, outcomes } = play(cc);
    const submitted = rules.form!.submit({ ...form, client_secret: 'wrong' }, context());
    await expect(submitted).rejects.toMatchObject({
      failure: {
        code: 'client_credentials_fetch_error',
        providerCode: 'invalid_client',
        isDefinitive: true,
      },
    });
    expect(outcomes('token')).toEqual(['wrong_client']);
  });

  it('of a provider that is away are no refusal of the client', async () => {
    const { rules, context, form, plan } = play(cc);
    plan('token', { status: 503, body: { error: 'busy' } });
    await expect(rules.form!.submit(form!, context())).rejects.toMatchObject({
      failure: { code: 'client_credentials_fetch_error', isDefinitive: false, providerStatus: 503 },
    });
  });

  it('without a token in the answer are asked for again later', async () => {
    const { rules, context, form, plan } = play(cc);
    plan('token', { status: 200, body: { scope: 'all' } });
    await expect(rules.form!.submit(form!, context())).rejects.toMatchObject({
      failure: {
        isDefinitive: false,
        message: 'The response of the provider "crm" contains no token.',
      },
    });
  });
});
