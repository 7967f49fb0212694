import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { languageCodes } from '#modules/access/connect-ui/texts/translate.ts';
import { looks, overflow, themes, widths } from './looks.ts';
import {
  keyProvider,
  loginProvider,
  openProvider,
  redirectProvider,
  storeProvider,
} from './providers.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  const providers = [keyProvider, loginProvider, openProvider, redirectProvider, storeProvider];
  world = await openBrowserWorld({ providers });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><circle r="15"/></svg>';
const markOfAcme = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
const background = (page: Page): Promise<string> =>
  page.locator('.card').evaluate((element) => getComputedStyle(element).backgroundColor);

describe.each(looks)('the page, %s and %s', (theme, width) => {
  const options = { colorScheme: theme, viewport: widths[width] };
  const look = async (page: Page, name: string): Promise<void> => {
    await screenshot(page, `${name}-${theme}-${width}`);
    // The elements and colors do not depend on the width.
    if (width === 'wide') expect(await violationsOf(page)).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  };

  it('is readable at every step', async () => {
    const page = await world.connectPage({}, options);
    await page.getByRole('button', { name: 'Harbour CRM' }).waitFor();
    expect(await background(page)).toBe(
      theme === 'dark' ? 'rgb(21, 26, 33)' : 'rgb(255, 255, 255)',
    );
    await look(page, 'list');
    await page.getByRole('button', { name: 'Harbour CRM' }).click();
    await page.getByRole('textbox', { name: 'Account' }).fill('Not An Account');
    await look(page, 'form');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('Please check:').waitFor();
    await look(page, 'form-problems');
    const { connectionConfig } = world.played['harbour']!;
    await page.getByLabel('Region').selectOption(connectionConfig['region']!);
    await page.getByRole('textbox', { name: 'Account' }).fill(connectionConfig['account']!);
    await page.getByLabel('Secret key', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('connection_test_failed').waitFor();
    await look(page, 'refused');
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Beacon' }).click();
    await look(page, 'redirect');
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Open weather' }).click();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('heading', { name: 'Open weather is connected' }).waitFor();
    await look(page, 'connected');
  });

  it('has room for a key of many lines, which it hides', async () => {
    const page = await world.connectPage({ allowed_integrations: ['store'] }, options);
    const key = page.getByLabel('Private key', { exact: true });
    await key.fill('-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----');
    const masked = () =>
      key.evaluate((element) =>
        getComputedStyle(element).getPropertyValue('-webkit-text-security'),
      );
    expect(await masked()).toBe('disc');
    await page.getByRole('button', { name: 'Show Private key' }).click();
    expect(await masked()).toBe('none');
    await look(page, 'long-key');
  });
});

describe('the page', () => {
  it.each(languageCodes)('has room for its texts on a small phone: %s', async (code) => {
    const page = await world.connectPage(
      { allowed_integrations: ['harbour'] },
      { locale: code, viewport: { width: 320, height: 640 } },
    );
    await page.locator('form button[type=submit]').click();
    await page.locator('.summary:not(:empty)').waitFor();
    await screenshot(page, `language-${code}`);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });

  it('follows the link before the system, and the application before both', async () => {
    const token = await world.session();
    const page = await world.page({ colorScheme: 'light' });
    await page.goto(`${world.gateway.url}/connect/ui/?session_token=${token}&theme=dark&lang=fr`);
    await page.getByRole('heading', { name: 'Connecter un compte' }).waitFor();
    expect(await background(page)).toBe('rgb(21, 26, 33)');
  });

  it.each(themes)('of a sign-in that has expired is readable: %s', async (theme) => {
    const page = await world.page({ colorScheme: theme, locale: 'fr' });
    const answer = await page.goto(`${world.gateway.url}/oauth/callback?state=unknown&code=c`);
    expect(answer!.status()).toBe(400);
    await page.getByRole('alert').filter({ hasText: 'La connexion a échoué' }).waitFor();
    await page.getByText('state_err').waitFor();
    await screenshot(page, `callback-${theme}`);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('does not move for those who asked for that', async () => {
    world.played['beacon']!.plan('authorize', { status: 200, body: 'wait' });
    const page = await world.connectPage(
      { allowed_integrations: ['beacon'] },
      { reducedMotion: 'reduce' },
    );
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    const waiting = page.locator('.waiting');
    await waiting.waitFor();
    const animation = await waiting.evaluate(
      (element) => getComputedStyle(element, '::before').animationName,
    );
    expect(animation).toBe('none');
  });

  it.each(themes)("takes the application's look and keeps it readable: %s", async (theme) => {
    const key = world.gateway.accountKey;
    const listed = await world.gateway.call('GET', '/environments', { key });
    const dev = (listed.body as { data: { id: number; name: string }[] }).data.find(
      ({ name }) => name === 'dev',
    );
    // Bright on white and dark on black: neither can be read as it is.
    const primary = theme === 'light' ? '#ffe600' : '#2b0a57';
    const dressed = { logo: markOfAcme, texts: { en: { stored: 'Acme keeps it safe.' } } };
    const look = { theme: { [theme]: { primary } }, default_theme: theme, ...dressed };
    const body = { connect_ui: look };
    await world.gateway.call('PATCH', `/environments/${dev!.id}`, { key, body });
    const page = await world.connectPage({ allowed_integrations: ['harbour'] });
    const button = page.getByRole('button', { name: 'Connect', exact: true });
    await button.waitFor();
    const color = await button.evaluate((element) => getComputedStyle(element).backgroundColor);
    expect(color).toBe(theme === 'light' ? 'rgb(255, 230, 0)' : 'rgb(43, 10, 87)');
    expect(await page.getByText('Acme keeps it safe.').isVisible()).toBe(true);
    const mark = await page.locator('img.brand').boundingBox();
    expect(mark?.height).toBeGreaterThan(10);
    await screenshot(page, `color-${theme}`);
    expect(await violationsOf(page)).toEqual([]);
  });
});
