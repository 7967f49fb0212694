import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { checkedFetch } from '#test/support/judges/answers.ts';
import {
  openPageSocket,
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
  type Redirect,
} from '#test/support/worlds/authorizing.ts';

const [plain, issued] = ['plain', 'issued'] as const;
const issuer = 'https://issuer.example/oauth';

let api: AuthorizingApi;
beforeAll(async () => {
  api = await startAuthorizing([
    { provider: providerOf('OAUTH2', { name: plain, redirect_uri_metadata: ['realm'] }) },
    { provider: providerOf('OAUTH2', { name: issued, authorization_issuer: issuer }) },
  ]);
});
afterAll(() => api[Symbol.asyncDispose]());

const exchanges = (key: string): number => api.played(key).outcomes('token').length;

interface Posted {
  readonly cookie?: string;
  readonly type?: string;
}

/** A page of the provider submits a form, as `response_mode=form_post` does. */
const submitted = (
  body: string,
  { cookie = '', type = 'application/x-www-form-urlencoded' }: Posted = {},
): Promise<Response> =>
  checkedFetch(`${api.url}/oauth/callback`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      cookie,
      'content-type': type,
      origin: 'https://provider.example',
      'sec-fetch-site': 'cross-site',
      accept: 'text/html',
    },
    body,
  });

const formOf = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams(fields).toString();

async function started(
  key: string,
): Promise<{ redirect: Redirect; query: Record<string, string> }> {
  const redirect = await api.redirect(key);
  return { redirect, query: await redirect.consent() };
}

describe('a callback that comes as a form', () => {
  it('with the cookie of its start is completed, and its code is in no address', async () => {
    await using socket = await openPageSocket(api.url);
    const redirect = await api.redirect(plain, { ws_client_id: socket.id });
    const query = { ...(await redirect.consent()), realm: 'r+1 ü' };
    const landed = await submitted(formOf(query), redirect);
    expect([landed.status, landed.headers.get('location')]).toEqual([200, null]);
    const told = await socket.next();
    expect(told).toMatchObject({ message_type: 'success', provider_config_key: plain });
    const shown = await api.connection(String(told['connection_id']), plain);
    expect(shown.at('connection_config.realm')).toBe('r+1 ü');
    const again = await submitted(formOf(query), redirect);
    expect(again.status).toBe(400);
    expect(await again.text()).toContain('state_err');
  });

  it('without its cookie is sent to the same callback as a GET, which browsers send it with', async () => {
    const { redirect, query } = await started(plain);
    const before = exchanges(plain);
    const sent = await submitted(formOf(query));
    expect(sent.status).toBe(303);
    expect(exchanges(plain)).toBe(before);
    const location = new URL(sent.headers.get('location') ?? '');
    expect(location.origin + location.pathname).toBe('http://gateway.test/oauth/callback');
    expect(Object.fromEntries(location.searchParams)).toEqual(query);
    expect(sent.headers.get('cache-control')).toBe('no-store');
    expect(sent.headers.get('referrer-policy')).toBe('no-referrer');
    const landed = await redirect.back(Object.fromEntries(location.searchParams));
    expect(landed.status).toBe(200);
    expect(exchanges(plain)).toBe(before + 1);
  });

  it('of another browser completes nothing, and does not use the state up', async () => {
    const { redirect, query } = await started(plain);
    const before = exchanges(plain);
    const sent = await submitted(formOf(query), { cookie: 'oauth2-x=1' });
    const location = new URL(sent.headers.get('location') ?? '');
    const refused = await redirect.back(Object.fromEntries(location.searchParams), { cookie: '' });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('state_cookie_err');
    expect(exchanges(plain)).toBe(before);
    expect((await submitted(formOf(query), redirect)).status).toBe(200);
  });

  it.each([
    ['no state', {}],
    ['an empty state', { state: '' }],
  ])('with %s is refused', async (_, fields) => {
    const refused = await submitted(formOf({ code: 'c', ...fields }));
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('state_err');
  });

  it('shows the error of the provider', async () => {
    const { redirect, query } = await started(plain);
    const { state = '' } = query;
    const fields = { state, error: 'user_cancelled_authorize', error_description: '<b>No</b>' };
    const landed = await submitted(formOf(fields), redirect);
    expect(landed.status).toBe(400);
    const html = await landed.text();
    expect(html).toContain('user_cancelled_authorize');
    expect(html).not.toContain('<b>');
  });

  it('with a description of 100 KB is bounded, with and without its cookie', async () => {
    const { redirect, query } = await started(plain);
    const { state = '' } = query;
    const fields = { state, error: 'server_error', error_description: 'x'.repeat(100_000) };
    const refused = await submitted(formOf(fields));
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('state_cookie_err');
    const landed = await submitted(formOf(fields), redirect);
    expect(landed.status).toBe(400);
    expect((await landed.text()).length).toBeLessThan(5_000);
  });

  it('keeps an issuer that comes twice apart', async () => {
    const { redirect, query } = await started(issued);
    const { iss: _iss, ...rest } = query;
    const before = exchanges(issued);
    const twice = `${formOf({ ...rest, iss: issuer })}&${formOf({ iss: 'https://evil.example' })}`;
    const sent = await submitted(twice);
    expect(new URL(sent.headers.get('location') ?? '').searchParams.getAll('iss')).toHaveLength(2);
    const refused = await submitted(twice, redirect);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('names several');
    expect(exchanges(issued)).toBe(before);
  });

  it('takes names that mean something to objects', async () => {
    const { redirect, query } = await started(plain);
    const odd = formOf({ ...query, __proto__x: 'a', constructor: 'b', 'a[b][c]': 'd' });
    const landed = await submitted(`__proto__=x&${odd}`, redirect);
    expect(landed.status).toBe(200);
  });

  it.each([
    ['application/json', '{"state":"x"}', 415],
    ['multipart/form-data; boundary=b', '--b--', 415],
    ['application/x-www-form-urlencoded', 'x'.repeat(limits.formBytesMax + 1), 413],
  ])('of %s is refused', async (type, body, status) => {
    expect((await submitted(body, { type })).status).toBe(status);
  });

  it('whose text is no percent-encoding is like any other', async () => {
    const answer = await submitted('state=%zz&code=%');
    expect(answer.status).toBe(303);
  });
});
