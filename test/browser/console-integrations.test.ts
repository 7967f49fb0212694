/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment -- a test looks into any answer */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { driverOf, type Driven } from './console-driver.ts';
import { openConsoleWorld, refreshed, type ConsoleWorld } from './console-world.ts';
import { screenshot, violationsOf } from './world.ts';

let world: ConsoleWorld;
let driven: Driven;
let page: Page;
beforeAll(async () => {
  world = await openConsoleWorld();
  driven = { ...(await world.signedIn()), gateway: world.gateway };
  ({ page } = driven);
});
afterEach(() => {
  expect(driven.complaints).toEqual([]);
  expect(takeUnread(), 'not read back').toEqual([]);
});
afterAll(() => world[Symbol.asyncDispose]());

const { button, field, open, read, seen } = driverOf(() => driven);
const cards = () => page.getByRole('list', { name: 'Providers' }).getByRole('link');
const catalog = '/env/dev/integrations/new';

const looks = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 1440 },
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 1280 },
  { theme: 'light', width: 390 },
  { theme: 'dark', width: 390 },
] as const;

/** Takes a picture in both themes and three widths; the page fits each, and axe accepts it. */
async function looksGood(name: string): Promise<void> {
  for (const { theme, width } of looks) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 860 });
    await page.waitForFunction(
      (wanted) => document.documentElement.dataset['theme'] === wanted,
      theme,
    );
    await screenshot(page, `console-${name}-${theme}-${width}`);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(overflow, `${name} ${width}`).toBeLessThanOrEqual(0);
    expect(await violationsOf(page), `${name} ${theme} ${width}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
}

describe('the catalog of providers', () => {
  it('shows each with its logo, and fits every screen', async () => {
    await open(catalog);
    await seen('GitHub');
    expect(await cards().count()).toBeGreaterThan(250);
    expect(await violationsOf(page)).toEqual([]);
    await open(`${catalog}?category=popular`);
    await seen('GitHub');
    await page.waitForFunction(() =>
      [...document.images]
        .slice(0, 12)
        .every(({ complete, naturalWidth }) => complete && naturalWidth > 0),
    );
    await looksGood('catalog');
  });

  it('asks for the logos in view alone, when it was opened before, too', async () => {
    let logos = 0;
    page.on('request', (request) => {
      if (request.resourceType() === 'image') logos += 1;
    });
    for (const _visit of ['first', 'second']) {
      logos = 0;
      await open(catalog);
      await seen('GitHub');
      await page.waitForLoadState('networkidle');
      // And some below.
      expect(logos).toBeGreaterThan(10);
      expect(logos).toBeLessThan(120);
    }
  });

  it('is searched and filtered, in its address', async () => {
    await open(`${catalog}?mode=OAUTH2`);
    await field('Search').fill('git');
    await cards().first().waitFor();
    expect(await cards().allInnerTexts()).toEqual([
      expect.stringContaining('GitHub'),
      expect.stringContaining('GitLab'),
      expect.stringContaining('DigitalOcean'),
    ]);
    await field('Search').fill('');
    await field('Category').selectOption('storage');
    await seen(/^\d of \d{3,} providers$/);
    expect(new URL(page.url()).search).toBe('?mode=OAUTH2&category=storage');
    await field('Search').fill('no such product');
    await seen('No provider matches “no such product”');
    await button('Show all providers').click();
    await seen(/^\d{3,} providers$/);
  });

  it('is used with the keyboard alone', async () => {
    await open(catalog);
    await cards().first().waitFor();
    await field('Search').focus();
    await page.keyboard.type('slack');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Set up Slack' }).waitFor();
  });
});

describe('the setup of an integration', () => {
  it('of an OAuth provider says what to register, and asks for what came of it', async () => {
    await open(`${catalog}/${refreshed}`);
    await seen('Register an app at Beacon');
    await seen(`${world.gateway.url}/oauth/callback`);
    const about = page.getByRole('link', { name: 'About this provider' });
    const described = await fetch(new URL((await about.getAttribute('href'))!, world.gateway.url));
    expect(await described.text()).toContain('>Beacon</h1>');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await button('Copy the callback URL').click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(`${world.gateway.url}/oauth/callback`);
    await looksGood('setup');
    await button('Add the integration').click();
    await seen('correct the marked fields');
    const focused = page.locator(':focus');
    expect(await focused.getAttribute('aria-invalid')).toBe('true');
    await field('Client id').fill('my-app');
    await field('Client secret').fill('my-secret');
    await field('Further scopes').fill('write "all"');
    await button('Add the integration').click();
    await seen('“"all"” is no scope');
    await looksGood('setup-problems');
    await field('Further scopes').fill('write, offline');
    await field('Key').fill(refreshed);
    await button('Add the integration').click();
    await seen('Another integration has this key.');
    await field('Key').fill('');
    await button('Add the integration').click();
    await seen('beacon-2 was added');
    const { data } = await read('/integrations/beacon-2?include=credentials');
    expect(data).toMatchObject({
      provider: refreshed,
      credentials: {
        client_id: 'my-app',
        client_secret: 'my-secret',
        scopes: 'read,write,offline',
      },
    });
  });

  it('of a provider without an app asks for a name only', async () => {
    await open(`${catalog}/affinity`);
    await seen('each user enters their own credentials (API key)');
    await field('Key').fill('sales');
    await button('Add the integration').click();
    await seen('sales was added');
    expect((await read('/integrations/sales')).data).toMatchObject({ provider: 'affinity' });
  });

  it('says in a field what the service refuses', async () => {
    await open(`${catalog}/github-app`);
    await field('App id').fill('17');
    await field('Public page of the app').fill('https://github.com/apps/mine');
    await field('Private key').fill('no key');
    await button('Add the integration').click();
    await seen('This is no complete RSA key');
    expect(await page.getByText('invalid_body').count()).toBe(0);
    // The browser lists the refused request.
    expect(driven.complaints.splice(0)).toHaveLength(1);
  });
});

describe('the test account of an integration', () => {
  const beacon = () => world.played[refreshed]!;
  const testAccounts = async () =>
    (await world.connections()).filter(({ end_user: user }) => user?.id === 'console-test');
  /** Presses the button, and connects in the window that it opens. */
  const tried = async (name: string): Promise<Page> => {
    const opening = page.context().waitForEvent('page');
    await button(name).click();
    const connectPage = await opening;
    await connectPage.getByRole('button', { name: 'Connect', exact: true }).click();
    return connectPage;
  };

  it.each([
    [
      'a wrong secret',
      { error: 'invalid_client', error_description: 'The client secret has expired' },
      'Copy client id and secret of the app at Beacon',
    ],
    [
      'another redirect URI',
      { error: 'invalid_grant', error_description: 'The redirect_uri does not match' },
      '/oauth/callback as the redirect URI of the app at Beacon, exactly so.',
    ],
  ])('says in the words of the provider that it has %s, and what to do', async (_, body, fix) => {
    beacon().plan('token', { status: 401, body });
    await open(`/env/dev/integrations/${refreshed}/test`);
    const connectPage = await tried('Connect a test account');
    await seen('The account was not connected.');
    await seen(body.error_description);
    await seen(new RegExp(`What to do:.*${fix.replaceAll(/[.?]/g, '\\$&')}`));
    await looksGood(`try-account-${body.error}`);
    const told = await connectPage.locator('.failure').innerText();
    expect(told).toContain('The application is not set up correctly at Beacon.');
    expect(told).toContain(body.error_description);
    expect(told).toContain(fix);
    expect(await violationsOf(connectPage)).toEqual([]);
    await screenshot(connectPage, `connect-${body.error}`);
    expect(await testAccounts()).toEqual([]);
    await connectPage.close();
  });

  it.each([
    ['invalid_scope', 'Allow the scopes of the integration for the app at Beacon'],
    ['access_denied', 'Start again, and grant access at Beacon.'],
    ['consent_required', 'Add the account as a test user of the app at Beacon'],
  ])('says what to do where the provider comes back with %s', async (error, fix) => {
    beacon().refuses(error);
    await open(`/env/dev/integrations/${refreshed}/test`);
    const connectPage = await tried('Connect a test account');
    await seen(fix);
    await seen(error);
    beacon().refuses(null);
    expect(await testAccounts()).toEqual([]);
    await connectPage.close();
  });

  it('is connected, and the page leads to it', async () => {
    await open(`/env/dev/integrations/${refreshed}/test`);
    await seen('If Beacon shows an error and does not come back');
    await looksGood('try-account');
    const connectPage = await tried('Connect a test account');
    await seen('the test account is connected');
    await looksGood('try-account-connected');
    const made = await testAccounts();
    expect(made).toHaveLength(1);
    await connectPage.close();
    await page.getByRole('link', { name: 'Open the connection' }).click();
    await page.getByRole('heading', { level: 1, name: 'Test account' }).waitFor();
    await page.getByText(made[0]!.connection_id, { exact: true }).waitFor();
  });

  it('is found where its link was opened in another browser', async () => {
    await open(`/env/dev/integrations/${refreshed}/test`);
    const opening = page.context().waitForEvent('page');
    await button('Connect a test account').click();
    await (await opening).close();
    const link = await page.getByRole('link', { name: 'Open it again' }).getAttribute('href');
    const other = await world.page();
    await other.goto(link!);
    await other.getByRole('button', { name: 'Connect', exact: true }).click();
    await seen('the test account is connected');
    expect(await testAccounts()).toHaveLength(2);
    await other.context().close();
  });
});
