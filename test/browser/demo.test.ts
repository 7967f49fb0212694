import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ providers: [] });
});
afterAll(() => world[Symbol.asyncDispose]());

it('leads from the empty console to synced records in three clicks, without a network', async () => {
  const { gateway } = world;
  const code = await gateway.call('POST', '/console/codes');
  const page = await world.page();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto((code.body as { data: { url: string } }).data.url);
  const start = page.getByRole('button', { name: 'Try the demo provider' });
  await start.waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await screenshot(page, 'demo-first-steps');

  const opened = page.context().waitForEvent('page');
  await start.click();
  const connect = await opened;
  const provider = connect.waitForEvent('popup');
  await connect.getByRole('button', { name: /^Connect/ }).click();
  const consent = await provider;
  const allow = consent.getByRole('button', { name: 'Allow' });
  await allow.waitFor();
  expect(await violationsOf(consent)).toEqual([]);
  await screenshot(consent, 'demo-consent');
  await allow.click();

  await page.waitForURL(/\/console\/env\/dev\/connections\/demo-oauth\/[^/]+\/records$/);
  await page.getByRole('button', { name: 'Contact 250' }).waitFor();
  await page.getByText('Ada Adler').first().waitFor();
  await screenshot(page, 'demo-records');
  expect(complaints).toEqual([]);
});
