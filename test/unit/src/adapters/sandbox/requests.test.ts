import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { HostCalls, HttpAnswer, HttpCall } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf, recording, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

const reply = (
  status: number,
  headers: Record<string, string> = {},
): Extract<HttpAnswer, { outcome: 'reply' }> => ({
  outcome: 'reply',
  status,
  statusText: 'Said',
  headers,
  url: 'https://crm.test/full?x=1',
});

function http(answer: HttpAnswer, body = '') {
  const calls: HttpCall[] = [];
  const host: HostCalls = {
    http: async (args) => {
      calls.push(JSON.parse(args) as HttpCall);
      return { json: JSON.stringify(answer), body };
    },
  };
  return { host, calls };
}

describe('requests', () => {
  it('a response with cookies has them as a list, and so has its error', async () => {
    const setCookies = ['sid=a; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=1,2'];
    const answer = { ...reply(200, { 'x-many': 'a, b' }), setCookies };
    const got = await outputOf(
      sandbox,
      `return (await svc.get({ endpoint: '/a' })).headers;`,
      http(answer, '{}'),
    );
    expect(got).toEqual({ 'x-many': 'a, b', 'set-cookie': setCookies });
    const failed = await outputOf(
      sandbox,
      `try { await svc.get({ endpoint: '/a' }); } catch (error) { return error.response.headers['set-cookie']; }`,
      http({ ...answer, status: 401 }, '{}'),
    );
    expect(failed).toEqual(setCookies);
  });

  it('uncontrolledFetch lists cookies, and reads bodies with a mark or a charset', async () => {
    const fetching = (type: string, bytes: Uint8Array) => ({
      host: {
        fetch: async () => ({
          json: JSON.stringify({
            ...reply(200, { 'content-type': type }),
            setCookies: ['a=1,2', 'b=2'],
          }),
          body: Buffer.from(bytes).toString('latin1'),
        }),
      } satisfies HostCalls,
    });
    const marked = fetching('application/json', Buffer.from('\ufeff{"a":"ä"}'));
    const code = `const r = await svc.uncontrolledFetch({ url: 'https://crm.test/' });
      return [await r.json(), r.headers.getSetCookie(), [...r.headers].filter(([name]) => name === 'set-cookie').length];`;
    expect(await outputOf(sandbox, code, marked)).toEqual([{ a: 'ä' }, ['a=1,2', 'b=2'], 2]);
    const latin = fetching('text/plain; charset="ISO-8859-1"', Buffer.from('ä', 'latin1'));
    const text = `return (await svc.uncontrolledFetch({ url: 'https://crm.test/' })).text();`;
    expect(await outputOf(sandbox, text, latin)).toBe('ä');
  });

  it('§5.1 every field of a call crosses, §5.1 forwardHeadersOnRedirect with them', async () => {
    const { host, calls } = http(reply(200), '{}');
    await outputOf(
      sandbox,
      `await svc.post({ endpoint: '/a', method: 'GET', params: { a: 1, b: [1, 'x'], c: undefined, d: null, e: new Date(0), f: false },
         headers: { 'X-Upper': 1, skip: undefined }, data: { d: new Date(0), u: undefined }, retries: 3, retryOn: [404],
         retryHeader: { at: 'x-reset' }, baseUrlOverride: 'https://o.test', connectionId: 'other', providerConfigKey: 'k', forwardHeadersOnRedirect: true });`,
      { host },
    );
    expect(calls).toEqual([
      {
        method: 'POST',
        endpoint: '/a',
        params: { a: '1', b: '1,x', e: '1970-01-01T00:00:00.000Z', f: 'false' },
        headers: { 'x-upper': '1' },
        body: { kind: 'json', value: { d: '1970-01-01T00:00:00.000Z' } },
        bodyAs: 'text',
        retries: 3,
        retryOn: [404],
        retryHeader: { at: ['x-reset'], after: [] },
        baseUrlOverride: 'https://o.test',
        connectionId: 'other',
        providerConfigKey: 'k',
        forwardHeadersOnRedirect: true,
      },
    ]);
  });

  it.each([
    ['get', 'GET'],
    ['post', 'POST'],
    ['put', 'PUT'],
    ['patch', 'PATCH'],
    ['delete', 'DELETE'],
    ['proxy', 'GET'],
  ])('§4 get, post, put, patch, delete and proxy: svc.%s sends %s', async (name, method) => {
    const { host, calls } = http(reply(200));
    await outputOf(sandbox, `await svc.${name}({ endpoint: 'x', data: { a: 1 } });`, { host });
    expect(calls[0]).toMatchObject({ method, body: { kind: method === 'GET' ? 'none' : 'json' } });
  });

  it.each([
    [`'a=b'`, { kind: 'text', text: 'a=b' }],
    [`new URLSearchParams({ a: 'b c' })`, { kind: 'form', text: 'a=b+c' }],
    [`Buffer.from('hi')`, { kind: 'bytes', base64: 'aGk=' }],
    [`new Uint8Array([1]).buffer`, { kind: 'bytes', base64: 'AQ==' }],
    [`new Blob(['hi'])`, { kind: 'bytes', base64: 'aGk=' }],
    [`[1, { a: null }]`, { kind: 'json', value: [1, { a: null }] }],
    [
      `{ file: Buffer.from('hi'), name: 'n' }`,
      {
        kind: 'fields',
        fields: [
          ['file', { base64: 'aGk=' }],
          ['name', { value: 'n' }],
        ],
      },
    ],
    [`null`, { kind: 'none' }],
    [`0`, { kind: 'json', value: 0 }],
  ])('§5.2 bodies: %s', async (data, body) => {
    const { host, calls } = http(reply(200));
    await outputOf(sandbox, `await svc.post({ endpoint: 'x', data: ${data} });`, { host });
    expect(calls[0]?.body).toEqual(body);
  });

  it('a FormData becomes multipart bytes under a content-type with the boundary', async () => {
    const { host, calls } = http(reply(200));
    const body = `const form = new FormData(); form.append('a', 'é'); form.append('f', new Blob(['x'], { type: 'text/plain' }), 'f.txt');
      await svc.post({ endpoint: 'x', data: form });`;
    await outputOf(sandbox, body, { host });
    const [call] = calls;
    const boundary = /boundary=(.*)$/.exec(call?.headers?.['content-type'] ?? '')?.[1];
    const sent = Buffer.from(call?.body.kind === 'bytes' ? call.body.base64 : '', 'base64');
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const whole = new Response(sent, { headers });
    // oxlint-disable-next-line typescript/no-deprecated -- the judge of our encoding; sizes are small
    const form = await whole.formData();
    expect(form.get('a')).toBe('é');
    expect(await (form.get('f') as File).text()).toBe('x');
    expect((form.get('f') as File).name).toBe('f.txt');
  });

  it.each([
    [
      'json',
      '{"a":[1]}',
      `[response.data, response.status, response.statusText, response.headers['x-a'], response.config.url, response.config.endpoint]`,
      [{ a: [1] }, 201, 'Said', '1', 'https://crm.test/full?x=1', 'x'],
    ],
    ['json', 'not json', 'response.data', 'not json'],
    ['json', '', 'response.data', ''],
    ['text', '{"a":1}', 'response.data', '{"a":1}'],
    [
      'arraybuffer',
      '\xff\x00a',
      '[Buffer.isBuffer(response.data), response.data.toString("hex")]',
      [true, 'ff0061'],
    ],
    ['blob', 'hi', 'response.data.size', 2],
  ])('§5.1 responseType, §5.3 data: an answer as %s: %j', async (type, body, read, expected) => {
    const { host } = http(reply(201, { 'x-a': '1' }), body);
    const code = `const response = await svc.get({ endpoint: 'x', responseType: '${type}' }); return ${read};`;
    expect(await outputOf(sandbox, code, { host })).toEqual(expected);
  });

  it.each([
    [404, 'ERR_BAD_REQUEST'],
    [503, 'ERR_BAD_RESPONSE'],
    [302, 'ERR_BAD_REQUEST'],
  ])('§5.3 another status: %i throws an error of the usual form', async (status, code) => {
    const { host } = http(reply(status, { 'retry-after': '3' }), '{"why":"x"}');
    const body = `try { await svc.get({ endpoint: 'x', params: { a: 1 } }); } catch (error) {
      return [error instanceof Error, error.isAxiosError, error.message, error.code, error.status, error.response.status,
        error.response.data, error.response.headers['retry-after'], error.config.url]; }`;
    expect(await outputOf(sandbox, body, { host })).toEqual([
      true,
      true,
      `Request failed with status code ${status}`,
      code,
      status,
      status,
      { why: 'x' },
      '3',
      'https://crm.test/full?x=1',
    ]);
  });

  it('§5.3 a network failure throws the same without a response', async () => {
    const { host } = http({
      outcome: 'failure',
      code: 'ECONNRESET',
      message: 'reset',
      url: 'https://crm.test/',
    });
    const body = `try { await svc.get({ endpoint: 'x' }); } catch (error) { return [error.isAxiosError, error.code, error.message, 'response' in error]; }`;
    expect(await outputOf(sandbox, body, { host })).toEqual([true, 'ECONNRESET', 'reset', false]);
  });

  it('a failure that is not caught says what the provider said', async () => {
    const { host } = http(
      reply(422, {
        'content-type': 'application/json',
        'x-ratelimit-left': '0',
        'set-cookie': 'secret',
      }),
      '{"why":"x"}',
    );
    expect(await runGuest(sandbox, `await svc.get({ endpoint: 'x' });`, { host })).toMatchObject({
      error: {
        kind: 'http',
        payload: { why: 'x' },
        upstream: {
          status: 422,
          headers: { 'content-type': 'application/json', 'x-ratelimit-left': '0' },
          body: { why: 'x' },
        },
      },
    });
    const text = http(reply(500), 'broken');
    expect(
      await runGuest(sandbox, `await svc.get({ endpoint: 'x' });`, { host: text.host }),
    ).toMatchObject({
      error: { kind: 'http', payload: { message: 'broken' } },
    });
    const none = http({ outcome: 'failure', code: 'ETIMEDOUT', message: 'late', url: '' });
    expect(
      await runGuest(sandbox, `await svc.get({ endpoint: 'x' });`, { host: none.host }),
    ).toMatchObject({
      error: { kind: 'network', code: 'ETIMEDOUT', message: 'late' },
    });
  });

  it('§4 uncontrolledFetch gives a response, and an ActionError for a refused address', async () => {
    const host: HostCalls = {
      fetch: async (args) => ({
        json: JSON.stringify(reply(404, { a: 'b' })),
        body: `\xc3\xa9${JSON.stringify(args.length > 0)}`,
      }),
    };
    const body = `const r = await svc.uncontrolledFetch({ url: new URL('https://x.y/z'), method: 'POST', body: 'é' }); return [r.ok, r.status, r.headers.get('A'), await r.text()];`;
    expect(await outputOf(sandbox, body, { host })).toEqual([false, 404, 'b', 'étrue']);
    const { host: refusing } = recording({ fetch: new GatewayError('url_not_allowed') });
    expect(
      await runGuest(sandbox, `await svc.uncontrolledFetch({ url: 'http://10.0.0.1' });`, {
        host: refusing,
      }),
    ).toMatchObject({
      error: { kind: 'action_error', payload: { code: 'url_not_allowed' } },
    });
  });

  it('a call without an endpoint, or with a stream, is refused before it leaves', async () => {
    for (const config of ['{}', '{ endpoint: "x", responseType: "stream" }', 'undefined']) {
      const result = await runGuest(sandbox, `await svc.get(${config});`);
      expect(result).toMatchObject({ error: { kind: 'error', name: 'TypeError' } });
    }
  });
});
