import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { startApi, type Api } from '#test/support/worlds/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ connectOrigins: ['https://app.example.com'] });
});
afterAll(() => api[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) =>
  checkedFetch(api.url + path, { headers });

describe('the connect page', () => {
  it('is a document that runs no inline code and is framed by the named origins only', async () => {
    const answer = await get('/connect/ui/?session_token=svc_connect_session_x');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain('frame-ancestors https://app.example.com');
    expect(policy).not.toContain('unsafe');
    const html = await answer.text();
    expect(html).not.toContain('svc_connect_session_x');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/);
  });

  it('names its files by their content, and lets browsers keep them', async () => {
    const html = await (await get('/connect/ui/')).text();
    const files = [...html.matchAll(/(?:src|href)="(\/connect\/ui\/assets\/[^"]+)"/g)].map(
      ([, path]) => path!,
    );
    expect(files).toHaveLength(2);
    for (const path of files) {
      const answer = await get(path, { 'accept-encoding': 'br' });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toContain('immutable');
      expect(answer.headers.get('content-encoding')).toBe('br');
      expect(path).toMatch(/-[A-Z0-9]{8}\.(js|css)$/);
    }
    const gone = await get('/connect/ui/assets/page-00000000.js');
    expect(gone.status).toBe(404);
  });

  it('is small: the page below 25 KB and the embed script below 3 KB, compressed', async () => {
    const html = await (await get('/connect/ui/')).text();
    const script = /src="([^"]+)"/.exec(html)![1]!;
    const sizeOf = async (path: string) => {
      const answer = await get(path, { 'accept-encoding': 'gzip' });
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      return Number(answer.headers.get('content-length'));
    };
    expect(await sizeOf(script)).toBeLessThan(25_000);
    expect(await sizeOf('/connect/embed.js')).toBeLessThan(3000);
  });

  it('sends the embed script again only when it has changed', async () => {
    const first = await get('/connect/embed.js');
    expect(await first.text()).toContain('svcConnect');
    const etag = first.headers.get('etag')!;
    const again = await get('/connect/embed.js', { 'if-none-match': etag });
    expect(again.status).toBe(304);
  });
});

describe('the look of the connect page', () => {
  it('is a setting of the environment', async () => {
    const key = api.keys.account;
    const listed = await api.call('GET', '/environments', { key });
    const path = `/environments/${String(listed.at('data.0.id'))}`;
    const before = await api.call('GET', path, { key });
    expect(before.at('data.connect_ui')).toEqual({
      theme: { light: { primary: '#2457c5' }, dark: { primary: '#8fb4ff' } },
      default_theme: 'system',
      show_watermark: false,
    });
    const body = {
      connect_ui: { theme: { light: { primary: '#0b6e4f' } }, default_theme: 'dark' },
    };
    const changed = await api.call('PATCH', path, { key, body });
    expect(changed.at('data.connect_ui')).toEqual({
      theme: { light: { primary: '#0b6e4f' }, dark: { primary: '#8fb4ff' } },
      default_theme: 'dark',
      show_watermark: false,
    });
    const wrong = { connect_ui: { theme: { dark: { primary: 'url(//x)' } } } };
    const refused = await api.call('PATCH', path, { key, body: wrong });
    expect(refused.at('error.errors.0.path')).toEqual(['connect_ui', 'theme', 'dark', 'primary']);
  });

  it('has the mark and the words of the application', async () => {
    const key = api.keys.account;
    const listed = await api.call('GET', '/environments', { key });
    const all = listed.at('data') as readonly { readonly id: number; readonly name: string }[];
    const path = `/environments/${String(all.find(({ name }) => name === 'dev')?.id)}`;
    const patch = (connect_ui: object) => api.call('PATCH', path, { key, body: { connect_ui } });
    const logo = 'data:image/png;base64,iVBORw0KGgo=';
    await patch({ logo, texts: { en: { title: 'Link your tools', back: 'Go back' } } });
    const changed = await patch({ texts: { en: { back: '' }, de: { title: 'Verbinde dich' } } });
    const texts = { en: { title: 'Link your tools' }, de: { title: 'Verbinde dich' } };
    expect(changed.at('data.connect_ui')).toMatchObject({ logo, texts });

    const made = await api.call('POST', '/connect/sessions', { body: { tags: { team: 'x' } } });
    const token = String(made.at('data.token'));
    const session = await api.call('GET', '/connect/session', { key: token });
    expect(session.at('data.connectUISettings')).toMatchObject({ logo, texts });

    const gone = await patch({ logo: '', texts: { en: { title: '' }, de: { title: '' } } });
    expect(Object.keys(gone.at('data.connect_ui') as object)).toEqual([
      'theme',
      'default_theme',
      'show_watermark',
    ]);
  });

  it.each([
    [{ logo: 'https://app.example.com/logo.png' }, ['logo']],
    [{ logo: 'data:text/html;base64,PGI+' }, ['logo']],
    [{ texts: { en: { headline: 'x' } } }, ['texts', 'en', 'headline']],
    [{ texts: { en: { back: 'Back to {name}' } } }, ['texts', 'en', 'back']],
    [{ texts: { en: { title: 'x'.repeat(501) } } }, ['texts', 'en', 'title']],
  ])('is refused as %j', async (connect_ui, at) => {
    const key = api.keys.account;
    const listed = await api.call('GET', '/environments', { key });
    const path = `/environments/${String(listed.at('data.0.id'))}`;
    const refused = await api.call('PATCH', path, { key, body: { connect_ui } });
    expect(refused.status).toBe(400);
    expect(refused.at('error.errors.0.path')).toEqual(['connect_ui', ...at]);
  });
});
