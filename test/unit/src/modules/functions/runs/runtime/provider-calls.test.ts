import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { RuntimeDeps } from '#modules/functions/runs/runtime/deps.ts';
import { ask, failure, fakeHttp, fakeRuntime, ok, provider } from './fakes.ts';

const get = { method: 'GET', endpoint: '/items', body: { kind: 'none' }, bodyAs: 'text' };

/** Connections whose token changes as listed; the last one stays. */
function connectionsWith(tokens: readonly string[], definition: Provider = provider) {
  let reads = 0;
  const connections: RuntimeDeps['connections'] = {
    ...fakeRuntime().deps.connections,
    open: async () => {
      const version = Math.min(reads++, tokens.length - 1);
      const token = tokens[version] ?? '';
      const credentials = { type: 'OAUTH2', access_token: token };
      const connection = { credentials, connectionConfig: {}, metadata: {} };
      return {
        provider: definition,
        version,
        connection,
        integration: {},
        limit: null,
        view: async () => ({}),
      };
    },
  };
  return { connections, reads: () => reads };
}

const withRetry = (retry: NonNullable<Provider['proxy']>['retry']): Provider => ({
  ...provider,
  proxy: { base_url: 'https://api.crm.test/v1', ...(retry === undefined ? {} : { retry }) },
});

describe('one call', () => {
  it('§5.4 credentials of the run’s connection are injected', async () => {
    const http = fakeHttp(ok({ a: 1 }, { 'x-a': 'b' }));
    const runtime = fakeRuntime({ http: http.client });
    const { value, body } = await ask(runtime.calls, 'http', {
      ...get,
      params: { q: 'x' },
      headers: { 'x-mine': '1' },
    });
    expect(value).toMatchObject({ outcome: 'reply', status: 200, headers: { 'x-a': 'b' } });
    expect(body).toBe('{"a":1}');
    const [request] = http.requests;
    expect(request?.url.href).toBe('https://api.crm.test/v1/items?q=x');
    expect(request?.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-mine': '1' });
    expect(request?.signal).toBe(runtime.deps.signal);
    expect(runtime.opened[0]?.name).toEqual({ integrationKey: 'crm', connectionId: 'c-1' });
  });

  it('§5.1 providerConfigKey and connectionId name another connection', async () => {
    const runtime = fakeRuntime();
    await ask(runtime.calls, 'http', { ...get, connectionId: 'c-2', providerConfigKey: 'other' });
    expect(runtime.opened[0]?.name).toEqual({ integrationKey: 'other', connectionId: 'c-2' });
  });

  it.each([
    [{ kind: 'json', value: { a: 1 } }, '{"a":1}', 'application/json'],
    [{ kind: 'text', text: 'a=b' }, 'a=b', 'application/x-www-form-urlencoded'],
    [{ kind: 'form', text: 'a=b+c' }, 'a=b+c', 'application/x-www-form-urlencoded'],
    [{ kind: 'bytes', base64: 'aGk=' }, 'hi', undefined],
  ])('carries a body %j', async (body, text, type) => {
    const http = fakeHttp(ok());
    await ask(fakeRuntime({ http: http.client }).calls, 'http', { ...get, method: 'DELETE', body });
    const [request] = http.requests;
    expect(Buffer.from(request?.body ?? '').toString()).toBe(text);
    expect(request?.headers['content-type']).toBe(type);
  });

  it('gives bytes as one character each, and text without its byte order mark', async () => {
    const http = fakeHttp(ok(Buffer.from([0xff, 0x00, 0x61])), ok(Buffer.from('\ufeff{}')));
    const { calls } = fakeRuntime({ http: http.client });
    expect((await ask(calls, 'http', { ...get, bodyAs: 'binary' })).body).toBe('\xff\x00a');
    expect((await ask(calls, 'http', get)).body).toBe('{}');
  });

  it('is recorded without query, and with its outcome', async () => {
    const http = fakeHttp(failure('ECONNRESET'), ok({}, {}, 204));
    const runtime = fakeRuntime({ http: http.client });
    await ask(runtime.calls, 'http', { ...get, endpoint: '/items?key=secret', retries: 1 });
    expect(runtime.http).toEqual([
      {
        method: 'GET',
        url: 'https://api.crm.test/v1/items',
        status: null,
        code: 'ECONNRESET',
        durationMs: 0,
        attempt: 1,
      },
      {
        method: 'GET',
        url: 'https://api.crm.test/v1/items',
        status: 204,
        code: null,
        durationMs: 0,
        attempt: 2,
      },
    ]);
  });

  it('is refused when it is not a call', async () => {
    const { calls } = fakeRuntime();
    for (const call of [
      {},
      { ...get, method: 'TRACE' },
      { ...get, endpoint: 5 },
      { ...get, body: { kind: 'x' } },
      { ...get, headers: { a: 1 } },
    ]) {
      await expect(ask(calls, 'http', call)).rejects.toMatchObject({ code: 'invalid_request' });
    }
    await expect(calls.http?.('{')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('that the policy refuses is not retried', async () => {
    const http = fakeHttp(new GatewayError('url_not_allowed'));
    const { calls } = fakeRuntime({ http: http.client });
    await expect(ask(calls, 'http', { ...get, retries: 3 })).rejects.toMatchObject({
      code: 'url_not_allowed',
    });
    expect(http.requests).toHaveLength(1);
  });
});

describe('retries', () => {
  it('§5.1 retries are none unless asked for, whatever the failure', async () => {
    for (const answer of [
      ok({}, {}, 401),
      ok({}, {}, 429),
      ok({}, {}, 503),
      failure('ECONNRESET'),
    ]) {
      const http = fakeHttp(answer);
      await ask(fakeRuntime({ http: http.client }).calls, 'http', get);
      expect(http.requests).toHaveLength(1);
    }
  });

  it('§5.1 retries: three mean four requests, with doubling waits', async () => {
    const http = fakeHttp(ok({}, {}, 500));
    const runtime = fakeRuntime({ http: http.client });
    const { value } = await ask(runtime.calls, 'http', { ...get, retries: 3 });
    expect(http.requests).toHaveLength(4);
    expect(runtime.waits).toEqual([3_000, 6_000, 12_000]);
    expect(value).toMatchObject({ outcome: 'reply', status: 500 });
  });

  it('are at most ten', async () => {
    const http = fakeHttp(ok({}, {}, 500));
    await ask(fakeRuntime({ http: http.client }).calls, 'http', { ...get, retries: 1000 });
    expect(http.requests).toHaveLength(11);
  });

  it('end with the first answer that is not to be asked again', async () => {
    const http = fakeHttp(failure('ETIMEDOUT'), ok({}, {}, 502), ok({}, {}, 404), ok());
    const { value } = await ask(fakeRuntime({ http: http.client }).calls, 'http', {
      ...get,
      retries: 9,
    });
    expect(http.requests).toHaveLength(3);
    expect(value).toMatchObject({ status: 404 });
  });

  it('without an answer to the end say why', async () => {
    const http = fakeHttp(failure('ECONNREFUSED'));
    const { value } = await ask(fakeRuntime({ http: http.client }).calls, 'http', {
      ...get,
      retries: 1,
    });
    expect(value).toMatchObject({
      outcome: 'failure',
      code: 'ECONNREFUSED',
      url: 'https://api.crm.test/v1/items',
    });
    const final = fakeHttp(failure('ENOTFOUND'));
    await ask(fakeRuntime({ http: final.client }).calls, 'http', { ...get, retries: 5 });
    expect(final.requests).toHaveLength(1);
  });

  it('§5.4 the connection is read again before every attempt', async () => {
    const http = fakeHttp(ok({}, {}, 401), ok());
    const { connections, reads } = connectionsWith(['old', 'new']);
    const { value } = await ask(fakeRuntime({ http: http.client, connections }).calls, 'http', {
      ...get,
      retries: 3,
    });
    expect(http.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
    expect(reads()).toBe(2);
    expect(value).toMatchObject({ status: 200 });
  });

  it('§5.5 a 401 whose credentials have not changed ends the retries', async () => {
    const http = fakeHttp(ok({}, {}, 401), ok());
    const runtime = fakeRuntime({ http: http.client, ...connectionsWith(['same']) });
    const { value } = await ask(runtime.calls, 'http', { ...get, retries: 3 });
    expect(http.requests).toHaveLength(1);
    expect(value).toMatchObject({ status: 401 });
  });

  it('stop also when the credentials changed once and are refused again', async () => {
    const http = fakeHttp(ok({}, {}, 401));
    const runtime = fakeRuntime({ http: http.client, ...connectionsWith(['a', 'b']) });
    await ask(runtime.calls, 'http', { ...get, retries: 9 });
    expect(http.requests).toHaveLength(2);
  });

  it('a 401 between other failures stops nothing afterwards', async () => {
    const http = fakeHttp(ok({}, {}, 500), ok({}, {}, 500), ok());
    const { value } = await ask(
      fakeRuntime({ http: http.client, ...connectionsWith(['same']) }).calls,
      'http',
      { ...get, retries: 3 },
    );
    expect(value).toMatchObject({ status: 200 });
  });

  it('§5.5 statuses of the provider, §5.5 retryOn: the call’s besides the provider’s', async () => {
    const { connections } = connectionsWith(['t'], withRetry({ error_code: ['403'] }));
    const limited = fakeHttp(ok({}, {}, 429));
    await ask(fakeRuntime({ http: limited.client, connections }).calls, 'http', {
      ...get,
      retries: 2,
    });
    expect(limited.requests).toHaveLength(1);
    const listed = fakeHttp(ok({}, {}, 403));
    await ask(fakeRuntime({ http: listed.client, connections }).calls, 'http', {
      ...get,
      retries: 2,
    });
    expect(listed.requests).toHaveLength(3);
    const also = fakeHttp(ok({}, {}, 404));
    await ask(fakeRuntime({ http: also.client, connections }).calls, 'http', {
      ...get,
      retries: 2,
      retryOn: [404],
    });
    expect(also.requests).toHaveLength(3);
  });

  it('§5.1 retryHeader: waits as the headers say, those of the call first', async () => {
    const { connections } = connectionsWith(['t'], withRetry({ after: ['retry-after'] }));
    const http = fakeHttp(
      ok({}, { 'retry-after': '20' }, 429),
      ok({}, { 'retry-after': '20', 'x-wait': '1' }, 429),
      ok(),
    );
    const runtime = fakeRuntime({ http: http.client, connections });
    await ask(runtime.calls, 'http', { ...get, retries: 3, retryHeader: { after: ['X-Wait'] } });
    expect(runtime.waits).toEqual([20_000, 1_000]);
  });

  it.each([
    ['403 without calls left is repeated after the reset', 403, '0', 2],
    ['403 with calls left is final', 403, '1', 1],
    ['404 without calls left is final', 404, '0', 1],
  ])('§5.5 the remaining header: %s', async (_, status, left, requests) => {
    const definition = withRetry({ remaining: 'x-left', after: ['x-reset'] });
    const { connections } = connectionsWith(['t'], definition);
    const http = fakeHttp(ok({}, { 'x-left': left, 'x-reset': '9' }, status), ok({ a: 1 }));
    const runtime = fakeRuntime({ http: http.client, connections });
    await ask(runtime.calls, 'http', { ...get, retries: 2 });
    expect(http.requests).toHaveLength(requests);
  });

  it('§5.5 the wait is ended by the end of the run', async () => {
    const end = new AbortController();
    const http = fakeHttp(ok({}, {}, 500));
    const { sleep: _, ...deps } = fakeRuntime({ http: http.client, signal: end.signal }).deps;
    const { createRuntimeHost } = await import('#modules/functions/runs/runtime/host.ts');
    const { calls } = createRuntimeHost({
      ...deps,
      log: {
        lines: () => undefined,
        http: () => setImmediate(() => end.abort()),
        waits: () => undefined,
      },
    });
    await expect(ask(calls, 'http', { ...get, retries: 3 })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(http.requests).toHaveLength(1);
  });
});

describe('plain fetch', () => {
  const fetchCall = {
    url: 'https://other.test/x',
    method: 'POST',
    headers: { a: 'b' },
    body: { kind: 'form', text: 'x=1' },
  };

  it('§4 uncontrolledFetch carries no credentials, follows redirects and drops secrets on the way', async () => {
    const http = fakeHttp(ok(Buffer.from([0xe9])));
    const runtime = fakeRuntime({ http: http.client });
    const { body } = await ask(runtime.calls, 'fetch', fetchCall);
    expect(body).toBe('\xe9');
    expect(runtime.opened).toEqual([]);
    expect(http.requests[0]).toMatchObject({
      method: 'POST',
      body: 'x=1',
      headers: { a: 'b', 'content-type': 'application/x-www-form-urlencoded' },
      redirectsMax: 5,
      credentialHeaders: ['authorization', 'proxy-authorization', 'cookie'],
    });
    expect(http.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('says when the address is no URL, or is refused', async () => {
    const { calls } = fakeRuntime();
    await expect(ask(calls, 'fetch', { ...fetchCall, url: 'nope' })).rejects.toMatchObject({
      code: 'url_not_allowed',
    });
    const refusing = fakeRuntime({ http: fakeHttp(new GatewayError('too_many_redirects')).client });
    await expect(ask(refusing.calls, 'fetch', fetchCall)).rejects.toMatchObject({
      code: 'too_many_redirects',
    });
  });
});
