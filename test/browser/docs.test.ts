import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { widths } from './looks.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ providers: [] });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

describe('the documentation', () => {
  it('is searched in the browser, with the keyboard alone', async () => {
    const page = await world.page({ viewport: widths.wide });
    await page.goto(`${world.gateway.url}/docs`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('scan guarantee');
    const results = page.locator('.results a');
    await results.first().waitFor();
    await screenshot(page, 'docs-search');
    expect(await violationsOf(page)).toEqual([]);
    const names = await results.allTextContents();
    expect(names.join('\n')).toMatch(/Records › Scan guarantee/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    const target = await results.first().getAttribute('href');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname !== '/docs/');
    expect(page.url()).toBe(new URL(target ?? '', `${world.gateway.url}/docs/`).href);
    const field = page.getByRole('searchbox');
    await field.fill('qqqqqq');
    await page.getByText('Nothing found for "qqqqqq".').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.results').isVisible()).toBe(false);
    // Text of a query is text.
    await field.fill('<img src=x onerror=alert(1)>');
    await page.locator('.results .status').waitFor();
    expect(await page.locator('.results img').count()).toBe(0);
  });

  it('says so when the index is away, and loads it at the next letter', async () => {
    const page = await world.page({ viewport: widths.wide });
    await page.route('**/search.json', (route) => route.abort());
    await page.goto(`${world.gateway.url}/docs/`);
    await page.getByRole('searchbox').fill('cursor');
    await page.getByText('The search index could not be loaded').waitFor();
    await page.unroute('**/search.json');
    await page.getByRole('searchbox').fill('cursors');
    await page.locator('.results a').first().waitFor();
  });

  it('keeps the theme, and has a menu on a phone', async () => {
    const page = await world.page({ colorScheme: 'light', viewport: widths.phone });
    await page.goto(`${world.gateway.url}/docs/records/`);
    const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
    const button = page.getByRole('button', { name: /^Theme/ });
    expect(await theme()).toBe('light');
    await button.click();
    await button.click();
    expect(await theme()).toBe('dark');
    await page.reload();
    expect(await theme()).toBe('dark');
    await page.getByRole('button', { name: 'Menu' }).click();
    await screenshot(page, 'docs-menu');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Limits', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor();
    expect(await theme()).toBe('dark');
  });

  it('is whole without scripts', async () => {
    const page = await world.page({ javaScriptEnabled: false, viewport: widths.phone });
    await page.goto(`${world.gateway.url}/docs/concepts/`);
    await page.getByRole('heading', { level: 1, name: 'Concepts' }).waitFor();
    expect(await page.getByRole('searchbox').count()).toBe(0);
    await page.getByRole('link', { name: 'Limits', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor();
  });
});
