import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providerRoutes } from '../../../../../src/modules/providers/routes.ts';
import { startHttpOnly, type HttpOnly } from '../../../../support/http.ts';

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

  it('and their logos are open', async () => {
    const map = (await (await app.fetch('/providers.json')).json()) as Record<
      string,
      { name: string }
    >;
    expect(map['slack']?.name).toBe('slack');
    const logo = await app.fetch('/images/template-logos/slack.svg');
    expect(logo.headers.get('content-type')).toBe('image/svg+xml');
    expect(await logo.text()).toMatch(/^<svg .*<\/svg>$/);
    expect((await app.fetch('/images/template-logos/nobody.svg')).status).toBe(404);
  });
});
