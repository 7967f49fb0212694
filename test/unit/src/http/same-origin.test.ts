import { describe, expect, it } from 'vitest';
import { routes, streamRoutes } from '#api/routes.ts';
import { cookieOf, isLoopbackHost, isSameOrigin, takesConsoleCookie } from '#http/same-origin.ts';

const host = 'gateway.test:8443';
const own = `https://${host}`;
const publicUrl = 'https://public.test/base';

describe('a request from a page of this origin', () => {
  const of = (headers: object, isChange = true) =>
    isSameOrigin({ host, ...headers }, { publicUrl, isChange });

  it.each([
    ['says so', { 'sec-fetch-site': 'same-origin' }],
    ['says so with its origin', { 'sec-fetch-site': 'same-origin', origin: own }],
    ['says so and hides its origin', { 'sec-fetch-site': 'same-origin', origin: 'null' }],
    ['names its origin alone', { origin: own }],
    ['names its origin where the host has capitals', { origin: own, host: 'Gateway.TEST:8443' }],
    ['names the public address behind a proxy', { origin: 'https://public.test', host: 'inner' }],
  ])('%s', (_what, headers) => {
    expect(of(headers)).toBe(true);
    expect(of(headers, false)).toBe(true);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    [
      'another port of this host',
      { 'sec-fetch-site': 'same-site', origin: 'https://gateway.test' },
    ],
    ['a link or the address bar', { 'sec-fetch-site': 'none' }],
    [
      'another origin that claims to be this one',
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.test' },
    ],
    ['another origin', { origin: 'https://evil.test' }],
    ['an origin that begins like this one', { origin: `${own}.evil.test` }],
    ['a sandboxed page', { origin: 'null' }],
    ['an origin that is none', { origin: 'gateway.test' }],
    ['an empty origin', { origin: '' }],
    ['two origins', { origin: `${own}, https://evil.test` }],
    ['two values of a site', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ])('is not one of %s', (_what, headers) => {
    expect(of(headers)).toBe(false);
    expect(of(headers, false)).toBe(false);
  });

  it('may say nothing only where it changes nothing', () => {
    expect(of({}, false)).toBe(true);
    expect(of({})).toBe(false);
  });
});

describe('a host', () => {
  it.each([
    'localhost',
    'localhost:3003',
    '127.0.0.1',
    '127.0.0.1:3003',
    '[::1]:3003',
    'LOCALHOST',
  ])('%s is this machine', (name) => {
    expect(isLoopbackHost(name)).toBe(true);
  });
  it.each([
    '',
    'localhost.evil.test',
    '127.0.0.1.evil.test',
    'gateway.test',
    '10.0.0.1',
    'a b',
    '[::2]',
  ])('%s is not', (name) => {
    expect(isLoopbackHost(name)).toBe(false);
  });
});

it('a cookie is found by its whole name', () => {
  const header = 'a=1; xsvc=2;svc=3 ; svc2=4; svc=5';
  expect(cookieOf(header, 'svc')).toBe('3');
  expect(cookieOf(header, 'sv')).toBeNull();
  expect(cookieOf(undefined, 'svc')).toBeNull();
});

it('the cookie counts where a key does, but where others write the answer or a browser arrives', () => {
  const all = [...routes, ...streamRoutes];
  const keyed = all.filter(({ credential }) => !['connect', 'none'].includes(credential));
  const closed = keyed.filter((route) => !takesConsoleCookie(route)).map(({ path }) => path);
  const expected = ['/console/codes', '/mcp', '/mcp/management', '/proxy/{path}'];
  expect([...new Set(closed)].sort()).toEqual(expected);
  const taking = all.filter(takesConsoleCookie).map(({ path }) => path);
  const connect = taking.filter((path) => /^\/(connect|oauth|webhook)(\/|$)/.test(path));
  expect(connect).toEqual(['/connect/sessions', '/connect/sessions/reconnect']);
  const open = all.filter(({ credential }) => ['connect', 'none'].includes(credential));
  expect(open.filter(takesConsoleCookie)).toEqual([]);
});
