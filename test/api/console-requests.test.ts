import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApi, type Api } from '#test/support/worlds/api.ts';
import { browserAt, idOf, makeListingKey, outcome } from '#test/support/worlds/console-browser.ts';
let api: Api;
let otherNode: string;
beforeAll(async () => {
  api = await startApi();
  otherNode = await api.startAnother();
});
afterAll(() => api[Symbol.asyncDispose]());

const { send, signIn } = browserAt(() => api);

describe('a request of the console', () => {
  it('acts as the key that it names, on every node', async () => {
    const browser = await signIn({ key: api.keys.dev });
    const headers = browser.as(idOf(browser));
    for (const url of [api.url, otherNode]) {
      expect(outcome(await send('GET', '/integrations', { headers, url }))).toBe('200 ');
    }
    const body = { provider: 'hacker-news', unique_key: 'of-the-console' };
    expect(outcome(await send('POST', '/integrations', { headers, body }))).toBe('200 ');
    const byKey = await api.call('GET', '/integrations/of-the-console');
    expect(byKey.status).toBe(200);
  });

  it('has the scopes of its key, and no more', async () => {
    const key = await makeListingKey(api, 'that lists');
    const browser = await signIn({ key: key.secret });
    const headers = browser.as(key.id);
    expect(outcome(await send('GET', '/integrations', { headers }))).toBe('200 ');
    expect(outcome(await send('GET', '/connections', { headers }))).toBe('403 forbidden');
    expect(outcome(await send('GET', '/environments', { headers }))).toBe('403 forbidden');
  });

  it('of one environment does not reach another one, whatever it names', async () => {
    const dev = await signIn({ key: api.keys.dev });
    const both = await signIn({ key: api.keys.prod }, { cookie: dev.cookie });
    const [ofDev, ofProd] = [idOf(both, 0), idOf(both, 1)];
    const body = { provider: 'hacker-news', unique_key: 'of-prod' };
    expect(outcome(await send('POST', '/integrations', { headers: both.as(ofProd), body }))).toBe(
      '200 ',
    );
    const read = (keyId: string) =>
      send('GET', '/integrations/of-prod', { headers: both.as(keyId) });
    expect(outcome(await read(ofProd))).toBe('200 ');
    expect((await read(ofDev)).status).toBe(404);
    // A key that another session holds, and the id of no key.
    const alone = await signIn({ key: api.keys.dev });
    for (const id of [ofProd, 'none', '', '__proto__']) {
      const came = await send('GET', '/integrations', { headers: alone.as(id) });
      expect(outcome(came)).toBe('401 unknown_console_session');
    }
  });

  it('needs the CSRF token of its session', async () => {
    const browser = await signIn({ key: api.keys.dev });
    const { csrf } = await signIn({ key: api.keys.dev });
    const headers = browser.as(idOf(browser));
    const { 'svc-csrf-token': _, ...without } = headers;
    for (const wrong of ['', 'x', csrf, `${browser.csrf}0`, browser.csrf.toUpperCase()]) {
      for (const [method, path] of [
        ['GET', '/integrations'],
        ['DELETE', '/console/session'],
        ['DELETE', `/console/session/keys/${idOf(browser)}`],
      ] as const) {
        const sent = { headers: { ...headers, 'svc-csrf-token': wrong } };
        expect(outcome(await send(method, path, sent))).toBe('403 invalid_csrf_token');
      }
    }
    const came = await send('GET', '/integrations', { headers: without });
    expect(outcome(came)).toBe('403 invalid_csrf_token');
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['another origin', { origin: 'https://evil.test' }],
    ['a sandboxed frame', { 'sec-fetch-site': 'cross-site', origin: 'null' }],
  ])('counts for nothing from %s', async (_what, foreign) => {
    const browser = await signIn({ key: api.keys.dev });
    const { 'sec-fetch-site': _, ...known } = browser.as(idOf(browser));
    const headers = { ...known, ...foreign };
    expect(outcome(await send('GET', '/integrations', { headers }))).toBe(
      '401 missing_auth_header',
    );
    for (const method of ['GET', 'DELETE']) {
      const came = await send(method, '/console/session', { headers });
      expect(outcome(came)).toBe('403 foreign_origin');
    }
  });

  it('counts for nothing without naming a key, or beside another credential', async () => {
    const browser = await signIn({ key: api.keys.dev });
    const { 'svc-console-key': _, ...unnamed } = browser.as(idOf(browser));
    expect(outcome(await send('GET', '/integrations', { headers: unnamed }))).toBe(
      '401 missing_auth_header',
    );
    const headers = { ...browser.as(idOf(browser)), authorization: 'Bearer svc_env_wrong' };
    expect(outcome(await send('GET', '/integrations', { headers }))).toBe(
      '401 invalid_secret_key_format',
    );
  });

  it.each([
    ['GET', '/proxy/contacts'],
    ['POST', '/proxy/contacts'],
    ['POST', '/mcp'],
    ['GET', '/mcp'],
    ['POST', '/mcp/management'],
    ['GET', '/mcp/management'],
    ['POST', '/console/codes'],
    ['GET', '/connect/session'],
    ['POST', '/api-auth/basic/crm'],
  ])('counts for nothing on %s %s', async (method, path) => {
    const browser = await signIn({ key: api.keys.dev });
    const named = { 'provider-config-key': 'crm', 'connection-id': 'c' };
    const headers = { ...browser.as(idOf(browser)), ...named };
    const { status, body } = await send(method, path, {
      headers,
      ...(method === 'POST' ? { body: {} } : {}),
    });
    expect([status, body?.error?.code]).toEqual([
      401,
      path.startsWith('/api-auth') ? 'missing_public_key' : 'missing_auth_header',
    ]);
  });

  it('creates connect sessions', async () => {
    const browser = await signIn({ key: api.keys.dev });
    const sent = { headers: browser.as(idOf(browser)), body: { end_user: { id: 'u' } } };
    expect(outcome(await send('POST', '/connect/sessions', sent))).toBe('201 ');
  });

  it('is not allowed to pages of other origins: CORS never names its headers or credentials', async () => {
    const browser = await signIn({ key: api.keys.dev });
    for (const path of ['/console/session', '/integrations', '/proxy/contacts']) {
      const headers = {
        origin: 'https://evil.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'svc-console-key, svc-csrf-token',
      };
      const preflight = await send('OPTIONS', path, { headers });
      const cross = await send(path.startsWith('/proxy') ? 'POST' : 'GET', path, {
        headers: { ...browser.as(idOf(browser)), ...headers, 'sec-fetch-site': 'cross-site' },
      });
      for (const { headers: answered } of [preflight, cross]) {
        expect(answered.get('access-control-allow-credentials')).toBeNull();
        expect(answered.get('access-control-allow-origin')).toBe('*');
      }
      const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
      expect(allowed).not.toMatch(/cookie|svc-console-key|svc-csrf-token/);
    }
  });

  it('is in the audit under its key, with the session', async () => {
    const heard = vi.spyOn(api.services.audit, 'happened');
    try {
      const browser = await signIn({ key: api.keys.dev });
      const headers = browser.as(idOf(browser));
      const body = { provider: 'hacker-news', unique_key: 'audited' };
      await send('POST', '/integrations', { headers, body });
      await send('DELETE', '/console/session', { headers });
      const events = heard.mock.calls.map(([, event]) => event);
      const { actor, target: session } = events[0] ?? {};
      expect(actor).toMatch(/^key:/);
      expect(events.map((event) => [event.actor, event.action])).toEqual([
        [actor, 'console_session.create'],
        [actor, 'integrations.create'],
        [actor, 'console_session.delete'],
      ]);
      expect(JSON.parse(events[1]?.details ?? '')).toEqual({
        fields: ['provider', 'unique_key'],
        console_session: session,
      });
    } finally {
      heard.mockRestore();
    }
  });
});
