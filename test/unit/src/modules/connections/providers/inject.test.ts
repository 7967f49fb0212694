import { describe, expect, it } from 'vitest';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { buildProviderRequest, type ProviderCall } from '#modules/connections/providers/inject.ts';

const provider = (over: Partial<Provider> = {}): Provider => ({
  name: 'crm',
  display_name: 'CRM',
  categories: ['crm'],
  auth_mode: 'NONE',
  docs: 'https://docs.example',
  proxy: { base_url: 'https://api.crm.example/v1/' },
  ...over,
});

const call = (over: Partial<ProviderCall> = {}): ProviderCall => ({
  provider: provider(),
  connection: { credentials: null, connectionConfig: {}, metadata: {} },
  integration: {},
  now: 0,
  method: 'get',
  endpoint: '/contacts',
  isEndpointTemplate: false,
  ...over,
});

const withCredentials = (credentials: Record<string, string>): Partial<ProviderCall> => ({
  connection: { credentials, connectionConfig: {}, metadata: {} },
});

describe('the URL of a call', () => {
  it.each([
    ['/contacts', 'https://api.crm.example/v1/contacts'],
    ['contacts', 'https://api.crm.example/v1/contacts'],
    ['//contacts', 'https://api.crm.example/v1/contacts'],
    ['', 'https://api.crm.example/v1'],
    ['/contacts?a=1&b=%20', 'https://api.crm.example/v1/contacts?a=1&b=%20'],
    ['https://api.crm.example/v1/contacts', 'https://api.crm.example/v1/contacts'],
    ['/v1/contacts', 'https://api.crm.example/v1/contacts'],
    ['v1/contacts?a=1', 'https://api.crm.example/v1/contacts?a=1'],
    ['/v1?a=1', 'https://api.crm.example/v1?a=1'],
    ['/v1', 'https://api.crm.example/v1'],
    ['/v10/contacts', 'https://api.crm.example/v1/v10/contacts'],
    ['/v1/v1/contacts', 'https://api.crm.example/v1/v1/contacts'],
    ['https://api.crm.example/v1/v1/contacts', 'https://api.crm.example/v1/v1/contacts'],
    ['/group%2Fproject', 'https://api.crm.example/v1/group%2Fproject'],
    ['@evil.example/x', 'https://api.crm.example/v1/@evil.example/x'],
    ['/${apiKey}', 'https://api.crm.example/v1/$%7BapiKey%7D'],
  ])('of %s is %s', (endpoint, expected) => {
    expect(buildProviderRequest(call({ endpoint })).url.href).toBe(expected);
  });

  it.each([
    '/../admin',
    '/a/../../admin',
    '/%2e%2e/admin',
    '/..%2fadmin',
    '/%252e%252e/admin',
    '/a\\b',
    '/a%5Cb',
    '/a\r\nb',
    '/a%0d%0ab',
    '/a%00b',
  ])('refuses %j, which could leave the base path', (endpoint) => {
    expect(() => buildProviderRequest(call({ endpoint }))).toThrow(
      expect.objectContaining({ code: 'url_not_allowed' }) as Error,
    );
  });

  it('replaces query keys by params, joins lists, drops what is not set', () => {
    const params = { a: 2, list: ['x', 'y'], none: null, gone: undefined, 'page[size]': 5 };
    const { url } = buildProviderRequest(call({ endpoint: '/c?a=1&b=1&$filter=x%20y', params }));
    expect(url.search).toBe('?b=1&$filter=x%20y&a=2&list=x%2Cy&page%5Bsize%5D=5');
  });

  it('takes params as text only when the endpoint has no query', () => {
    expect(buildProviderRequest(call({ params: 'a=1' })).url.search).toBe('?a=1');
    expect(() => buildProviderRequest(call({ endpoint: '/c?b=1', params: 'a=1' }))).toThrow(
      expect.objectContaining({ code: 'invalid_query_params' }) as Error,
    );
  });

  it('needs a base that can be filled', () => {
    const open = provider({ proxy: { base_url: 'https://${connectionConfig.site}.example' } });
    expect(() => buildProviderRequest(call({ provider: open }))).toThrow(
      expect.objectContaining({ code: 'missing_api_url' }) as Error,
    );
    const none = provider({ proxy: {} });
    expect(() => buildProviderRequest(call({ provider: none }))).toThrow(
      expect.objectContaining({ code: 'unsupported_provider' }) as Error,
    );
    const override = call({ provider: none, baseUrlOverride: 'https://other.example/x' });
    expect(buildProviderRequest(override).url.href).toBe('https://other.example/x/contacts');
  });

  it('fills the endpoint of a function, percent-encoded', () => {
    const connection = { credentials: null, connectionConfig: { id: 'a/b' }, metadata: {} };
    const request = call({
      connection,
      endpoint: '/c/${connectionConfig.id}',
      isEndpointTemplate: true,
    });
    expect(buildProviderRequest(request).url.pathname).toBe('/v1/c/a%2Fb');
  });
});

describe('credentials of a call', () => {
  it('of BASIC go where the headers of the provider place them, and nowhere else', () => {
    const headers = { 'api-key': '${username}', 'api-secret': '${password}' };
    const of = provider({ auth_mode: 'BASIC', proxy: { base_url: 'https://a.example', headers } });
    const credentials = { username: 'u', password: 'p' };
    const built = buildProviderRequest(call({ provider: of, ...withCredentials(credentials) }));
    expect(built.headers).toMatchObject({ 'api-key': 'u', 'api-secret': 'p' });
    expect(built.headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['OAUTH2', { access_token: 'at' }, 'Bearer at'],
    ['APP', { access_token: 'at' }, 'Bearer at'],
    ['OAUTH2_CC', { token: 'tk' }, 'Bearer tk'],
    ['JWT', { token: 'tk' }, 'Bearer tk'],
    ['TWO_STEP', { token: 'tk' }, 'Bearer tk'],
    ['BASIC', { username: 'u', password: 'p' }, `Basic ${Buffer.from('u:p').toString('base64')}`],
    ['API_KEY', { apiKey: 'k' }, undefined],
    ['NONE', {}, undefined],
  ] as const)('of %s %j are sent as %s', (auth_mode, credentials, expected) => {
    const request = call({ provider: provider({ auth_mode }), ...withCredentials(credentials) });
    expect(buildProviderRequest(request).headers['authorization']).toBe(expected);
  });

  it('§5.4 templates of the provider: what cannot be resolved is left out', () => {
    const keyed = provider({
      auth_mode: 'API_KEY',
      proxy: {
        base_url: 'https://api.crm.example',
        headers: { 'X-Key': '${apiKey}', 'x-tenant': '${connectionConfig.tenant}' },
        query: { key: '${apiKey}', tenant: '${connectionConfig.tenant}' },
      },
    });
    const request = call({ provider: keyed, ...withCredentials({ apiKey: 'k/1' }) });
    const { headers, url, credentialHeaders } = buildProviderRequest(request);
    expect(headers).toMatchObject({ 'x-key': 'k/1' });
    expect(headers).not.toHaveProperty('x-tenant');
    expect(url.search).toBe('?key=k%2F1');
    expect(credentialHeaders).toEqual(expect.arrayContaining(['x-key', 'authorization', 'cookie']));
  });

  it('§5.1 headers: the caller wins, but for the user agent of the provider', () => {
    const agent = provider({
      auth_mode: 'OAUTH2',
      proxy: { base_url: 'https://api.crm.example', headers: { 'user-agent': 'theirs', a: '1' } },
    });
    const headers = { Authorization: 'Bearer mine', 'User-Agent': 'mine', A: '2' };
    const request = call({ provider: agent, headers, ...withCredentials({ access_token: 'at' }) });
    expect(buildProviderRequest(request).headers).toMatchObject({
      authorization: 'Bearer mine',
      'user-agent': 'theirs',
      a: '2',
    });
  });

  it.each([
    ['a\r\nx-evil: 1', 'a line break'],
    ['a\u010ax-evil: 1', 'a character whose last byte is a line break'],
    ['ключ', 'text beyond Latin-1'],
  ])('does not let a credential start a new header: %j (%s)', (access_token) => {
    const request = call({
      provider: provider({ auth_mode: 'OAUTH2' }),
      ...withCredentials({ access_token }),
    });
    expect(() => buildProviderRequest(request)).toThrow(
      expect.objectContaining({
        code: 'invalid_headers',
        details: {
          errors: [
            {
              code: 'custom',
              message: expect.stringMatching(
                /^The header to the provider has a line break/,
              ) as string,
              path: ['authorization'],
            },
          ],
        },
      }) as Error,
    );
  });

  it('of OAUTH1 sign the whole request', () => {
    const request = call({
      provider: provider({ auth_mode: 'OAUTH1' }),
      connection: {
        credentials: { oauth_token: 't', oauth_token_secret: 's' },
        connectionConfig: {},
        metadata: {},
      },
    });
    const { headers } = buildProviderRequest(request);
    expect(headers['authorization']).toMatch(
      /^OAuth oauth_consumer_key=.*oauth_token="t".*oauth_signature=/,
    );
  });
});

describe('the body of a call', () => {
  const send = (over: Partial<ProviderCall>) =>
    buildProviderRequest(call({ method: 'POST', ...over }));

  it('§5.2 objects and lists are JSON', () => {
    expect(send({ data: { a: [1] } })).toMatchObject({
      body: '{"a":[1]}',
      headers: { 'content-type': 'application/json' },
    });
    expect(send({ data: [1] }).body).toBe('[1]');
  });

  it('§5.2 an object is a form where the header says so', () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(send({ data: { a: 'x y', b: ['1', '2'] }, headers }).body).toBe(
      'a=x+y&b%5B%5D=1&b%5B%5D=2',
    );
  });

  it('§5.2 an object is multipart where the header says so', () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=theirs' };
    const request = send({ data: { a: 'x', file: Buffer.from('bytes') }, headers });
    const boundary = /boundary=(.+)$/.exec(request.headers['content-type'] ?? '')?.[1];
    expect(boundary).toMatch(/^svc-/);
    expect(Buffer.from(request.body as Uint8Array).toString()).toBe(
      `--${boundary!}\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n` +
        `--${boundary!}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n` +
        `Content-Type: application/octet-stream\r\n\r\nbytes\r\n--${boundary!}--\r\n`,
    );
  });

  it('§5.2 text and bytes are sent as they are', () => {
    expect(send({ data: 'a=1' }).headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(send({ data: Buffer.from([1, 2]) }).body).toEqual(Buffer.from([1, 2]));
    expect(
      send({
        data: new URLSearchParams([
          ['a', '1'],
          ['a', '2'],
        ]),
      }).body,
    ).toBe('a=1&a=2');
  });

  it('is never sent with GET, and gets the fields of the provider', () => {
    expect(buildProviderRequest(call({ data: { a: 1 } }))).not.toHaveProperty('body');
    const merged = provider({
      auth_mode: 'API_KEY',
      proxy: { base_url: 'https://a.example', body: { key: '${apiKey}', gone: '${metadata.x}' } },
    });
    const request = send({ provider: merged, data: { a: 1 }, ...withCredentials({ apiKey: 'k' }) });
    expect(JSON.parse(request.body as string)).toEqual({ key: 'k', a: 1 });
  });
});
