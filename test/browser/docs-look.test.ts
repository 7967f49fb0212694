import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { looks, overflow, widths } from './looks.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ providers: [] });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

describe('the look of the documentation', () => {
  const pages = ['', 'concepts/', 'verify-webhooks/', 'reference/guarantees/'];

  describe.each(looks)('%s and %s', (theme, width) => {
    it.each(pages)('shows /docs/%s, which fits and which axe accepts', async (path) => {
      const page = await world.page({ colorScheme: theme, viewport: widths[width] });
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('request', (request) => {
        if (!request.url().startsWith(world.gateway.url) && !request.url().startsWith('data:'))
          complaints.push(request.url());
      });
      await page.goto(`${world.gateway.url}/docs/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(back).toBe(theme === 'dark' ? 'rgb(21, 26, 33)' : 'rgb(255, 255, 255)');
      await screenshot(page, `docs-${path.replaceAll('/', '_')}${theme}-${width}`);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      if (width === 'wide' || path === '') expect(await violationsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });

  it.each(looks)('has a page for an address without one: %s and %s', async (theme, width) => {
    const page = await world.page({ colorScheme: theme, viewport: widths[width] });
    await page.goto(`${world.gateway.url}/docs/reference/gone/`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await screenshot(page, `docs-not-found-${theme}-${width}`);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('searchbox').fill('scan guarantee');
    await page.locator('.results a').first().click();
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
  });
});
