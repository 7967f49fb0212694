import { describe, expect, it } from 'vitest';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { buildProviderRequest, type CallParties } from '#modules/connections/providers/inject.ts';
import { prepareCalls } from '#modules/connections/providers/prepared-calls.ts';
import type { Destination } from '#ports/http-client.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';

const provider = (over: Partial<Provider> = {}): Provider => ({
  name: 'crm',
  display_name: 'CRM',
  categories: ['crm'],
  auth_mode: 'NONE',
  docs: 'https://docs.example',
  proxy: { base_url: 'https://api.crm.example/v1/' },
  ...over,
});

const parties = (over: Partial<Provider> = {}, credentials = {}): CallParties => ({
  provider: provider(over),
  connection: { credentials, connectionConfig: { site: 'acme' }, metadata: {} },
  integration: {},
});

const base_url = 'https://api.crm.example/v1';
const token = { access_token: 't', token: 't', apiKey: 'k', username: 'u', password: 'p' };

const built = (of: CallParties, endpoint: string, headers = {}) =>
  buildProviderRequest({
    ...of,
    now: 0,
    method: 'GET',
    endpoint,
    isEndpointTemplate: false,
    headers,
  });

describe('what is prepared for all calls of a connection', () => {
  it.each<[string, Partial<Provider>]>([
    ['API_KEY', { proxy: { base_url, headers: { 'X-Key': '${apiKey}', 'User-Agent': 'crm' } } }],
    ['API_KEY', { proxy: { base_url, headers: { 'content-type': 'text/x', accept: 'a/b' } } }],
    ['BASIC', { auth_mode: 'BASIC' }],
    ['OAUTH2', { auth_mode: 'OAUTH2' }],
    ['JWT', { auth_mode: 'JWT' }],
    ['NONE', { proxy: { base_url: 'https://${connectionConfig.site}.crm.example' } }],
  ])('is what each call would be made of (%s)', (_, over) => {
    const of = parties(over, token);
    const calls = prepareCalls(of);
    for (const own of [{}, { 'X-A': '1', 'user-agent': 'me' }, { 'content-type': 'a/b' }]) {
      const { headers, url, credentialHeaders } = built(of, '/a', own);
      expect(calls?.headers(own)).toEqual(headers);
      expect(calls?.url('/a')?.href).toBe(url.href);
      expect(calls?.credentialHeaders).toEqual(credentialHeaders);
      // Without a path in the base nothing is repeated; with one it is left to the slower way.
      const repeated = calls?.url('/v1/a')?.href ?? built(of, '/v1/a').url.href;
      expect(repeated).toBe(built(of, '/v1/a').url.href);
      expect(repeated).not.toContain('/v1/v1');
    }
  });

  it.each<[string, Partial<Provider>]>([
    ['the time', { proxy: { base_url, headers: { at: '${now}' } } }],
    ['a random value', { proxy: { base_url, headers: { nonce: '${random}' } } }],
    ['the call', { proxy: { base_url, headers: { signed: '${sha256Hex(${method}${path})}' } } }],
    [
      'a random value of the configuration',
      {
        proxy: {
          base_url: 'https://api.crm.example/${connectionConfig.at}',
          connection_config: { at: '${random}' },
        },
      },
    ],
    ['a signature', { auth_mode: 'OAUTH1' }],
    ['the query', { proxy: { base_url, query: { key: '${apiKey}' } } }],
    ['the body', { proxy: { base_url, body: { key: '${apiKey}' } } }],
    ['a base with a query', { proxy: { base_url: `${base_url}?a=1` } }],
    ['no base', { proxy: {} }],
    ['a value that is missing', { proxy: { base_url: 'https://${connectionConfig.other}' } }],
  ])('is nothing where calls are made of %s', (_, over) => {
    const secrets = { ...token, oauth_token: 'a', oauth_token_secret: 'b' };
    expect(prepareCalls(parties(over, secrets))).toBeNull();
  });

  it('is nothing where a credential could become a second header', () => {
    const over = { auth_mode: 'OAUTH2' } as const;
    expect(prepareCalls(parties(over, { access_token: 'a\r\nx-admin: 1' }))).toBeNull();
  });

  it('refuses a header of the caller that could', () => {
    const calls = prepareCalls(parties());
    expect(() => calls?.headers({ a: 'b\r\nc: d' })).toThrow(
      expect.objectContaining({ code: 'invalid_headers' }),
    );
  });
});

describe('the URL of an endpoint that needs no reading', () => {
  const bases = [
    'https://api.crm.example',
    'https://api.crm.example:443/v1//',
    'http://127.0.0.1:8080/a/../b/.',
    'https://[::1]:1/%7Ex',
  ];
  const partsOf = (url: Destination) => {
    const { href, origin, protocol, host, hostname, port, pathname, search } = url;
    return { href, origin, protocol, host, hostname, port, pathname, search };
  };
  const agree = (base: string, endpoint: string): boolean => {
    const of = parties({ proxy: { base_url: base } });
    const url = prepareCalls(of)?.url(endpoint) ?? null;
    if (url === null) return false;
    expect(partsOf(url), `${base} and ${endpoint}`).toEqual(partsOf(built(of, endpoint).url));
    return true;
  };

  it.each(['/a', '/a/', '/a/b.json', '/users/12?limit=1&at=a.b/c', '/a;v=1/@me', '/~x/(1)'])(
    'is what reading it gives: %s',
    (endpoint) => {
      for (const base of bases) expect(agree(base, endpoint)).toBe(true);
    },
  );

  it.each([
    '/',
    '//a',
    '/a//b',
    '/../a',
    '/a/..',
    '/a/.b',
    '/%2e%2e/a',
    '/a\\b',
    '/https://b',
    '/a#b',
    '/a?',
    '/a?b?c',
    '/a\r\nb',
    '/ä',
    '/a b',
    "/a?b='",
    '',
  ])('is read: %j', (endpoint) => {
    for (const base of bases) expect(agree(base, endpoint)).toBe(false);
  });

  it('is what reading it gives, whatever the endpoint', () => {
    const seed = seedOfRun();
    const random = seeded(seed);
    const marks = 'aZ0_-.~!$&()*+,;=@:%/?#\\\'" {}^|ä\t'.split('');
    for (let n = 0; n < 2_000; n += 1) {
      const length = 1 + (n % 7);
      const endpoint = `/${Array.from({ length }, () => random.pick(marks)).join('')}`;
      expect(() => bases.map((base) => agree(base, endpoint)), `seed ${seed}`).not.toThrow();
    }
  });
});
