import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startApiWithProviders,
  type ApiWithProviders,
} from '#test/support/worlds/api-with-providers.ts';
import { codeOf } from '#test/support/worlds/api.ts';

let api: ApiWithProviders;
beforeAll(async () => {
  api = await startApiWithProviders();
  const credentials = { type: 'BASIC', username: 'u', password: 'p' };
  for (const connection_id of ['kept', 'gone']) {
    const body = { provider_config_key: 'basic', connection_id, credentials };
    expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
  }
});
afterAll(() => api[Symbol.asyncDispose]());

const metadata = (value: string) => ({
  provider_config_key: 'basic',
  connection_id: 'kept',
  metadata: { value },
});

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
const notices = ['@1768867200', 'Tue, 20 Jan 2026 00:00:00 GMT'];
const noticesOf = ({ headers }: { readonly headers: Headers }): (string | null)[] => [
  headers.get('deprecation'),
  headers.get('sunset'),
];

describe('the deprecated paths under /connection', () => {
  it.each([
    ['GET', ''],
    ['GET', '/kept?provider_config_key=basic&refresh_token=true'],
  ])(
    '%s /connection%s answers as its replacement, and says that it is deprecated',
    async (method, rest) => {
      const old = await api.call(method, `/connection${rest}`);
      const fresh = await api.call(method, `/connections${rest}`);
      expect(old.status).toBe(200);
      const timeless = (body: unknown) => ({ ...(body as object), last_fetched_at: null });
      expect(timeless(old.body)).toEqual(timeless(fresh.body));
      expect(noticesOf(old)).toEqual(notices);
      expect(noticesOf(fresh)).toEqual([null, null]);
    },
  );

  it('write metadata', async () => {
    const posted = await api.call('POST', '/connection/metadata', { body: metadata('1') });
    expect([posted.status, posted.body]).toEqual([201, metadata('1')]);
    const patched = await api.call('PATCH', '/connection/metadata', { body: metadata('2') });
    expect([patched.status, ...noticesOf(patched)]).toEqual([200, ...notices]);
    const read = await api.call('GET', '/connections/kept?provider_config_key=basic');
    expect(read.at('metadata.value')).toBe('2');
  });

  it('delete', async () => {
    const path = '/connection/gone?provider_config_key=basic';
    expect(codeOf(await api.call('DELETE', path))).toBe('200 ');
    expect(codeOf(await api.call('GET', path))).toBe('404 not_found');
  });

  it.each([
    ['POST', '/connection', 'POST /connections'],
    ['POST', '/connection/kept/metadata', 'POST /connections/metadata'],
    ['PATCH', '/connection/kept/metadata', 'PATCH /connections/metadata'],
  ])('%s %s was removed, and names what replaces it', async (method, path, instead) => {
    const answer = await api.call(method, path, { body: {} });
    expect(codeOf(answer)).toBe('410 endpoint_removed');
    expect(answer.at('error.message')).toContain(instead);
    expect(noticesOf(answer)).toEqual(notices);
  });

  it('say that they are deprecated when they refuse, too', async () => {
    const answer = await api.call('GET', '/connection/none?provider_config_key=basic');
    expect(codeOf(answer)).toBe('404 not_found');
    expect(noticesOf(answer)).toEqual(notices);
  });

  it('keep the scopes of their replacements', async () => {
    const key = await api.keyWith('environment:records:read');
    for (const [method, path] of [
      ['GET', '/connection'],
      ['DELETE', '/connection/kept?provider_config_key=basic'],
      ['POST', '/connection'],
    ] as const) {
      expect(codeOf(await api.call(method, path, { key }))).toBe('403 forbidden');
    }
  });
});
