import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { looks, overflow, widths } from './looks.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ providers: [] });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

describe('the API reference', () => {
  const path = '/docs/api#getRecords';
  it.each(looks)('finds and shows operations, %s and %s', async (theme, width) => {
    const page = await world.page({ colorScheme: theme, viewport: widths[width] });
    const refused: string[] = [];
    page.on('console', (line) => refused.push(line.text()));
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await page.goto(`${world.gateway.url}${path}`);
    await page.locator('#getRecords[open]').waitFor();
    expect(await page.locator('details[open]').count()).toBe(1);
    await screenshot(page, `api-reference-${theme}-${width}`);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.getByRole('searchbox').fill('invalid_cursor_value as_of');
    expect(await page.locator('details:visible').count()).toBe(1);
    if (width === 'wide') expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('searchbox').fill('no such words');
    expect(await page.getByRole('status').textContent()).toMatch(/^0 of \d+ operations$/);
    expect(refused).toEqual([]);
    expect([...hosts]).toEqual([world.gateway.url]);
  });
});
