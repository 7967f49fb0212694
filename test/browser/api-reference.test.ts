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

  it('shows a program in each language, and remembers the choice', async () => {
    const page = await world.page({});
    await page.goto(`${world.gateway.url}${path}`);
    const shown = page.locator('#getRecords .samples code');
    await expect.poll(() => shown.textContent()).toContain('curl "$SVC_URL"');
    const parts = { TypeScript: "client.request('GET /records'", Python: 'urllib', Go: 'net/http' };
    for (const [language, part] of Object.entries(parts)) {
      await page.locator('#getRecords').getByRole('button', { name: language }).click();
      expect(await shown.textContent()).toContain(part);
      expect(await shown.textContent()).toContain('model');
    }
    await page.locator('#getConnections summary').click();
    const next = page.locator('#getConnections .samples code');
    await expect.poll(() => next.textContent()).toContain('net/http');
  });

  it.each(looks)('sends a request to the gateway, %s and %s', async (theme, width) => {
    const page = await world.page({ colorScheme: theme, viewport: widths[width] });
    await page.goto(`${world.gateway.url}/docs/api#getIntegrations`);
    const operation = page.locator('#getIntegrations');
    await operation.getByRole('button', { name: 'Try it' }).click();
    await operation.getByRole('button', { name: 'Send request' }).click();
    const output = operation.getByRole('status');
    await expect.poll(() => output.textContent()).toMatch(/^401 [^]*missing_auth_header/);
    await operation.getByLabel('API key').fill(world.gateway.key);
    await operation.getByRole('button', { name: 'Send request' }).click();
    await expect.poll(() => output.textContent()).toMatch(/^200 [^]*"data": \[/);
    await screenshot(page, `api-reference-try-${theme}-${width}`);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    if (width === 'wide') expect(await violationsOf(page)).toEqual([]);
  });

  it('takes the key once, and names what is no JSON before it sends', async () => {
    const page = await world.page({});
    await page.goto(`${world.gateway.url}/docs/api#postIntegrations`);
    const create = page.locator('#postIntegrations');
    await create.getByRole('button', { name: 'Try it' }).click();
    await create.getByLabel('API key').fill('svc_env_entered');
    await create.getByLabel('Body').fill('{ "provider": ');
    await create.getByRole('button', { name: 'Send request' }).click();
    await expect
      .poll(() => create.getByRole('status').textContent())
      .toMatch(/^The body is not JSON: /);
    await page.locator('#getIntegrations summary').click();
    const list = page.locator('#getIntegrations');
    await list.getByRole('button', { name: 'Try it' }).click();
    expect(await list.getByLabel('API key').inputValue()).toBe('svc_env_entered');
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(
      'svc_env_entered',
    );
  });
});
