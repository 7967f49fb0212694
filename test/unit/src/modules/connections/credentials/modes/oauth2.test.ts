import * as oauth from 'oauth4webapi';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlayedProvider } from '#fake-providers/play.ts';
import type { PlayOptions } from '#fake-providers/rules.ts';
import { openFakeAuth, visit, type FakeAuth } from '#fake-providers/server.ts';
import { hourMs } from '#kernel/time.ts';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { callerOf, type Caller } from '#test/support/fakes/fake-auth/caller.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';
import { aProvider } from '#test/support/worlds/control.ts';

let stack: AsyncDisposableStack;
let fake: FakeAuth;
let http: HttpClient;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await openFakeAuth());
  http = stack.use(await openHttpClient());
});
afterEach(() => stack.disposeAsync());

const crm = (more: Partial<Provider> = {}): Provider =>
  aProvider({
    auth_mode: 'OAUTH2',
    authorization_url: 'https://crm.example/authorize',
    token_url: 'https://crm.example/token',
    proxy: { base_url: 'https://api.crm.example' },
    ...more,
  });

function play(more: Partial<Provider> = {}, options: PlayOptions = {}): Caller & PlayedProvider {
  const played = fake.play(crm(more), options);
  return Object.assign(callerOf(played, http), played);
}

describe('a connection through the redirect', () => {
  it.each<[string, Partial<Provider>]>([
    ['a client in the body', {}],
    ['a client in a Basic header', { token_request_auth_method: 'basic' }],
    ['parameters as JSON', { body_format: 'json' }],
    ['parameters in the query of a GET', { token_request_method: 'GET' }],
    ['no PKCE', { disable_pkce: true }],
    ['parameters of its own', { authorization_params: { access_type: 'offline' } }],
    ['headers of its own', { token_headers: { 'x-version': '3' } }],
    ['a nested token', { alternate_access_token_response_path: 'authed_user' }],
    ['an end in milliseconds', { expires_in_unit: 'milliseconds' }],
    ['an end that introspection tells', { introspection_url: 'https://crm.example/introspect' }],
    ['a code under another name', { authorization_code_param_in_callback: 'oauth_code' }],
  ])('of a provider with %s gives a token that the API takes', async (_, more) => {
    const crmCaller = play(more);
    const obtained = await crmCaller.connect();
    expect(Math.abs((obtained.expiresAt ?? 0) - Date.now() - hourMs)).toBeLessThan(60_000);
    expect(await crmCaller.call(obtained)).toBe(200);
    expect(crmCaller.outcomes('token')).toEqual(['granted']);
  });

  it('has no end where introspection is refused: the token is good all the same', async () => {
    const crmCaller = play({ introspection_url: 'https://crm.example/introspect' });
    crmCaller.plan('introspect', { status: 403, body: { error: 'not_permitted' } });
    const obtained = await crmCaller.connect();
    expect(obtained.expiresAt).toBeNull();
    expect(await crmCaller.call(obtained)).toBe(200);
    const renewed = await crmCaller.rules.renewal!.renew(
      obtained.credentials as Credentials,
      crmCaller.context(),
    );
    expect(renewed.expiresAt).toBeGreaterThan(Date.now());
    expect(renewed.credentials).toMatchObject({ expires_at: expect.any(String) as string });
  });

  it("keeps the connection's data in response and redirect", async () => {
    const told = play({
      token_response_metadata: ['instance_url', 'team.id'],
      redirect_uri_metadata: ['realmId'],
      proxy: { base_url: '${connectionConfig.instance_url}' },
    });
    const { connectionConfig } = await told.connect();
    expect(connectionConfig).toEqual(told.toldConfig);
  });

  it('asks for the scopes with the separator of the provider', async () => {
    const { redirectContext, rules } = play({ scope_separator: ',' });
    const asked = redirectContext({ scopes: ['read', 'write'] });
    const { url } = await rules.redirect!.start(asked);
    expect(new URL(url).searchParams.get('scope')).toBe('read,write');
  });

  it.each([
    ['encoded', [], 'https://crm.example/a%2F%24%7BclientSecret%7D/authorize'],
    ['as they are', ['base_url'], 'https://crm.example/a/$%7BclientSecret%7D/authorize'],
  ])(
    'takes values of its address %s, and reads no tokens out of them',
    async (_, skips, expected) => {
      const { rules, redirectContext } = play({
        authorization_url: 'https://crm.example/${connectionConfig.tenant}/authorize',
        authorization_url_skip_encode: skips,
      });
      const asked = redirectContext({ connectionConfig: { tenant: 'a/${clientSecret}' } });
      const provider = {
        ...asked.provider,
        authorization_url: 'https://crm.example/${connectionConfig.tenant}/authorize',
      };
      const { url } = await rules.redirect!.start({ ...asked, provider });
      expect(url.split('?')[0]).toBe(expected);
    },
  );

  it('trades its code at an address whose values are taken as they are', async () => {
    const tenant = {
      type: 'string',
      title: 'Tenant',
      description: 'A path.',
      example: 'a/b',
    } as const;
    const { connect, call } = play({
      connection_config: { tenant },
      token_url: 'https://crm.example/${connectionConfig.tenant}/token',
      token_url_skip_encode: ['base_url'],
    });
    expect(await call(await connect())).toBe(200);
  });

  it('with a client of the person refreshes with that client, too', async () => {
    const { integration, connect, call, rules, context, outcomes } = play();
    const { client_id: clientId, client_secret: clientSecret } = integration as Record<
      string,
      string
    >;
    const override = { clientId, clientSecret };
    const client = { type: 'OAUTH2', clientId: 'other', clientSecret: 'other' };
    const obtained = await connect({ client, override });
    const held = obtained.credentials as Credentials;
    expect(held['config_override']).toEqual({ client_id: clientId, client_secret: clientSecret });
    const renewed = await rules.renewal!.renew(held, { ...context(), client });
    expect(renewed.credentials?.['config_override']).toEqual(held['config_override']);
    expect(await call(renewed)).toBe(200);
    expect(outcomes('token')).toEqual(['granted', 'granted']);
  });

  it('that the person refuses has no code to trade', async () => {
    const crmCaller = play();
    crmCaller.refuses('access_denied');
    await expect(crmCaller.connect()).rejects.toMatchObject({
      failure: { code: 'invalid_credentials', providerStatus: null, isDefinitive: true },
    });
  });

  it.each<[string, (back: Record<string, string>, kept: Record<string, unknown>) => void, string]>([
    ['an invented code', (back) => (back['code'] = 'invented'), 'unknown_code'],
    ['another verifier', (_, kept) => (kept['verifier'] = 'f'.repeat(48)), 'wrong_pkce_verifier'],
    ['no verifier', (_, kept) => delete kept['verifier'], 'no_pkce_verifier'],
  ])('with %s is refused by the provider', async (_, change, reason) => {
    const { rules, redirectContext, outcomes } = play();
    const asked = redirectContext();
    const { url, kept } = await rules.redirect!.start(asked);
    const back = await visit(url);
    const changed = { ...kept } as Record<string, unknown>;
    change(back, changed);
    const finishing = rules.redirect!.finish(back, changed as typeof kept, asked);
    await expect(finishing).rejects.toMatchObject({ failure: { isDefinitive: true } });
    expect(outcomes('token')).toEqual([reason]);
  });

  it('redeems its code once, from the address and the client that asked for it', async () => {
    const { rules, redirectContext, outcomes, call } = play();
    const asked = redirectContext();
    const start = await rules.redirect!.start(asked);
    const back = await visit(start.url);
    const elsewhere = { ...asked, callbackUrl: 'http://gateway.test/elsewhere' };
    const invalidGrant = { failure: { providerCode: 'invalid_grant', isDefinitive: true } };
    await expect(rules.redirect!.finish(back, start.kept, elsewhere)).rejects.toMatchObject(
      invalidGrant,
    );
    const client = { ...asked.client!, clientSecret: 'wrong' };
    const asAnother = rules.redirect!.finish(back, start.kept, { ...asked, client });
    await expect(asAnother).rejects.toMatchObject({ failure: { providerCode: 'invalid_client' } });
    const first = await rules.redirect!.finish(back, start.kept, asked);
    expect(await call(first)).toBe(200);
    await expect(rules.redirect!.finish(back, start.kept, asked)).rejects.toMatchObject(
      invalidGrant,
    );
    // What the code gave ends with its second use (RFC 6749 section 4.1.2).
    expect(await call(first)).toBe(401);
    expect(outcomes('token')).toEqual([
      'wrong_redirect_uri',
      'wrong_client',
      'granted',
      'reused_code',
    ]);
  });
});

describe('a refresh', () => {
  it.each<[string, Partial<Provider>]>([
    ['at the token address', {}],
    ['at an address of its own', { refresh_url: 'https://crm.example/refresh' }],
    [
      'with parameters of its own',
      { refresh_params: { grant_type: 'refresh_token', audience: 'api' } },
    ],
    ['with headers of its own', { refresh_token_headers: { 'x-version': '4' } }],
    ['by a Basic header', { authorization_method: 'header' }],
    [
      'by a Basic header where the code is exchanged by the body',
      {
        refresh_token_headers: { authorization: 'Basic ${base64(${clientId}:${clientSecret})}' },
      },
    ],
  ])('%s gives a new token, and the next refresh token', async (_, more) => {
    const { connect, call, rules, context, endTokens, outcomes } = play(more);
    const first = await connect();
    endTokens();
    expect(await call(first)).toBe(401);
    const second = await rules.renewal!.renew(first.credentials as Credentials, context());
    expect(await call(second)).toBe(200);
    const third = await rules.renewal!.renew(second.credentials as Credentials, context());
    expect(third.credentials?.['refresh_token']).not.toBe(second.credentials?.['refresh_token']);
    const renewals =
      more.refresh_url === undefined ? outcomes('token').slice(1) : outcomes('refresh');
    expect(renewals).toEqual(['granted', 'granted']);
  });

  it('with a token that was shown before ends the family', async () => {
    const { connect, call, rules, context, outcomes } = play();
    const first = await connect();
    const second = await rules.renewal!.renew(first.credentials as Credentials, context());
    const again = rules.renewal!.renew(first.credentials as Credentials, context());
    await expect(again).rejects.toMatchObject({
      failure: { code: 'refresh_token_external_error', providerCode: 'invalid_grant' },
    });
    expect(await call(second)).toBe(401);
    expect(outcomes('token')).toEqual(['granted', 'granted', 'reused_refresh_token']);
  });

  it('of a provider that does not rotate keeps the refresh token', async () => {
    const { connect, rules, context } = play({}, { isRotating: false });
    const first = await connect();
    const second = await rules.renewal!.renew(first.credentials as Credentials, context());
    expect(second.credentials?.['refresh_token']).toBe(first.credentials?.['refresh_token']);
  });
});

describe('the provider that is played', () => {
  it('keeps the standards: a client of others gets through it, and is refused as ours is', async () => {
    const { definition, integration, outcomes } = play({ token_request_auth_method: 'basic' });
    const { client_id, client_secret } = integration as Record<string, string>;
    const server = {
      issuer: fake.url,
      authorization_endpoint: definition.authorization_url!,
      token_endpoint: definition.token_url as string,
    };
    const client = { client_id: client_id! };
    const proof = oauth.ClientSecretBasic(client_secret!);
    // oxlint-disable-next-line typescript/no-deprecated -- the provider on loopback has no TLS
    const insecure = { [oauth.allowInsecureRequests]: true };
    const redirectUri = 'http://gateway.test/oauth/callback';
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(server.authorization_endpoint);
    url.search = new URLSearchParams({
      client_id: client_id!,
      response_type: 'code',
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const back = new URLSearchParams(await visit(url.href));
    const checked = oauth.validateAuthResponse(server, client, back, state);
    const redeem = (code: URLSearchParams) =>
      oauth.authorizationCodeGrantRequest(
        server,
        client,
        proof,
        code,
        redirectUri,
        verifier,
        insecure,
      );
    const first = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await redeem(checked),
    );
    const refresh = () =>
      oauth.refreshTokenGrantRequest(server, client, proof, first.refresh_token!, insecure);
    const second = await oauth.processRefreshTokenResponse(server, client, await refresh());
    expect(second.refresh_token).not.toBe(first.refresh_token);
    await expect(
      refresh().then((answer) => oauth.processRefreshTokenResponse(server, client, answer)),
    ).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(
      redeem(checked).then((answer) =>
        oauth.processAuthorizationCodeResponse(server, client, answer),
      ),
    ).rejects.toMatchObject({ error: 'invalid_grant' });
    expect(outcomes('token')).toEqual([
      'granted',
      'granted',
      'reused_refresh_token',
      'reused_code',
    ]);
  });
});
