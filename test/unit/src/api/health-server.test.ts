import { describe, expect, it } from 'vitest';
import { createHealthServer } from '#api/health-server.ts';

describe('a process without the API', () => {
  it('answers probes, with the reasons where it is not ready, and nothing else', async () => {
    const reasons: string[] = [];
    const readiness = () => reasons;
    await using server = await createHealthServer({
      readiness,
      scrape: async () => ({ text: 'svc_build_info 1\n', mediaType: 'text/plain' }),
      host: '127.0.0.1',
      port: 0,
    });
    const ask = async (path: string) => {
      const answer = await fetch(new URL(path, server.url));
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      return { status: answer.status, body: (await answer.json()) as object };
    };
    const ok = { status: 200, body: { result: 'ok' } };
    expect(await ask('/health')).toEqual(ok);
    expect(await ask('/ready?verbose')).toEqual(ok);
    expect(await ask('/ready/?verbose')).toEqual(ok);
    expect(await ask('/health/')).toEqual(ok);
    expect((await ask('/health//')).status).toBe(404);
    reasons.push('the owners thread ended');
    expect(await ask('/ready')).toEqual({ status: 503, body: { result: 'not ready', reasons } });
    expect(await ask('/health')).toEqual(ok);
    const { status, body } = await ask('/records');
    expect(status).toBe(404);
    const text: unknown = expect.any(String);
    expect(body).toEqual({
      error: { code: 'not_found', message: text, fix: text, request_id: text },
    });
    for (const path of ['/metrics', '/metrics/']) {
      const metrics = await fetch(new URL(path, server.url));
      expect(await metrics.text()).toBe('svc_build_info 1\n');
      expect(metrics.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('lets no answer be taken for another type where it has no figures', async () => {
    await using server = await createHealthServer({
      readiness: () => [],
      scrape: () => Promise.reject(new Error('a thread ended')),
      host: '127.0.0.1',
      port: 0,
    });
    const { status, headers } = await fetch(new URL('/metrics', server.url));
    expect(status).toBe(503);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
