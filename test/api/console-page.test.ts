import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedFetch } from '../support/answers.ts';
import { startApi, type Api } from '../support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) =>
  checkedFetch(api.url + path, { headers });

const filesOf = (html: string): readonly string[] =>
  [...html.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path = '']) => path);

describe('the console', () => {
  it.each([
    '/console',
    '/console/',
    '/console?x=1',
    '/console/env/dev/connections/a%2Fb?tab=records',
    '/console/session/keys',
    '/console/%3Cscript%3E',
  ])('is one document: %s', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    const html = await answer.text();
    expect(html).toBe(await (await get('/console')).text());
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
        "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=/);
  });

  it('has files that are cached forever, compressed', async () => {
    const html = await (await get('/console')).text();
    const files = filesOf(html);
    expect(files).toHaveLength(2);
    for (const file of files) {
      const plain = await get(file, { 'accept-encoding': 'identity' });
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(plain.headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
      expect(plain.headers.get('content-encoding')).toBeNull();
      for (const coding of ['br', 'gzip']) {
        const coded = await get(file, { 'accept-encoding': coding });
        expect(coded.headers.get('content-encoding')).toBe(coding);
      }
    }
  });

  it('has no other file', async () => {
    for (const file of ['none.js', '..%2Fpackage.json', '%2Fetc%2Fpasswd']) {
      expect((await get(`/console/assets/${file}`)).status).toBe(404);
    }
  });

  it('with a malformed address is refused', async () => {
    expect((await get('/console/a%zz')).status).toBe(400);
  });
});
