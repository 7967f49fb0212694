import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { startApi, type Api } from '#test/support/worlds/api.ts';

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

  it.each(['GET', 'HEAD'])('is where a browser on / is redirected: %s', async (method) => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const answer = await fetch(`${api.url}/`, { method, headers: { accept }, redirect: 'manual' });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('/console');
    expect(answer.headers.get('vary')).toContain('accept');
  });

  it.each([
    ['GET', '*/*'],
    ['GET', 'application/json'],
    ['POST', 'text/html'],
  ])('leaves %s / with Accept: %s unknown', async (method, accept) => {
    const answer = await fetch(`${api.url}/`, { method, headers: { accept }, redirect: 'manual' });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
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

describe('the documentation', () => {
  const manual = (path: string) => checkedFetch(api.url + path, { redirect: 'manual' });

  it.each([
    ['/docs', '/docs/'],
    ['/docs/records', '/docs/records/'],
    ['/docs/reference/http', '/docs/reference/http/'],
    ['/docs/api/', '/docs/api'],
  ])('leads from %s to a page', async (path, page) => {
    const answer = await manual(path);
    expect(answer.status).toBe(308);
    const location = answer.headers.get('location') ?? '';
    // Relative: a proxy may serve it below a path.
    expect(location).not.toMatch(/^\/|:/);
    expect(new URL(location, api.url + path).pathname).toBe(page);
  });

  it('has pages with a strict policy, compressed, which a browser asks for again', async () => {
    const answer = await get('/docs/records/', { 'accept-encoding': 'br' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
    expect(await answer.text()).toContain('<h1 id="records">Records</h1>');
    const etag = answer.headers.get('etag') ?? '';
    const again = await get('/docs/records/', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('answers an unknown address with a page to a browser, and as JSON to others', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/docs/nothing', '/docs/reference/nothing/', '/docs/a/b%2Fc/d']) {
      const answer = await get(path, browser);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ]);
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      const html = await answer.text();
      expect(html).toContain('<h1 id="page-not-found">Page not found</h1>');
      expect(html).toContain('data-top="/docs/"');
      const names = [...html.matchAll(/ (?:href|src)="([^"#:]+)"/g)].map(([, name = '']) => name);
      expect(names.filter((name) => !name.startsWith('/docs/'))).toEqual([]);
      expect(names).toContain('/docs/quickstart/');
      const json = await get(path);
      expect([json.status, await json.json()]).toMatchObject([
        404,
        { error: { code: 'not_found' } },
      ]);
    }
  });

  it('has the files of the API reference', async () => {
    const page = await (await get('/docs/api')).text();
    const names = [...page.matchAll(/ (?:href|src)="(\/docs\/api\/assets\/[^"]+)"/g)];
    expect(names.length).toBeGreaterThanOrEqual(2);
    for (const [, name = ''] of names) expect((await get(name)).status, name).toBe(200);
  });

  it('has every file that a page names, and no other', async () => {
    const page = await get('/docs/reference/http/');
    const names = [...(await page.text()).matchAll(/ (?:href|src)="([^"#:]+)"/g)];
    const paths = new Set(names.map(([, name = '']) => new URL(name, page.url).pathname));
    expect(paths.size).toBeGreaterThan(40);
    for (const path of paths) expect((await get(path)).status, path).toBe(200);
    const scripts = [...paths].filter((path) => path.endsWith('.js'));
    expect(scripts).toHaveLength(2);
    for (const script of scripts) {
      const { headers } = await get(script);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
    const index = await get('/docs/search.json');
    expect(index.headers.get('content-type')).toBe('application/json');
    const known = { 'if-none-match': index.headers.get('etag') ?? '' };
    expect((await get('/docs/search.json', known)).status).toBe(304);
    const outside = [
      '..%2Fentries.json',
      'entries.json',
      'records/index.html.br',
      '%2Fetc%2Fpasswd',
    ];
    for (const path of [...outside, 'none', 'none/', 'recordsindex.html'])
      expect((await get(`/docs/${path}`)).status, path).toBe(404);
  });
});
