import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import { createOpenIdProvider } from '#adapters/identity-provider/openid.ts';
import { limits } from '#kernel/limits.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import {
  startIdentityProvider,
  type FakeIdentityProvider,
} from '#test/support/fakes/identity-provider.ts';
import { checkAnswer } from '#test/support/judges/answers.ts';
import { startApi, type Api } from '#test/support/worlds/api.ts';
import { browserAt, idOf, samePage } from '#test/support/worlds/console-browser.ts';

const clock = movedClock();
let identity: FakeIdentityProvider;
let api: Api;
const groupRoles = {
  engineering: { dev: 'developer', prod: 'support' },
  helpdesk: { prod: 'support' },
  ops: { account: 'owner' },
  lost: { nowhere: 'owner' },
} as const;

beforeAll(async () => {
  identity = await startIdentityProvider();
  const { issuer, clientId, clientSecret } = identity;
  const settings = { issuer, clientId, clientSecret, name: 'Example ID', groupsClaim: 'groups' };
  const http = createHttpClient({ allow: [new URL(issuer).host] });
  const scopes = 'openid email profile';
  const provider = createOpenIdProvider({ ...settings, scopes }, http);
  api = await startApi({ clock, signIn: { provider, groupRoles, isEmailTrusted: false } });
  api.services.settings.publicUrl = api.url;
  identity.register(`${api.url}/console/oidc/callback`);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await identity[Symbol.asyncDispose]();
});

const { send, signIn } = browserAt(() => api);

interface Page {
  readonly status: number;
  readonly location: string;
  /** `name=value` of each cookie. */
  readonly cookies: readonly string[];
  readonly text: string;
}

/** As browsers send it. */
const accept = 'text/html,*/*;q=0.8';

async function get(url: string, cookie = ''): Promise<Page> {
  const response = await fetch(url, { redirect: 'manual', headers: { accept, cookie } });
  const { status, headers } = response;
  const text = await response.text();
  const { pathname, search } = new URL(url);
  checkAnswer('GET', pathname + search, { status, headers, text });
  return { status, text, location: headers.get('location') ?? '', cookies: headers.getSetCookie() };
}

const valueOf = (cookie = ''): string => cookie.split(';', 1)[0] ?? '';

/** Begins a sign-in in a browser. */
async function begin(query = '', cookie = ''): Promise<{ url: string; cookie: string }> {
  const came = await get(`${api.url}/console/oidc/start${query}`, cookie);
  expect(came.status).toBe(302);
  expect(came.cookies).toEqual([
    expect.stringMatching(
      /^svc_sign_in_[0-9a-f]{16}=v1\.\S+; HttpOnly; SameSite=Lax; Path=\/console\/oidc; Max-Age=600$/,
    ),
  ]);
  return { url: came.location, cookie: valueOf(came.cookies[0]) };
}

/** The whole way: start, provider, return. */
async function enter(sub: string, query = ''): Promise<Page> {
  const { url, cookie } = await begin(query);
  return get(await identity.authorize(url, sub), cookie);
}

/** The session of a browser that has come back. */
async function sessionOf(page: Page) {
  expect(page.status).toBe(302);
  const cookie = valueOf(page.cookies[0]);
  const came = await send('GET', '/console/session', { headers: { ...samePage, cookie } });
  expect(came.status).toBe(200);
  return { ...came.body!, cookie };
}

/** Why a page signs nobody in. */
function refusal({ status, text, cookies, location }: Page): string {
  expect(location).toBe('');
  expect(cookies.map(valueOf).join()).not.toMatch(/svc_console/);
  const words = /<p role="alert">([^<]*)<\/p>\n<p>([^<]*)<\/p>/.exec(text);
  return `${status} ${words?.[1]} ${words?.[2]}`;
}

const account = (email: string, groups: readonly string[], isVerified = true) =>
  ({ email, email_verified: isVerified, name: 'Ada Lovelace', groups }) as const;

const rolesOf = ({ access }: Awaited<ReturnType<typeof sessionOf>>) =>
  access.map(({ environment, roles }) => [environment?.name ?? 'account', roles]);

describe('a sign-in with the identity provider', () => {
  it('is offered by name', async () => {
    const came = await send('GET', '/console/sign-in', { headers: samePage });
    expect(came.body).toEqual({ data: { identity_provider: { name: 'Example ID' } } });
  });

  it('asks for a code with PKCE, state and nonce', async () => {
    const { url } = await begin();
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: identity.clientId,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      redirect_uri: `${api.url}/console/oidc/callback`,
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    });
  });

  it('gives the roles of the groups, and reads them again each time', async () => {
    identity.accounts.set('ada', account('Ada@Example.com', ['engineering', 'unknown', 'lost']));
    const page = await enter('ada', '?return_to=/console/env/dev/runs?state=failed');
    expect(page.location).toBe(`${api.url}/console/env/dev/runs?state=failed`);
    const first = await sessionOf(page);
    expect(first.person).toMatchObject({ email: 'ada@example.com', display_name: 'Ada Lovelace' });
    expect(rolesOf(first)).toEqual([
      ['dev', ['developer']],
      ['prod', ['support']],
    ]);
    identity.accounts.set('ada', account('ada@example.com', ['ops']));
    const second = await sessionOf(await enter('ada'));
    expect(second.person?.id).toBe(first.person?.id);
    expect(rolesOf(second)[0]).toEqual(['account', ['owner']]);
    identity.accounts.set('ada', account('ada@example.com', []));
    expect(refusal(await enter('ada'))).toMatch(
      /^403 The identity provider sent none of your groups, and ada@example.com is not invited\. Ask an owner/,
    );
    // Her other sessions have lost the roles too.
    const headers = { ...samePage, cookie: second.cookie };
    const left = await send('GET', '/console/session', { headers });
    expect(left.body?.access).toEqual([]);
  });

  it('keeps the roles of an invitation, and links it by the verified address', async () => {
    const roles = [{ environment: 'dev', role: 'read_only' }];
    const body = { email: 'grace@example.com', display_name: 'Grace', roles };
    const made = await api.call('POST', '/people', { key: api.keys.account, body });
    identity.accounts.set('grace', account('grace@example.com', ['helpdesk']));
    const session = await sessionOf(await enter('grace'));
    expect(session.person?.id).toBe(made.at('data.person.id'));
    expect(rolesOf(session)).toEqual([
      ['dev', ['read_only']],
      ['prod', ['support']],
    ]);
    identity.accounts.set('grace', account('grace@example.com', []));
    expect(rolesOf(await sessionOf(await enter('grace')))).toEqual([['dev', ['read_only']]]);
    // Someone else who got the address is not her.
    identity.accounts.set('other', account('grace@example.com', ['ops']));
    expect(refusal(await enter('other'))).toContain('belongs to another account');
  });

  it('refuses who is deactivated', async () => {
    identity.accounts.set('eve', account('eve@example.com', ['engineering']));
    const { person } = await sessionOf(await enter('eve'));
    const body = { is_active: false };
    await api.call('PATCH', `/people/${person?.id}`, { key: api.keys.account, body });
    expect(refusal(await enter('eve'))).toMatch(/^403 Your access to this installation was ended/);
  });

  it('ends the session that the browser had, and makes a new token', async () => {
    const planted = await signIn({ key: api.keys.dev });
    identity.accounts.set('mary', account('mary@example.com', ['engineering']));
    const { url, cookie } = await begin('', planted.cookie);
    const session = await sessionOf(await get(await identity.authorize(url, 'mary'), cookie));
    expect(session.cookie).not.toBe(planted.cookie);
    expect(session.keys).toEqual([]);
    const old = await send('GET', '/integrations', { headers: planted.as(idOf(planted)) });
    expect(old.status).toBe(401);
  });

  it('needs a verified address', async () => {
    identity.accounts.set('u1', account('u1@example.com', ['ops'], false));
    expect(refusal(await enter('u1'))).toMatch(/^403 The address u1@example.com is not verified/);
    identity.accounts.set('u2', { email: 'u2@example.com', groups: ['ops'] });
    expect(refusal(await enter('u2'))).toContain('SVC_OIDC_TRUST_EMAIL=yes');
    identity.accounts.set('u3', { groups: ['ops'] });
    expect(refusal(await enter('u3'))).toContain('sent no e-mail address');
  });

  it('names groups that have no role, as text', async () => {
    identity.accounts.set('bob', account('bob@example.com', ['<b>sales</b>']));
    expect(refusal(await enter('bob'))).toContain(
      'None of your groups has a role here (&lt;b&gt;sales&lt;/b&gt;)',
    );
  });
});

describe('a return from the identity provider', () => {
  const expired = /^400 The sign-in has expired, was finished before, or began in another browser/;

  it('is taken once', async () => {
    identity.accounts.set('once', account('once@example.com', ['engineering']));
    const { url, cookie } = await begin();
    const returned = await identity.authorize(url, 'once');
    expect((await get(returned, cookie)).status).toBe(302);
    expect(refusal(await get(returned, cookie))).toMatch(expired);
  });

  it('with a code that was used fails in words', async () => {
    const first = await begin();
    const used = new URL(await identity.authorize(first.url, 'once'));
    expect((await get(used.href, first.cookie)).status).toBe(302);
    const second = await begin();
    const replayed = new URL(await identity.authorize(second.url, 'once'));
    replayed.searchParams.set('code', used.searchParams.get('code') ?? '');
    expect(refusal(await get(replayed.href, second.cookie))).toMatch(
      /^400 The identity provider did not confirm the sign-in: invalid_grant/,
    );
  });

  it('is taken in the browser where it began, in time, with its state', async () => {
    const first = await begin();
    const second = await begin();
    const returned = await identity.authorize(first.url, 'once');
    expect(refusal(await get(returned))).toMatch(expired);
    expect(refusal(await get(returned, second.cookie))).toMatch(expired);
    const forged = `${first.cookie.split('=', 1)[0]}=v1.account.AAAA`;
    expect(refusal(await get(returned, forged))).toMatch(expired);
    const noState = new URL(returned);
    noState.searchParams.delete('state');
    expect(refusal(await get(noState.href, first.cookie))).toMatch(expired);
    clock.forward(limits.identitySignInMs);
    expect(refusal(await get(returned, first.cookie))).toMatch(expired);
  });

  it('of another issuer is refused', async () => {
    const { url, cookie } = await begin();
    const returned = new URL(await identity.authorize(url, 'once'));
    returned.searchParams.set('iss', 'https://evil.example');
    expect(refusal(await get(returned.href, cookie))).toMatch(
      /^400 The identity provider did not confirm the sign-in: /,
    );
  });

  it('without a sign-in there says why, in the words of the provider', async () => {
    const { url, cookie } = await begin();
    const returned = await identity.authorize(url, null);
    expect(refusal(await get(returned, cookie))).toMatch(
      /^403 The identity provider did not sign you in: access_denied/,
    );
  });

  it('leads to the console alone', async () => {
    for (const path of [
      'https://evil.example/console',
      '//evil.example/console',
      '/\\evil.example/console',
      '/console/..//evil.example',
      '/consoles',
      '/console/oidc/start',
      'console',
    ]) {
      const page = await enter('once', `?return_to=${encodeURIComponent(path)}`);
      expect(page.location).toBe(`${api.url}/console`);
    }
  });

  it('with nonsense is a page, never a failure', async () => {
    for (const query of ['', '?code=1', '?state=', '?error=x&state=y', '?code=a&code=b', '?iss=']) {
      expect(refusal(await get(`${api.url}/console/oidc/callback${query}`))).toMatch(expired);
    }
  });
});

describe('an identity provider', () => {
  it('that is away is named, and found when it is back', async () => {
    const away = await startIdentityProvider();
    const settings = { issuer: away.issuer, clientId: 'x', clientSecret: null, name: null };
    const http = createHttpClient({ allow: [new URL(away.issuer).host] });
    await away[Symbol.asyncDispose]();
    const rest = { scopes: 'openid', groupsClaim: 'groups' };
    await using provider = createOpenIdProvider({ ...settings, ...rest }, http);
    const signingIn = { provider, groupRoles, isEmailTrusted: false };
    await using other = await startApi({ signIn: signingIn });
    const page = await get(`${other.url}/console/oidc/start`);
    expect(refusal(page)).toMatch(/^424 The identity provider does not answer: 127\.0\.0\.1:\d+/);
  });

  it('that goes away before the return is named', async () => {
    const leaving = await startIdentityProvider();
    const { issuer, clientId, clientSecret } = leaving;
    const http = createHttpClient({ allow: [new URL(issuer).host] });
    const rest = { name: null, scopes: 'openid email', groupsClaim: 'groups' };
    await using provider = createOpenIdProvider({ issuer, clientId, clientSecret, ...rest }, http);
    await using other = await startApi({ signIn: { provider, groupRoles, isEmailTrusted: true } });
    other.services.settings.publicUrl = other.url;
    leaving.register(`${other.url}/console/oidc/callback`);
    leaving.accounts.set('ada', account('ada@example.com', []));
    const begun = await get(`${other.url}/console/oidc/start`);
    const returned = await leaving.authorize(begun.location, 'ada');
    await leaving[Symbol.asyncDispose]();
    const page = await get(returned, valueOf(begun.cookies[0]));
    expect(refusal(page)).toMatch(/^424 The identity provider does not answer: /);
  });

  it('that names itself otherwise is refused, with its name', async () => {
    const named = identity.issuer.replace('127.0.0.1', 'localhost');
    const http = createHttpClient({ allow: [new URL(named).host] });
    const rest = { clientId: 'x', clientSecret: null, name: null, scopes: 'openid' };
    const settings = { issuer: named, groupsClaim: 'groups', ...rest };
    await using provider = createOpenIdProvider(settings, http);
    await using other = await startApi({ signIn: { provider, groupRoles, isEmailTrusted: false } });
    const page = await get(`${other.url}/console/oidc/start`);
    expect(refusal(page)).toMatch(
      /^400 The identity provider did not confirm the sign-in: .*issuer/,
    );
  });

  it('that is not set is said so', async () => {
    await using other = await startApi();
    for (const step of ['start', 'callback']) {
      const came = await get(`${other.url}/console/oidc/${step}`);
      expect(came.status).toBe(404);
      expect(came.text).toContain('No identity provider is set.');
    }
    const ways = await fetch(`${other.url}/console/sign-in`);
    expect(await ways.json()).toEqual({ data: { identity_provider: null } });
  });
});
