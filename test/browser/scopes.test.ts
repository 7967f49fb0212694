import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { languageCodes, translator } from '#modules/access/connect-ui/texts/translate.ts';
import { looks, overflow, widths } from './looks.ts';
import { keyProvider, redirectProvider, scopedProvider } from './providers.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ providers: [keyProvider, redirectProvider, scopedProvider] });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

const onlyScoped = { allowed_integrations: ['lantern'] };
const region = (page: Page) => page.getByRole('region', { name: 'Lantern will ask you to allow' });
const items = (page: Page) => page.getByRole('listitem');

describe('before the redirect, the page', () => {
  it('lists what the provider will ask for, with the name of each scope', async () => {
    const page = await world.connectPage(onlyScoped);
    await region(page).waitFor();
    expect(await items(page).allInnerTexts()).toEqual([
      'Reads contacts.\ncontacts.read',
      'Creates, changes and deletes contacts.\ncontacts.write',
      'Reads events of all calendars.\nhttps://lantern.example/auth/calendar.events.readonly',
      'files.read',
      'files.write',
      'Sends mail in your name.\nmail.send',
    ]);
    await page.getByText('Show 2 more').click();
    expect((await items(page).allInnerTexts()).slice(6)).toEqual([
      'profile',
      'Keeps access while you are away.\noffline_access',
    ]);
  });

  it('marks texts that are not in the language of the page', async () => {
    const page = await world.connectPage(onlyScoped, { locale: 'de-DE' });
    const german = page.getByText('Liest Kontakte.');
    await german.waitFor();
    expect(await german.getAttribute('lang')).toBeNull();
    const english = page.getByText('Sends mail in your name.');
    expect(await english.getAttribute('lang')).toBe('en');
  });

  it('names the access in each of its languages', async () => {
    const page = await world.connectPage(onlyScoped);
    await region(page).waitFor();
    for (const language of languageCodes) {
      await page.locator('#language').selectOption(language);
      const name = translator(language)('scopesIntro', { name: 'Lantern' });
      await page.getByRole('region', { name }).waitFor();
    }
  });

  it('lists those that the application asks for in this session', async () => {
    const page = await world.connectPage({
      ...onlyScoped,
      integrations_config_defaults: {
        lantern: { connection_config: { oauth_scopes_override: 'mail.send' } },
      },
    });
    await region(page).waitFor();
    expect(await items(page).allInnerTexts()).toEqual(['Sends mail in your name.\nmail.send']);
  });

  it('connects with what it has listed', async () => {
    const page = await world.connectPage(onlyScoped);
    await region(page).waitFor();
    await page.getByRole('button', { name: 'Continue in this window' }).click();
    await page.getByRole('heading', { name: 'Lantern is connected' }).waitFor();
    const [asked] = world.played['lantern']!.asked.filter(({ role }) => role === 'authorize');
    expect(JSON.stringify(asked)).toContain('offline_access');
  });

  it('has no such list where credentials are entered', async () => {
    const page = await world.connectPage({ allowed_integrations: ['harbour'] });
    await page.getByRole('heading', { name: 'Connect Harbour CRM' }).waitFor();
    expect(await page.getByRole('region').count()).toBe(0);
  });

  it('works where the service cannot list the scopes', async () => {
    const page = await world.page();
    await page.route('**/scopes', (route) => route.fulfill({ status: 404, body: '{}' }));
    const token = await world.session(onlyScoped);
    await page.goto(`${world.gateway.url}/connect/ui/?session_token=${token}`);
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    expect(await region(page).count()).toBe(0);
  });
});

describe.each(looks)('the list of scopes, %s and %s', (theme, width) => {
  it('is readable, closed and open', async () => {
    const options = { colorScheme: theme, viewport: widths[width] };
    const page = await world.connectPage(onlyScoped, options);
    await region(page).waitFor();
    await screenshot(page, `scopes-${theme}-${width}`);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByText('Show 2 more').click();
    await screenshot(page, `scopes-open-${theme}-${width}`);
    expect(await violationsOf(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });
});
