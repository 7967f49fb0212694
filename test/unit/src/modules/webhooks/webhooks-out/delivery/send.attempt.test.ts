import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { attemptDelivery, retryWaitMs } from '#modules/webhooks/webhooks-out/delivery/send.ts';
import { HttpFailure, type HttpClient } from '#ports/http-client.ts';

const never = new AbortController().signal;
const to = { url: 'http://a.example/hook', headers: {}, body: Buffer.from('{}') };
const client = (request: HttpClient['request']): HttpClient => ({
  forward: () => Promise.reject(new Error('a delivery streams nothing')),
  request,
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
const answering = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  client(async () => ({ status, statusText: '', headers, body: Buffer.alloc(0), url: to.url }));
const now = Date.parse('2026-02-01T08:00:00Z');
const attempt = (http: HttpClient, target = to) => attemptDelivery(http, target, now, never);
const failing = (error: Error) => client(() => Promise.reject(error));

const headerOf = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

async function listening(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

describe('an attempt', () => {
  it.each([200, 204, 299])('is a success with %i', async (status) => {
    expect(await attempt(answering(status))).toMatchObject({
      isDelivered: true,
      status,
    });
  });

  it.each([301, 400, 402, 410, 413, 422])('is final with %i', async (status) => {
    const result = await attempt(answering(status));
    expect(result).toMatchObject({ isDelivered: false, isRetryable: false, status });
    expect(retryWaitMs(result, 1, limits.webhookRetryWaitsMs)).toBeNull();
  });

  it.each([401, 403, 404, 408, 409, 425, 429, 500, 502, 503])(
    'is repeated with %i after 3 s, then 6 s, then no more',
    async (status) => {
      const result = await attempt(answering(status));
      const waits = (schedule: readonly number[]) =>
        [1, 2, 3].map((count) => retryWaitMs(result, count, schedule));
      expect(waits(limits.webhookRetryWaitsMs)).toEqual([3000, 6000, null]);
      expect(waits([])).toEqual([null, null, null]);
    },
  );

  it.each([
    ['120', 120_000],
    ['Sun, 01 Feb 2026 08:01:00 GMT', 60_000],
    ['1', 3_000],
    ['-5', 3_000],
    ['Sun, 01 Feb 2026 07:00:00 GMT', 3_000],
    ['soon', 3_000],
    ['99999999', limits.webhookRetryAfterMaxMs],
  ])('waits for Retry-After %s, never shorter than its schedule', async (text, waitMs) => {
    for (const status of [429, 503, 404]) {
      const result = await attempt(answering(status, { 'retry-after': text }));
      expect(retryWaitMs(result, 1, limits.webhookRetryWaitsMs)).toBe(waitMs);
      expect(retryWaitMs(result, 3, limits.webhookRetryWaitsMs)).toBeNull();
    }
    const final = await attempt(answering(410, { 'retry-after': text }));
    expect(retryWaitMs(final, 1, limits.webhookRetryWaitsMs)).toBeNull();
  });

  it('is an outage of the endpoint without a response, with 429 and 5xx alone', async () => {
    const outages = [];
    for (const status of [200, 401, 403, 404, 408, 409, 410, 425, 429, 500, 503]) {
      if ((await attempt(answering(status))).isOutage) outages.push(status);
    }
    expect(outages).toEqual([429, 500, 503]);
    expect((await attempt(failing(new HttpFailure('ECONNRESET', '')))).isOutage).toBe(true);
  });

  it('sends user and password of the address as Basic, and not in the address', async () => {
    const sent: { url: string; headers: Readonly<Record<string, string>> }[] = [];
    const http = client((request) => {
      sent.push({ url: request.url.href, headers: request.headers });
      return Promise.reject(new HttpFailure('ECONNRESET', ''));
    });
    await attempt(http, { ...to, url: 'http://ann:p%40ss%3A@a.example/hook' });
    await attempt(http);
    const basic = `Basic ${Buffer.from('ann:p@ss:').toString('base64')}`;
    expect(sent).toEqual([
      { url: to.url, headers: { authorization: basic } },
      { url: to.url, headers: {} },
    ]);
  });

  it.each(['ECONNREFUSED', 'ETIMEDOUT'])('is repeated after %s', async (code) => {
    const result = await attempt(failing(new HttpFailure(code, code)));
    expect(result).toMatchObject({ isRetryable: true, status: null, errorCode: code });
  });

  it('is final when the name is unknown or the address is refused', async () => {
    for (const error of [new HttpFailure('ENOTFOUND', ''), new GatewayError('url_not_allowed')]) {
      expect(await attempt(failing(error))).toMatchObject({
        isRetryable: false,
        errorCode: error.code,
      });
    }
  });

  it('shows headers of its origin to no other one', async () => {
    const seen: (string | undefined)[] = [];
    await using other = await listening((request, response) => {
      seen.push(headerOf(request, 'x-api-key'), headerOf(request, 'webhook-id'));
      response.end();
    });
    await using first = await listening((request, response) => {
      seen.push(headerOf(request, 'x-api-key'));
      response.writeHead(307, { location: `${other.url}/arrived` }).end();
    });
    await using http = createHttpClient({
      allow: [new URL(first.url).host, new URL(other.url).host],
    });
    const headers = { 'x-api-key': 'secret', 'webhook-id': 'm1' };
    const target = { url: `${first.url}/moved`, headers, ofOrigin: ['x-api-key'], body: to.body };
    expect(await attempt(http, target)).toMatchObject({ isDelivered: true });
    expect(seen).toEqual(['secret', undefined, 'm1']);
  });

  it('asks for 20 seconds, and at most five redirects', async () => {
    let asked: unknown;
    const http = client((request) => {
      asked = request;
      return Promise.reject(new HttpFailure('ECONNRESET', ''));
    });
    await attempt(http);
    expect(asked).toMatchObject({ method: 'POST', timeoutMs: 20_000, redirectsMax: 5 });
  });
});
