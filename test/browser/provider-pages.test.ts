import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';
import { looks, overflow, widths } from './looks.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ providers: [] });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

const total = builtInCatalogue().all().length;

/** Tables and other parts that would have to be moved sideways; code may be. */
const movedSideways = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter((element) => element.closest('pre') === null)
      .filter((element) => {
        const { right } = element.getBoundingClientRect();
        const isScrolled = element.scrollWidth > element.clientWidth + 1;
        return right > window.innerWidth || (isScrolled && element.matches('.table'));
      })
      .map(({ tagName, textContent }) => `${tagName} ${textContent.trim().slice(0, 60)}`),
  );

describe('the list of providers', () => {
  it('is searched by name, category and mode', async () => {
    // Wide enough for the headings beside the page.
    const page = await world.page({ viewport: { width: 1440, height: 900 } });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${world.gateway.url}/docs/providers/`);
    const field = page.getByRole('searchbox', { name: 'Search the providers' });
    const items = page.locator('.providers li:visible');
    const status = page.locator('.provider-search [role="status"]');
    expect(await items.count()).toBeGreaterThanOrEqual(total);
    await field.fill('hubspot');
    expect(await items.allTextContents()).toEqual(['HubSpot', 'HubSpot (private app)']);
    expect(await status.textContent()).toMatch(/^2 of \d+ providers$/);
    expect(await page.locator('article section:visible').count()).toBe(1);
    expect(await page.locator('.contents li:visible').allTextContents()).toEqual(['CRM']);
    await screenshot(page, 'docs-providers-found');
    // Enter neither sends a form nor empties the field.
    await field.press('Enter');
    expect(await field.inputValue()).toBe('hubspot');
    await field.fill('CRM oauth2');
    const found = await items.allTextContents();
    expect(found).toContain('Salesforce');
    expect(found).not.toContain('Slack');
    await field.fill('qqqq');
    expect(await status.textContent()).toMatch(/^0 of/);
    await field.fill('');
    expect(await items.count()).toBeGreaterThanOrEqual(total);
    await field.fill('datadog');
    await items.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Datadog' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('is a plain list without scripts', async () => {
    const page = await world.page({ javaScriptEnabled: false, viewport: widths.phone });
    await page.goto(`${world.gateway.url}/docs/providers/`);
    expect(await page.getByRole('searchbox').count()).toBe(0);
    await page.getByText(/^\d+ providers$/).waitFor();
    await page.getByRole('link', { name: 'HubSpot', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'HubSpot' }).waitFor();
  });
});

describe('the look of the pages of providers', () => {
  const pages = [
    '',
    'hubspot/',
    'hubspot/contacts/',
    'outlook/messages/',
    'slack/',
    'airtable/',
    'stripe/',
    'datadog/',
  ];

  describe.each(looks)('%s and %s', (theme, width) => {
    it.each(pages)('shows providers/%s, which fits and which axe accepts', async (path) => {
      const page = await world.page({ colorScheme: theme, viewport: widths[width] });
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', ({ message }) => complaints.push(message));
      await page.goto(`${world.gateway.url}/docs/providers/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await screenshot(page, `docs-providers-${path.replaceAll('/', '_')}${theme}-${width}`);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(await movedSideways(page)).toEqual([]);
      if (width === 'wide') expect(await violationsOf(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });
});
