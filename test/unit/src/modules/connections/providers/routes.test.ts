import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providerRoutes } from '#modules/connections/providers/routes.ts';
import { startHttpOnly, type HttpOnly } from '#test/support/worlds/http.ts';

let app: HttpOnly;
beforeAll(async () => {
  app = await startHttpOnly(providerRoutes);
});
afterAll(() => app[Symbol.asyncDispose]());

describe('providers', () => {
  it('are listed for any key of an environment, and found by part of their name', async () => {
    const key = app.addKey({ scopes: [] });
    const all = (await (await app.fetch('/providers', { key })).json()) as {
      data: { name: string }[];
    };
    expect(all.data.length).toBeGreaterThan(10);
    const found = (await (
      await app.fetch('/providers?search=GitHub', { key })
    ).json()) as typeof all;
    expect(found.data.map(({ name }) => name)).toEqual([
      'github',
      'github-app',
      'github-app-oauth',
      'github-pat',
    ]);
    const one = (await (await app.fetch('/providers/slack', { key })).json()) as { data: object };
    expect(one.data).toMatchObject({
      name: 'slack',
      auth_mode: 'OAUTH2',
      logo_url: 'http://gateway.test/images/template-logos/slack.svg',
      proxy: { base_url: 'https://slack.com/api' },
    });
    expect((await app.fetch('/providers/nobody', { key })).status).toBe(404);
    expect((await app.fetch('/providers')).status).toBe(401);
  });

  it.each([
    ['git.ub-p', ['github-pat']],
    ['ONES', ['OneSource']],
    ['ones', ['OneSource']],
    ['OneSource-', []],
  ])(
    'are searched with the expression %s, whatever the case of their name',
    async (text, names) => {
      const { providers } = app.services;
      const slack = providers.find('slack');
      const all = () => [...builtIn, { ...slack!, name: 'OneSource' }];
      const builtIn = providers.all();
      await using own = await startHttpOnly(providerRoutes, {
        services: { providers: { ...providers, all } },
      });
      const key = own.addKey({ scopes: [] });
      const found = (await (await own.fetch(`/providers?search=${text}`, { key })).json()) as {
        data: { name: string }[];
      };
      expect(found.data.map(({ name }) => name)).toEqual(names);
    },
  );

  it('name the addresses that an app at the provider needs, where its mode has some', async () => {
    const key = app.addKey({ scopes: [] });
    const addressesOf = async (name: string) => {
      const { data } = (await (await app.fetch(`/providers/${name}`, { key })).json()) as {
        data: { callback_url: string | null; app_setup_url: string | null };
      };
      return [data.callback_url, data.app_setup_url];
    };
    const callback = 'http://gateway.test/oauth/callback';
    const setup = 'http://gateway.test/app-auth/connect';
    expect(await addressesOf('slack')).toEqual([callback, null]);
    expect(await addressesOf('github-app')).toEqual([null, setup]);
    expect(await addressesOf('github-app-oauth')).toEqual([callback, setup]);
    expect(await addressesOf('stripe-api-key')).toEqual([null, null]);
  });

  it('show a logo of their own definition at its address alone, where no script of it runs', async () => {
    const logo = '<svg viewBox="0 0 4 4"><script>1</script></svg>';
    const { providers } = app.services;
    const slack = { ...providers.find('slack')!, logo };
    await using own = await startHttpOnly(providerRoutes, {
      services: { providers: { all: () => [slack], find: () => slack } },
    });
    const key = own.addKey({ scopes: [] });
    const one = (await (await own.fetch('/providers/slack', { key })).json()) as { data: object };
    expect(one.data).not.toHaveProperty('logo');
    const served = await own.fetch('/images/template-logos/slack.svg');
    expect(await served.text()).toBe(logo);
    expect(served.headers.get('content-security-policy')).toContain('sandbox');
  });

  it('each have a logo at the address that they name', async () => {
    const map = (await (await app.fetch('/providers.json')).json()) as Record<
      string,
      { name: string; logo_url: string; display_name: string }
    >;
    expect(map['slack']?.name).toBe('slack');
    const unanswered: string[] = [];
    for (const { name, logo_url: url, display_name: title } of Object.values(map)) {
      const logo = await app.fetch(new URL(url).pathname);
      const isImage = logo.headers.get('content-type') === 'image/svg+xml';
      const text = await logo.text();
      const isWhole =
        /^<svg [^<]*<title>[^<]+<\/title><rect [^<]*\/>(<path [^<]*\/>|<text .*<\/text>)<\/svg>$/;
      const hasTitle = text.includes(`<title>${title.replaceAll('&', '&amp;')}</title>`);
      if (!isImage || !isWhole.test(text) || !hasTitle) unanswered.push(name);
    }
    expect(unanswered).toEqual([]);
    for (const file of ['nobody.svg', 'slack.png', 'slack']) {
      const none = await app.fetch(`/images/template-logos/${file}`);
      expect([none.status, await none.text()]).toEqual([404, expect.stringContaining(file)]);
    }
  });
});
