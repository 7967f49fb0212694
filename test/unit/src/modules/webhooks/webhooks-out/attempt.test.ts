import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { attemptDelivery, retryWaitMs } from '#modules/webhooks/webhooks-out/attempt.ts';
import { HttpFailure, type HttpClient } from '#ports/http-client.ts';

const never = new AbortController().signal;
const to = { url: 'http://a.example/hook', headers: {}, body: Buffer.from('{}') };
const client = (request: HttpClient['request']): HttpClient => ({
  forward: () => Promise.reject(new Error('a delivery streams nothing')),
  request,
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
const answering = (status: number) =>
  client(async () => ({ status, statusText: '', headers: {}, body: Buffer.alloc(0), url: to.url }));
const failing = (error: Error) => client(() => Promise.reject(error));

describe('an attempt', () => {
  it.each([200, 204, 299])('is a success with %i', async (status) => {
    expect(await attemptDelivery(answering(status), to, never)).toMatchObject({
      isDelivered: true,
      status,
    });
  });

  it.each([301, 400, 404, 408, 410, 429])('is final with %i', async (status) => {
    const result = await attemptDelivery(answering(status), to, never);
    expect(result).toMatchObject({ isDelivered: false, isRetryable: false, status });
    expect(retryWaitMs(result, 1, limits.webhookRetryWaitsMs)).toBeNull();
  });

  it.each([500, 502, 503])(
    'is repeated with %i after 3 s, then 6 s, then no more',
    async (status) => {
      const result = await attemptDelivery(answering(status), to, never);
      const waits = (schedule: readonly number[]) =>
        [1, 2, 3].map((attempt) => retryWaitMs(result, attempt, schedule));
      expect(waits(limits.webhookRetryWaitsMs)).toEqual([3000, 6000, null]);
      expect(waits([])).toEqual([null, null, null]);
    },
  );

  it.each(['ECONNREFUSED', 'ETIMEDOUT'])('is repeated after %s', async (code) => {
    const result = await attemptDelivery(failing(new HttpFailure(code, code)), to, never);
    expect(result).toMatchObject({ isRetryable: true, status: null, errorCode: code });
  });

  it('is final when the name is unknown or the address is refused', async () => {
    for (const error of [new HttpFailure('ENOTFOUND', ''), new GatewayError('url_not_allowed')]) {
      expect(await attemptDelivery(failing(error), to, never)).toMatchObject({
        isRetryable: false,
        errorCode: error.code,
      });
    }
  });

  it('asks for 20 seconds, and at most five redirects', async () => {
    let asked: unknown;
    const http = client((request) => {
      asked = request;
      return Promise.reject(new HttpFailure('ECONNRESET', ''));
    });
    await attemptDelivery(http, to, never);
    expect(asked).toMatchObject({ method: 'POST', timeoutMs: 20_000, redirectsMax: 5 });
  });
});
