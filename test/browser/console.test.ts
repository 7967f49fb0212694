import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  addKey,
  connectionId,
  enterKey,
  hostile,
  integration,
  openConsoleWorld,
  type ConsoleWorld,
} from './console-world.ts';

let world: ConsoleWorld;
beforeAll(async () => {
  world = await openConsoleWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('the console', () => {
  afterEach(() => world.closePages());

  it('says why a key is refused', async () => {
    const { page } = await world.openConsole();
    await enterKey(page, `svc_env_${'x'.repeat(43)}`, 'Sign in');
    await page.locator('.notice.bad').waitFor();
    expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true);
  });

  it('keeps no key in the browser, and shows text of others as text', async () => {
    const { page, complaints } = await world.signedIn();
    await page.goto(`${world.gateway.url}/console/env/dev/connections`);
    await page.getByText(hostile).first().waitFor();
    const stored = await page.evaluate(() =>
      JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        document.cookie,
        location.href,
      ]),
    );
    expect(stored).not.toContain(world.gateway.key);
    expect(stored).not.toContain('svc_');
    expect(await page.title()).toContain('Connections');
    expect(complaints).toEqual([]);
  });

  it('leads to the documentation, in a tab of its own', async () => {
    const { page } = await world.signedIn();
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Documentation' }).click();
    const documentation = await opened;
    await documentation.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(documentation.url()).pathname).toBe('/docs/');
  });

  it('goes on in another tab after a key was added, with the new session', async () => {
    const { page } = await world.openConsole();
    await enterKey(page, world.gateway.key, 'Sign in');
    await page.getByRole('heading', { name: 'dev' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${world.gateway.url}/console/env/dev/connections`);
    await other.getByRole('link', { name: hostile }).waitFor();
    await addKey(page, world.gateway.accountKey);
    // The other tab learns of the new session: it reads with its token, and shows the pages of the account.
    await other.getByRole('link', { name: 'Topics' }).click();
    await other.getByRole('link', { name: 'svc.connections.v1' }).waitFor();
  });

  it('shows what it asked for while the session was replaced', async () => {
    const { page } = await world.signedIn();
    await page.goto(`${world.gateway.url}/console/env/dev`);
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const asked = page.waitForRequest(/\/connections\?/);
    await page.route(/\/connections\?/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Connections', exact: true }).click();
    await asked;
    const other = await page.context().newPage();
    await other.goto(`${world.gateway.url}/console/env/dev`);
    await addKey(other, world.gateway.prodKey);
    const refused = page.waitForResponse((response) => response.status() === 403);
    letGo();
    await refused;
    await page.getByRole('link', { name: hostile }).waitFor();
  });

  it('filters a list in its address', async () => {
    const { page } = await world.signedIn();
    await page.goto(`${world.gateway.url}/console/env/dev/connections?search=nobody`);
    await page.getByRole('heading', { name: 'No connection matches' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('customer');
    await page.getByRole('link', { name: hostile }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=customer');
  });

  it('shows a message of a topic, to which a link leads', async () => {
    const { page, complaints } = await world.signedIn();
    await page.goto(`${world.gateway.url}/console/account/topics`);
    await page.getByRole('link', { name: 'svc.connections.v1' }).click();
    await page.getByRole('region', { name: 'Messages' }).getByRole('link').first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('region', { name: 'Value' }).getByText('"connection_id"').waitFor();
    await page.reload();
    await drawer.getByRole('region', { name: 'Headers' }).getByText('ce_type').waitFor();
    await page.goto(
      `${world.gateway.url}/console/account/topics/svc.connections.v1?by=key&key=none`,
    );
    await page.getByText('No messages').waitFor();
    expect(complaints).toEqual([]);
  });

  it('sets a variable with the keyboard alone', async () => {
    const { page } = await world.signedIn();
    await page.goto(`${world.gateway.url}/console/env/dev/variables`);
    await page.getByRole('button', { name: 'Set a variable' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.type('REGION');
    await page.keyboard.press('Tab');
    await page.keyboard.type('eu-1');
    await page.keyboard.press('Enter');
    await page.getByText('REGION was set').waitFor();
    const read = await world.gateway.call('GET', '/environment-variables');
    expect(read.body).toEqual([{ name: 'REGION', value: 'eu-1' }]);
  });

  it('deletes a connection once its name is typed', async () => {
    await world.connect('doomed');
    const { page } = await world.signedIn();
    await page.goto(
      `${world.gateway.url}/console/env/dev/connections/${integration}/doomed/settings`,
    );
    await page.getByRole('button', { name: 'Delete the connection…' }).click();
    const confirm = page.getByRole('button', { name: 'Delete the connection', exact: true });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type doomed to confirm').fill('doomed');
    await confirm.click();
    await page.getByText('doomed was deleted').waitFor();
    const left = await world.connections();
    expect(left.map(({ connection_id: id }) => id)).toEqual([connectionId]);
  });

  it('reads a long list while it is scrolled, page by page', async () => {
    await Promise.all(Array.from({ length: 230 }, (_, at) => world.connect(`many-${at}`)));
    const { page, complaints } = await world.signedIn();
    const read: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/connections') read.push(searchParams.has('cursor') ? 'next' : 'first');
    });
    await page.goto(`${world.gateway.url}/console/env/dev/connections`);
    await page.getByText('200 connections so far').waitFor();
    expect(read).toEqual(['first']);
    await page.getByRole('region', { name: 'Connections' }).focus();
    await page.keyboard.press('End');
    await page.getByText('231 connections', { exact: true }).waitFor();
    await page.keyboard.press('End');
    await page.getByTitle(connectionId).first().waitFor();
    expect(read).toEqual(['first', 'next']);
    const frame = page.getByRole('region', { name: 'Connections' });
    expect(await frame.getByRole('link').count()).toBeLessThan(100);
    // Chromium drops a key that comes while the scrolling of another goes on.
    const leftBelow = () =>
      frame.evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop);
    await expect.poll(leftBelow).toBeLessThan(1);
    await page.keyboard.press('Home');
    await page.getByTitle(connectionId).first().waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('ends the session on sign-out', async () => {
    const { page } = await world.signedIn();
    await page.getByRole('button', { name: 'Session' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${world.gateway.url}/console/env/dev/runs`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
