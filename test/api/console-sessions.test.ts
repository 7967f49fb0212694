import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { findSession } from '#modules/access/console-sessions/handlers.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';
import {
  browserAt,
  cookieIn,
  idOf,
  makeListingKey,
  outcome,
  samePage,
  type Came,
} from '#test/support/worlds/console-browser.ts';
const clock = movedClock();
let api: Api;
let otherNode: string;
beforeAll(async () => {
  api = await startApi({ clock });
  otherNode = await api.startAnother();
});
afterAll(() => api[Symbol.asyncDispose]());

const { send, signIn } = browserAt(() => api);

/** The live log of a signed-in browser. */
async function openTail(headers: Record<string, string>): Promise<IncomingMessage> {
  const asked = request(`${api.url}/logs/tail`, { headers }).end();
  const [tail] = (await once(asked, 'response')) as [IncomingMessage];
  expect(tail.statusCode).toBe(200);
  return tail.resume();
}

describe('signing in', () => {
  it('with a key answers the session, and sets a cookie that no script reads', async () => {
    const sent = { headers: samePage, body: { key: api.keys.dev } };
    const came = await send('POST', '/console/session', sent);
    expect(came.body).toEqual({
      csrf_token: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      expires_at: expect.any(String) as unknown,
      keys: [
        {
          id: expect.any(String) as unknown,
          name: 'Default - Full access',
          kind: 'environment',
          environment: { id: expect.any(Number) as unknown, name: 'dev' },
          scopes: ['environment:*'],
          expires_at: null,
        },
      ],
      person: null,
      access: [],
    });
    expect(came.headers.get('set-cookie')).toMatch(
      /^svc_console_[0-9a-f]{16}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/,
    );
    expect(came.headers.get('cache-control')).toBe('no-store');
    expect(JSON.stringify(came.body)).not.toContain(api.keys.dev);
  });

  it('outside loopback sets a cookie that this host alone gets, over TLS', async () => {
    const origin = 'https://gateway.example.com';
    for (const headers of [
      { ...samePage, host: 'gateway.example.com', origin },
      // A proxy that has changed the host.
      { ...samePage, origin: 'http://gateway.test' },
    ]) {
      const came = await send('POST', '/console/session', { headers, body: { key: api.keys.dev } });
      expect(came.headers.get('set-cookie')).toMatch(
        /^__Host-svc_console_[0-9a-f]{16}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+; Secure$/,
      );
      const { host } = headers as { host?: string };
      const back = { ...samePage, cookie: cookieIn(came), ...(host ? { host } : {}) };
      expect(outcome(await send('GET', '/console/session', { headers: back }))).toBe('200 ');
    }
  });

  it('does not take a cookie without Secure from another host than loopback', async () => {
    const { cookie } = await signIn({ key: api.keys.dev });
    const headers = { ...samePage, cookie, host: 'gateway.example.com' };
    expect(outcome(await send('GET', '/console/session', { headers }))).toBe(
      '401 unknown_console_session',
    );
  });

  it('again adds keys: several of environments, and one of the account', async () => {
    let browser = await signIn({ key: api.keys.dev });
    const add = async (key: unknown) => {
      browser = await signIn({ key }, { cookie: browser.cookie });
      return browser.keys;
    };
    await add(api.keys.prod);
    await add(api.keys.prod);
    const kinds = (await add(api.keys.account)).map(({ kind }) => kind);
    expect(kinds).toEqual(['environment', 'environment', 'account']);
    const made = await api.call('POST', '/account/api-keys', {
      key: api.keys.account,
      body: { display_name: 'Second' },
    });
    const keys = await add(made.at('data.secret'));
    expect(keys.map(({ name }) => name).at(-1)).toBe('Second');
    expect(keys).toHaveLength(3);
    const headers = { ...samePage, cookie: browser.cookie };
    const read = await send('GET', '/console/session', { headers });
    expect(read.body).toMatchObject({ csrf_token: browser.csrf, keys });
  });

  it('with the cookie of a living session makes a new token, and the old one dies on every node', async () => {
    const planted = await signIn({ key: api.keys.dev });
    const headers = planted.as(idOf(planted));
    const tail = await openTail(headers);
    const victim = await signIn({ key: api.keys.account }, { cookie: planted.cookie });
    expect(victim.cookie).not.toBe(planted.cookie);
    expect(victim.csrf).not.toBe(planted.csrf);
    expect(victim.keys.map(({ kind }) => kind)).toEqual(['environment', 'account']);
    for (const url of [otherNode, api.url]) {
      const came = await send('GET', '/integrations', { headers, url });
      expect(outcome(came)).toBe('401 unknown_console_session');
    }
    const shown = await send('GET', '/console/session', {
      headers: { ...samePage, cookie: planted.cookie },
    });
    expect(outcome(shown)).toBe('401 unknown_console_session');
    // The same key once more also makes a new token.
    const again = await signIn({ key: api.keys.account }, { cookie: victim.cookie });
    expect(again.cookie).not.toBe(victim.cookie);
    // The planter's streams end with the session.
    await once(tail, 'end');
  });

  it('with the cookie of a session that ended adds nothing of it', async () => {
    const first = await signIn({ key: api.keys.dev });
    await send('DELETE', '/console/session', { headers: first.as(idOf(first)) });
    const next = await signIn({ key: api.keys.account }, { cookie: first.cookie });
    expect(next.keys.map(({ kind }) => kind)).toEqual(['account']);
  });

  it('at two gateways of one host keeps both cookies', async () => {
    await using second = await startApi();
    const other = browserAt(() => second);
    const here = await signIn({ key: api.keys.dev });
    const there = await other.signIn({ key: second.keys.dev }, { cookie: here.cookie });
    // Browsers send a cookie to every port of its host.
    const jar = new Map([here, there].map(({ cookie }) => cookie.split('=') as [string, string]));
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    expect(jar.size).toBe(2);
    const headers = { ...samePage, cookie };
    expect(outcome(await send('GET', '/console/session', { headers }))).toBe('200 ');
    expect(outcome(await other.send('GET', '/console/session', { headers }))).toBe('200 ');
  });

  it('refuses more keys than a session holds, and keeps those it has', async () => {
    const max = limits.consoleSessionKeysMax;
    const first = await signIn({ key: api.keys.dev });
    const headers = { ...samePage, cookie: first.cookie };
    Object.assign(limits, { consoleSessionKeysMax: 1 });
    try {
      const came = await send('POST', '/console/session', {
        headers,
        body: { key: api.keys.prod },
      });
      expect(outcome(came)).toBe('400 resource_capped');
    } finally {
      Object.assign(limits, { consoleSessionKeysMax: max });
    }
    expect((await send('GET', '/console/session', { headers })).body).toMatchObject({
      keys: first.keys,
    });
  });

  it('lets no page of another origin take a key out', async () => {
    const { cookie, keys, csrf } = await signIn({ key: api.keys.dev });
    const path = `/console/session/keys/${keys[0]!.id}`;
    const headers = { cookie, 'svc-csrf-token': csrf, 'sec-fetch-site': 'cross-site' };
    expect(outcome(await send('DELETE', path, { headers }))).toBe('403 foreign_origin');
    const read = await send('GET', '/console/session', { headers: { ...samePage, cookie } });
    expect(read.body).toMatchObject({ keys });
  });

  it.each([
    ['an unknown key', { key: `svc_env_${'a'.repeat(43)}` }, '401 unknown_account'],
    ['an unknown account key', { key: `svc_acct_${'a'.repeat(43)}` }, '401 unknown_account'],
    ['a text that is no key', { key: '' }, '401 invalid_secret_key_format'],
    ['markup', { key: '<img src=x onerror=alert(1)>' }, '401 invalid_secret_key_format'],
    ['an unknown code', { code: 'a'.repeat(32) }, '401 unknown_console_code'],
    ['a code of another form', { code: "' OR 1=1 --" }, '401 unknown_console_code'],
    ['nothing', {}, '400 invalid_body'],
    ['both', { key: 'a', code: 'b' }, '400 invalid_body'],
  ])('refuses %s', async (_what, body, refusal) => {
    const came = await send('POST', '/console/session', { headers: samePage, body });
    expect(outcome(came)).toBe(refusal);
    expect(came.headers.get('set-cookie')).toBeNull();
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.test' }],
    ['a program that is no browser', {}],
  ])('refuses %s', async (_what, headers) => {
    const came = await send('POST', '/console/session', { headers, body: { key: api.keys.dev } });
    expect(outcome(came)).toBe('403 foreign_origin');
    expect(came.headers.get('set-cookie')).toBeNull();
  });
});

describe('a code', () => {
  const create = (key: string) => api.call('POST', '/console/codes', { key });

  it('signs in once, in place of the key that made it', async () => {
    for (const key of [api.keys.dev, api.keys.account]) {
      const made = await create(key);
      expect(codeOf(made)).toBe('201 ');
      const code = made.at('data.code') as string;
      expect(made.at('data.url')).toBe(`http://gateway.test/console#code=${code}`);
      const browser = await signIn({ code });
      expect(browser.keys).toHaveLength(1);
      const again = await send('POST', '/console/session', { headers: samePage, body: { code } });
      expect(outcome(again)).toBe('401 unknown_console_code');
    }
  });

  it('used twice at the same time on two nodes signs in one browser', async () => {
    const code = (await create(api.keys.dev)).at('data.code') as string;
    const sent = { headers: samePage, body: { code } };
    const came = await Promise.all([
      send('POST', '/console/session', sent),
      send('POST', '/console/session', { ...sent, url: otherNode }),
    ]);
    expect(came.map(outcome).sort()).toEqual(['201 ', '401 unknown_console_code']);
  });

  it('does not work after five minutes, nor for a key that was deleted', async () => {
    const late = (await create(api.keys.dev)).at('data.code') as string;
    clock.forward(limits.consoleCodeMs);
    const key = await makeListingKey(api, 'of a code');
    const orphaned = (await create(key.secret)).at('data.code') as string;
    await key.delete();
    for (const code of [late, orphaned]) {
      const came = await send('POST', '/console/session', { headers: samePage, body: { code } });
      expect(outcome(came)).toBe('401 unknown_console_code');
    }
  });
});

describe('a session', () => {
  const read = (headers: Record<string, string>, url = api.url) =>
    send('GET', '/integrations', { headers, url });

  it('that is signed out is over on every node, and its cookie is removed', async () => {
    const browser = await signIn({ key: api.keys.dev });
    const headers = browser.as(idOf(browser));
    expect(outcome(await read(headers, otherNode))).toBe('200 ');
    const tail = await openTail(headers);
    const out = await send('DELETE', '/console/session', { headers });
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toMatch(/^svc_console_[0-9a-f]{16}=; .*Max-Age=0/);
    for (const url of [otherNode, api.url]) {
      expect(outcome(await read(headers, url))).toBe('401 unknown_console_session');
    }
    const shown = await send('GET', '/console/session', { headers });
    expect(outcome(shown)).toBe('401 unknown_console_session');
    expect((await send('DELETE', '/console/session', { headers })).status).toBe(204);
    // What it was following ends with it.
    await once(tail, 'end');
  });

  it('loses a key at once when that is deleted, on every node, and ends with its last one', async () => {
    const key = await makeListingKey(api, 'short-lived');
    const browser = await signIn({ key: key.secret });
    const headers = browser.as(key.id);
    for (const url of [api.url, otherNode]) expect(outcome(await read(headers, url))).toBe('200 ');
    await key.delete();
    for (const url of [otherNode, api.url]) {
      expect(outcome(await read(headers, url))).toBe('401 unknown_console_session');
    }
    const shown = await send('GET', '/console/session', { headers });
    expect(outcome(shown)).toBe('401 unknown_console_session');
  });

  it('gives a key back', async () => {
    const first = await signIn({ key: api.keys.dev });
    const both = await signIn({ key: api.keys.prod }, { cookie: first.cookie });
    const [dev, prod] = [idOf(both, 0), idOf(both, 1)];
    const headers = both.as(prod);
    const remove = (id: string) => send('DELETE', `/console/session/keys/${id}`, { headers });
    expect((await remove(prod)).status).toBe(204);
    expect(outcome(await remove(prod))).toBe('404 not_found');
    expect(outcome(await read(headers))).toBe('401 unknown_console_session');
    expect(outcome(await read(both.as(dev)))).toBe('200 ');
    expect((await remove(dev)).status).toBe(204);
    expect(outcome(await remove(dev))).toBe('401 unknown_console_session');
  });

  it('ends two hours after its last use, and twelve after the sign-in', async () => {
    const hour = 3_600_000;
    const [idle, inUse] = [
      await signIn({ key: api.keys.dev }),
      await signIn({ key: api.keys.dev }),
    ];
    const use = () => read(inUse.as(idOf(inUse)));
    const token = inUse.cookie.split('=')[1]!;
    const usedAt = async () => (await findSession(api.services, token))?.usedAt;
    for (let hours = 1; hours < 12; hours += 1) {
      clock.forward(hour - 60_000);
      const from = clock.now();
      expect(outcome(await use())).toBe('200 ');
      // The use, which is noted after the response, is in the log before the clock goes on.
      await expect.poll(usedAt).toBeGreaterThanOrEqual(from);
      if (hours === 3) {
        const came = await read(idle.as(idOf(idle)));
        expect(outcome(came)).toBe('401 unknown_console_session');
      }
    }
    // Eleven times 59 minutes, and these.
    clock.forward(hour + 12 * 60_000);
    expect(outcome(await use())).toBe('401 unknown_console_session');
  });

  it.each(['', 'x', '"', "' OR 1=1 --", '../../etc', 'a'.repeat(43), '%00', '__proto__'])(
    'is not found by the cookie %j',
    async (value) => {
      const [name] = (await signIn({ key: api.keys.dev })).cookie.split('=');
      const headers = { ...samePage, cookie: `a=b; ${name}=${value}; c` };
      const came = await send('GET', '/console/session', { headers });
      expect(outcome(came)).toBe('401 unknown_console_session');
    },
  );
});

it('sign-ins from one address are limited', async () => {
  let refused: Came | undefined;
  for (let at = 0; at <= limits.consoleSignInsPerMinute; at += 1) {
    const sent = { headers: samePage, body: { key: 'wrong' } };
    const came = await send('POST', '/console/session', sent);
    if (came.status === 429) refused = came;
  }
  expect(refused && outcome(refused)).toBe('429 too_many_request');
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
});
