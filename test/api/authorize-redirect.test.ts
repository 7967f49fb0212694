import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import { authorizationEntity } from '#modules/connections/authorizations/entity.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import {
  openPageSocket,
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
  type Redirect,
} from '#test/support/worlds/authorizing.ts';
import { connectionsFound, everythingOn } from '#test/support/worlds/control.ts';

const clock = movedClock();
const [oauth2, oauth1, app, custom, keyed] = [
  'oauth2',
  'oauth1',
  'app',
  'custom',
  'keyed',
] as const;
const outbound = 'outbound';
const named = 'named';

let api: AuthorizingApi;
beforeAll(async () => {
  const casts = [
    providerOf('OAUTH2', { name: oauth2 }),
    providerOf('OAUTH1', { name: oauth1 }),
    providerOf('APP', { name: app }),
    providerOf('CUSTOM', { name: custom }),
    providerOf('API_KEY', { name: keyed }),
    providerOf('OAUTH2', { name: outbound, installation: 'outbound' }),
    providerOf('OAUTH2', {
      name: named,
      integration_config: {
        redirectUri: {
          type: 'string',
          title: 'Name',
          description: 'Of the callback address.',
          optional: true,
        },
      },
    }),
  ];
  api = await startAuthorizing(
    casts.map((provider) => ({ provider })),
    { clock },
  );
  api.played(custom).on('/user', { login: 'ann' });
});
afterAll(() => api[Symbol.asyncDispose]());

const connections = async (): Promise<number> => {
  const { body } = await api.call('GET', '/connections');
  return (body as { connections: unknown[] }).connections.length;
};
const errorOf = ({ body }: Redirect): unknown =>
  (JSON.parse(body) as { error: { code: unknown } }).error.code;
/** Code exchanges that the provider has seen. */
const exchanges = (key: string): number => api.played(key).outcomes('token').length;

describe('the redirect to the provider', () => {
  it('carries client, callback, a state and the challenge of a verifier', async () => {
    const started = await api.redirect(oauth2);
    expect(started.status).toBe(302);
    const { searchParams } = new URL(started.location);
    expect(searchParams.get('redirect_uri')).toBe('http://gateway.test/oauth/callback');
    expect(searchParams.get('state')).toMatch(/^[0-9a-f]{32}$/);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(started.cookie).toBe(`oauth2-${searchParams.get('state') ?? ''}=1`);
  });

  it('carries the name that the provider gave the callback address, and so does the exchange', async () => {
    // A fake provider sends people to the name itself.
    const redirectUri = 'http://gateway.test/oauth/callback?name=Acme-App';
    const path = `/integrations/${named}`;
    const body = { integration_config: { redirectUri } };
    expect((await api.call('PATCH', path, { body })).status).toBe(200);
    const started = await api.redirect(named);
    expect(new URL(started.location).searchParams.get('redirect_uri')).toBe(redirectUri);
    const before = exchanges(named);
    const landed = await started.back(await started.consent());
    expect([landed.status, exchanges(named)]).toEqual([200, before + 1]);
    expect(api.played(named).outcomes('token')).toEqual(['granted']);
  });

  it('takes what the session fixes, and nothing of it from the browser', async () => {
    const token = await api.token({
      end_user: { id: 'u1' },
      integrations_config_defaults: {
        [oauth2]: {
          user_scopes: 'a,b',
          authorization_params: { prompt: 'consent' },
          connection_config: { oauth_scopes_override: 'one,two' },
        },
      },
    });
    const started = await api.redirect(oauth2, {
      connect_session_token: token,
      'authorization_params[prompt]': 'none',
      'authorization_params[state]': 'mine',
      user_scope: 'all',
    });
    const { searchParams } = new URL(started.location);
    expect(searchParams.get('prompt')).toBe('consent');
    expect(searchParams.get('user_scope')).toBe('a,b');
    expect(searchParams.get('scope')?.split(/[ ,+]/)).toEqual(['one', 'two']);
    expect(searchParams.get('state')).not.toBe('mine');
  });

  it('goes with a client of the person, where they have one', async () => {
    const started = await api.redirect(oauth2, {
      'credentials[oauth_client_id_override]': 'own-client',
      'credentials[oauth_client_secret_override]': 'canary-own-secret',
    });
    const { searchParams } = new URL(started.location);
    expect(searchParams.get('client_id')).toBe('own-client');
    expect(await everythingOn(api.services.log)).not.toContain('canary-own-secret');
  });

  it('is spared by a refresh token that the person has', async () => {
    const { refresh_token } = api.played(oauth2).importable();
    await using socket = await openPageSocket(api.url);
    const done = await api.redirect(oauth2, {
      ws_client_id: socket.id,
      'credentials[oauth_refresh_token_override]': refresh_token as string,
    });
    expect([done.status, done.location]).toEqual([200, '']);
    const told = await socket.next();
    const shown = await api.connection(String(told['connection_id']), oauth2);
    expect(shown.at('credentials.type')).toBe('OAUTH2');
  });

  it.each([
    [keyed, {}, 400, 'invalid_auth_mode'],
    [oauth2, { connection_id: 'mine' }, 400, 'invalid_query_params'],
    [oauth2, { 'params[pending]': 'x' }, 400, 'invalid_query_params'],
    [
      oauth2,
      { connect_session_token: 'svc_connect_session_x' },
      401,
      'invalid_connect_session_token_format',
    ],
  ])('of %s with %j is refused with %d %s', async (key, query, status, code) => {
    const refused = await api.redirect(key, query);
    expect([refused.status, errorOf(refused)]).toEqual([status, code]);
  });

  it('with a session that is over shows a page to a person, and JSON to a program', async () => {
    const over = { connect_session_token: `svc_connect_session_${'0'.repeat(64)}` };
    const page = await api.redirect(oauth2, over, { accept: 'text/html,*/*;q=0.8' });
    expect(page.status).toBe(401);
    expect(page.body).toContain('The connect session has expired');
    const json = await api.redirect(oauth2, over, { accept: '*/*' });
    expect([json.status, errorOf(json)]).toEqual([401, 'unknown_connect_session_token']);
    const odd = `${api.url}/oauth/callback?a[b][c]=1`;
    const shown = await checkedFetch(odd, { headers: { accept: 'text/html' } });
    expect([shown.status, shown.headers.get('content-type')]).toEqual([
      400,
      'text/html; charset=utf-8',
    ]);
  });

  it('is refused for an integration that is not there or not allowed', async () => {
    const few = await api.token({ end_user: { id: 'u1' }, allowed_integrations: [oauth1] });
    const refused = await api.redirect(oauth2, { connect_session_token: few });
    expect([refused.status, errorOf(refused)]).toEqual([400, 'integration_not_allowed']);
    const path = `/oauth/connect/nobody?connect_session_token=${few}`;
    expect(codeOf(await api.call('GET', path))).toBe('404 unknown_provider_config');
  });

  it('that fails is reported to the page, as JSON or as a page by what the browser accepts', async () => {
    api.played(oauth1).plan('request', { status: 401, body: { error: 'bad_consumer' } });
    await using socket = await openPageSocket(api.url);
    const failed = await api.redirect(oauth1, { ws_client_id: socket.id }, { accept: 'text/html' });
    expect(failed.status).toBe(400);
    expect(failed.body).toContain('<!doctype html>');
    const told = await socket.next();
    expect(told).toMatchObject({
      message_type: 'error',
      provider_config_key: oauth1,
      error_type: 'token_err',
      provider_error: 'bad_consumer',
    });
    expect(failed.body).toContain(String(told['log_id']));

    api.played(oauth1).plan('request', { status: 401, body: { error: 'bad_consumer' } });
    const asJson = await api.redirect(oauth1);
    const { error } = JSON.parse(asJson.body) as { error: Record<string, unknown> };
    expect(error).toMatchObject({
      code: 'request_token_external_error',
      payload: { provider: { status: 401, code: 'bad_consumer' } },
    });
  });
});

describe('the callback', () => {
  it('counts once: the provider is not asked again', async () => {
    const started = await api.redirect(oauth2);
    const query = await started.consent();
    expect((await started.back(query)).status).toBe(200);
    const before = { asked: exchanges(oauth2), made: await connections() };
    const again = await started.back(query);
    expect(again.status).toBe(400);
    expect(again.html).toContain('state_err');
    expect({ asked: exchanges(oauth2), made: await connections() }).toEqual(before);
  });

  it('that comes several times at once makes one connection with one exchange', async () => {
    const started = await api.redirect(oauth2);
    const query = await started.consent();
    const before = { asked: exchanges(oauth2), made: await connections() };
    const landed = await Promise.all([1, 2, 3, 4].map(() => started.back(query)));
    expect(landed.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(exchanges(oauth2)).toBe(before.asked + 1);
    expect(await connections()).toBe(before.made + 1);
  });

  it('may reach another node, and the page hears of it from its own', async () => {
    const url = await api.startAnother();
    await using socket = await openPageSocket(api.url);
    const started = await api.redirect(oauth2, { ws_client_id: socket.id });
    const landed = await started.back(await started.consent(), { url });
    expect(landed.status).toBe(200);
    const told = await socket.next();
    expect(told).toMatchObject({ message_type: 'success', provider_config_key: oauth2 });
    expect(codeOf(await api.connection(String(told['connection_id']), oauth2))).toBe('200 ');
  });

  it('is for the browser that began, and another one does not use it up', async () => {
    const started = await api.redirect(oauth2);
    const query = await started.consent();
    for (const cookie of ['', 'oauth2-x=1', `x${started.cookie}`]) {
      const refused = await started.back(query, { cookie });
      expect(refused.status).toBe(400);
      expect(refused.html).toContain('state_cookie_err');
    }
    const cookie = `a=b; ${started.cookie}; c=d`;
    expect((await started.back(query, { cookie })).status).toBe(200);
  });

  it.each([
    ['/oauth/callback', {}, 400],
    ['/oauth/callback', { state: '0'.repeat(32), code: 'x' }, 400],
    ['/app-auth/connect', {}, 400],
    ['/app-auth/connect', { state: '0'.repeat(32), installation_id: '1' }, 404],
  ])('at %s with %j is answered %d', async (path, query, status) => {
    const started = await api.redirect(oauth2);
    const refused = await started.back(query, { path });
    expect(refused.status).toBe(status);
    expect(refused.headers.get('content-type')).toContain('text/html');
    expect(refused.html).toContain('state_err');
  });

  it('of an app that was installed from the provider goes back there', async () => {
    const to = 'http://provider.test/apps/acme';
    const path = '/oauth/callback?installation_id=1&setup_action=install';
    const from = { redirect: 'manual', headers: { referer: to } } as const;
    const answer = await checkedFetch(api.url + path, from);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, to]);
    const headers = { referer: 'javascript:alert(1)' };
    const odd = await checkedFetch(api.url + path, { redirect: 'manual', headers });
    expect([odd.status, odd.headers.get('location')]).toEqual([400, null]);
  });

  it('says that the person refused, with the code of the provider and the id of the log', async () => {
    const before = await connections();
    await using socket = await openPageSocket(api.url);
    api.played(oauth2).refuses('access_denied');
    const started = await api.redirect(oauth2, { ws_client_id: socket.id });
    const landed = await started.back(await started.consent());
    api.played(oauth2).refuses(null);
    expect(landed.status).toBe(400);
    const told = await socket.next();
    expect(told).toMatchObject({
      message_type: 'error',
      provider_config_key: oauth2,
      error_type: 'callback_err',
      provider_error: 'access_denied',
    });
    for (const part of ['access_denied', String(told['log_id'])]) {
      expect(landed.html).toContain(part);
    }
    expect(await connections()).toBe(before);
  });

  it('says that the provider gave no token, and shows nothing that was presented', async () => {
    await using socket = await openPageSocket(api.url);
    const started = await api.redirect(oauth2, { ws_client_id: socket.id });
    const query = await started.consent();
    api.played(oauth2).plan('token', { status: 401, body: { error: 'invalid_client' } });
    const landed = await started.back(query);
    expect(landed.status).toBe(400);
    const told = await socket.next();
    expect(told).toMatchObject({ error_type: 'token_err', provider_error: 'invalid_client' });
    expect(landed.html + JSON.stringify(told)).not.toContain(query['code']);
  });

  it('is too late after 30 minutes; what nobody came back for is noted and removed', async () => {
    const started = await api.redirect(oauth2);
    const query = await started.consent();
    clock.forward(30 * 60_000);
    const late = await started.back(query);
    expect(late.status).toBe(400);
    expect(late.html).toContain('state_err');
    const { view } = api.services.control;
    await vi.waitFor(() => expect(view.list(authorizationEntity, [])).toEqual([]), {
      timeout: 30_000,
    });
    expect(await everythingOn(api.services.log)).toContain('did not return from the provider');
  });

  it('of an app that an owner has to approve first makes no connection', async () => {
    const before = await connections();
    api.played(app).refuses('request');
    await using socket = await openPageSocket(api.url);
    const started = await api.redirect(app, { ws_client_id: socket.id });
    const landed = await started.back(await started.consent(), { path: '/app-auth/connect' });
    api.played(app).refuses(null);
    expect(landed.status).toBe(400);
    expect(await socket.next()).toMatchObject({ error_type: 'callback_err' });
    expect(await connections()).toBe(before);
  });

  it('of a person whose app is not installed yet leaves the connection pending', async () => {
    await using socket = await openPageSocket(api.url);
    const started = await api.redirect(custom, { ws_client_id: socket.id });
    expect((await started.back(await started.consent())).status).toBe(200);
    const told = await socket.next();
    expect(told).toMatchObject({ message_type: 'success', is_pending: true });
    const shown = await api.connection(String(told['connection_id']), custom);
    expect(shown.at('connection_config.pending')).toBe(true);
  });
});

describe('a provider that reports its installation later', () => {
  it('is connected without a redirect, and waits', async () => {
    const made = await api.submit('/auth/oauth-outbound', outbound, {});
    expect(codeOf(made)).toBe('200 ');
    const id = made.at('connectionId') as string;
    const shown = await api.connection(id, outbound);
    expect(codeOf(shown)).toBe('200 ');
    expect(shown.at('connection_config.pending')).toBe(true);
    const forced = `/connections/${id}?force_refresh=true&provider_config_key=${outbound}`;
    expect(codeOf(await api.call('GET', forced))).toBe('200 ');
    const headers = { 'provider-config-key': outbound, 'connection-id': id };
    const called = await api.call('GET', '/proxy/v1/things', { headers });
    expect([called.status, called.body]).toEqual([401, { error: 'unauthorized' }]);
    const redirect = await api.redirect(outbound);
    expect([redirect.status, errorOf(redirect)]).toEqual([400, 'invalid_auth_mode']);
  });
});

describe('reconnecting by the provider', () => {
  async function connected(): Promise<string> {
    await using socket = await openPageSocket(api.url);
    const started = await api.redirect(oauth2, { ws_client_id: socket.id });
    await started.back(await started.consent());
    return String((await socket.next())['connection_id']);
  }
  const sessionFor = (id: string) =>
    api.token({ connection_id: id, integration_id: oauth2 }, '/connect/sessions/reconnect');

  it('keeps the connection with its id and metadata, and gives it new tokens', async () => {
    const id = await connected();
    const body = { connection_id: id, provider_config_key: oauth2, metadata: { plan: 'pro' } };
    await api.call('POST', '/connections/metadata', { body });
    const before = await api.connection(id, oauth2);
    const started = await api.redirect(oauth2, { connect_session_token: await sessionFor(id) });
    expect((await started.back(await started.consent())).status).toBe(200);
    const after = await api.connection(id, oauth2);
    expect([after.at('id'), after.at('metadata')]).toEqual([before.at('id'), { plan: 'pro' }]);
    expect(after.at('end_user')).toEqual(before.at('end_user'));
    expect(after.at('credentials.access_token')).not.toBe(before.at('credentials.access_token'));
  });

  it('is refused when the connection went while the person was away', async () => {
    const id = await connected();
    const started = await api.redirect(oauth2, { connect_session_token: await sessionFor(id) });
    const query = await started.consent();
    const { control } = api.services;
    const [found] = connectionsFound(control, {
      environmentUid: control.view.findBy(environmentEntity, 'name', 'dev')!.state.uid,
      connectionId: id,
    });
    const { ref, state } = found!;
    await control.execute(ref, { type: 'MarkDeleting' }, { actor: 'system' });
    await control.execute(ref, { type: 'Delete', uid: state.uid }, { actor: 'system' });
    const before = exchanges(oauth2);
    expect((await started.back(query)).status).toBe(400);
    expect(exchanges(oauth2)).toBe(before);
    expect(codeOf(await api.connection(id, oauth2))).toBe('404 not_found');
  });
});

describe('the socket of a page', () => {
  it('is at its path alone, and hears nothing of others', async () => {
    const elsewhere = new WebSocket(`${api.url.replace('http', 'ws')}/elsewhere`);
    await new Promise((resolve) => elsewhere.addEventListener('error', resolve));
    expect(elsewhere.readyState).toBe(WebSocket.CLOSED);

    await using mine = await openPageSocket(api.url);
    await using other = await openPageSocket(api.url);
    for (const { id } of [other, mine]) {
      const started = await api.redirect(oauth2, { ws_client_id: id });
      await started.back(await started.consent());
    }
    const [first, second] = [await mine.next(), await other.next()];
    expect(first['connection_id']).not.toBe(second['connection_id']);
  });
});

describe('secrets of redirects', () => {
  it('stand on no topic: codes, states, verifiers and tokens', async () => {
    const { asked } = api.played(oauth2);
    const bodies = asked.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
    const names = ['code', 'code_verifier', 'client_secret', 'refresh_token'];
    const secrets = bodies.flatMap((body) => names.map((name) => body[name] ?? ''));
    const states = asked
      .filter(({ role }) => role === 'authorize')
      .map(({ path }) => new URL(path, api.fake.url).searchParams.get('state') ?? '');
    const all = new Set([...secrets, ...states].filter((text) => text.length > 8));
    expect(all.size).toBeGreaterThan(20);
    const text = await everythingOn(api.services.log);
    for (const secret of all) expect(text).not.toContain(secret);
  });
});
