import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { redirectProvider } from './providers.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({ providers: [redirectProvider] });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => world.played['beacon']!.refuses(null));

const madeFor = async (id: string) =>
  (await world.connections()).filter(({ end_user }) => end_user?.id === id);
const form = (page: Page) => page.getByRole('heading', { name: 'Connect Beacon' });
const done = (page: Page) => page.getByRole('heading', { name: 'Beacon is connected' });
const refusal = (page: Page) =>
  page.getByRole('alert').filter({ hasText: 'Beacon was not connected' });

/** The provider asks the person once; after the click it sends the browser back. */
function asksFirst(headers: Record<string, string> = {}): void {
  world.played['beacon']!.plan('authorize', {
    status: 200,
    headers: { 'content-type': 'text/html', ...headers },
    body: '<!doctype html><title>Beacon</title><a href="">Allow</a>',
  });
}

/** Clicks the button, and gives the provider's window. */
async function openWindow(page: Page, name = 'Connect'): Promise<Page> {
  const opening = page.context().waitForEvent('page');
  await page.getByRole('button', { name, exact: true }).click();
  return opening;
}

describe('a provider in a window of its own', () => {
  it('connects, closes the window, and sends no referrer', async () => {
    asksFirst();
    const page = await world.connectPage({ end_user: { id: 'in-window' } });
    const opened = await openWindow(page);
    await page.getByText('Continue in the window that has opened.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await opened.getByRole('link', { name: 'Allow' }).click();
    await done(page).waitFor();
    if (!opened.isClosed()) await opened.waitForEvent('close');
    expect(await madeFor('in-window')).toMatchObject([{ provider_config_key: 'beacon' }]);
    const visits = world.played['beacon']!.asked.filter(({ role }) => role === 'authorize');
    expect(visits.map(({ headers }) => headers.referer)).not.toContainEqual(
      expect.stringContaining('session_token'),
    );
  });

  it('connects though the provider cuts the tie between the windows', async () => {
    asksFirst({ 'cross-origin-opener-policy': 'same-origin' });
    const page = await world.connectPage({ end_user: { id: 'cut-off' } });
    const opened = await openWindow(page);
    await opened.getByRole('link', { name: 'Allow' }).click();
    await done(page).waitFor();
    expect(await madeFor('cut-off')).toHaveLength(1);
  });

  it('connects without the socket of the service', async () => {
    const page = await world.page();
    await page.routeWebSocket('**', (socket) => socket.close());
    const token = await world.session({ end_user: { id: 'no-socket' } });
    await page.goto(`${world.gateway.url}/connect/ui/?session_token=${token}`);
    await openWindow(page);
    await done(page).waitFor();
    expect(await madeFor('no-socket')).toHaveLength(1);
  });

  it("shows the provider's refusal with its code and log id, and lets the person try again", async () => {
    world.played['beacon']!.refuses('access_denied');
    const page = await world.connectPage({ end_user: { id: 'refused' } });
    await openWindow(page);
    await refusal(page).waitFor();
    const text = await refusal(page).innerText();
    expect(text).toContain('Access was not granted at Beacon.');
    expect(text).toContain('access_denied');
    expect(text).toMatch(/Log ID\s+\S+/);
    expect(await violationsOf(page)).toEqual([]);
    expect(await madeFor('refused')).toEqual([]);
    world.played['beacon']!.refuses(null);
    await openWindow(page);
    await done(page).waitFor();
  });

  it('that the person closes can be opened again', async () => {
    asksFirst();
    const page = await world.connectPage({ end_user: { id: 'closed' } });
    const opened = await openWindow(page);
    await opened.getByRole('link', { name: 'Allow' }).waitFor();
    await opened.close();
    await page.getByText('The window seems to be closed.').waitFor();
    await openWindow(page, 'Open the window again');
    await done(page).waitFor();
    expect(await madeFor('closed')).toHaveLength(1);
  });

  it('that the browser blocks is offered as a link', async () => {
    const page = await world.page();
    // As a browser does that lets no script open windows.
    await page.addInitScript(() => {
      window.open = () => null;
    });
    const token = await world.session({ end_user: { id: 'blocked' } });
    await page.goto(`${world.gateway.url}/connect/ui/?session_token=${token}`);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('The browser blocked the window.').waitFor();
    await page.getByRole('link', { name: 'Open the window' }).click();
    await done(page).waitFor();
    expect(await madeFor('blocked')).toHaveLength(1);
  });

  it('that another tab opened is not taken for its own', async () => {
    const page = await world.connectPage({ end_user: { id: 'tab-one' } });
    const token = await world.session({ end_user: { id: 'tab-two' } });
    const other = await page.context().newPage();
    await other.goto(`${world.gateway.url}/connect/ui/?session_token=${token}`);
    asksFirst();
    const opened = await openWindow(page);
    await opened.getByRole('link', { name: 'Allow' }).waitFor();
    await openWindow(other);
    await done(other).waitFor();
    expect(await page.getByText('Continue in the window that has opened.').count()).toBe(1);
    await opened.getByRole('link', { name: 'Allow' }).click();
    await done(page).waitFor();
    expect(await madeFor('tab-one')).toHaveLength(1);
    expect(await madeFor('tab-two')).toHaveLength(1);
  });

  it('is left by canceling', async () => {
    asksFirst();
    const page = await world.connectPage();
    const opened = await openWindow(page);
    await opened.getByRole('link', { name: 'Allow' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    expect(opened.isClosed()).toBe(true);
  });
});

describe('a provider in the same window', () => {
  it('connects and comes back to the page', async () => {
    asksFirst();
    const page = await world.connectPage({ end_user: { id: 'same-window' } });
    await page.getByRole('button', { name: 'Continue in this window' }).click();
    await page.getByRole('link', { name: 'Allow' }).click();
    await done(page).waitFor();
    expect(page.url()).toBe(`${world.gateway.url}/connect/ui/`);
    expect(await madeFor('same-window')).toHaveLength(1);
  });

  it('comes back with the refusal, its code and log id', async () => {
    world.played['beacon']!.refuses('access_denied');
    const page = await world.connectPage();
    await page.getByRole('button', { name: 'Continue in this window' }).click();
    await refusal(page).waitFor();
    const text = await refusal(page).innerText();
    expect(text).toContain('access_denied');
    expect(text).toMatch(/Log ID\s+\S+/);
  });

  it('that the person leaves by going back shows the form again', async () => {
    asksFirst();
    const page = await world.connectPage();
    await form(page).waitFor();
    await page.getByRole('button', { name: 'Continue in this window' }).click();
    await page.getByRole('link', { name: 'Allow' }).waitFor();
    await page.goBack();
    await form(page).waitFor();
  });
});

describe('a page of the application that opens the window itself', () => {
  it.each([
    [null, { type: 'svc_oauth_callback_success' }],
    ['access_denied', { type: 'svc_oauth_callback_error', payload: { errorType: 'callback_err' } }],
  ])('receives the outcome, and nothing of the account: refused with %s', async (error, told) => {
    world.played['beacon']!.refuses(error);
    const page = await world.page();
    await page.goto(world.applicationUrl);
    const query = new URLSearchParams({ connect_session_token: await world.session() });
    for (const [name, value] of Object.entries(world.played['beacon']!.connectionConfig)) {
      query.set(`params[${name}]`, value);
    }
    const url = `${world.gateway.url}/oauth/connect/beacon?${query}`;
    const heard = await page.evaluate(
      (address) =>
        new Promise((resolve) => {
          addEventListener('message', ({ data, source }) => {
            (source as Window).postMessage({ type: 'svc_oauth_callback_ack' }, '*');
            resolve(data);
          });
          window.open(address);
        }),
      url,
    );
    expect(heard).toMatchObject(told);
    expect(JSON.stringify(heard)).not.toMatch(/connectionId|providerConfigKey|log/i);
  });
});

describe('a session that renews a connection', () => {
  it('says so, and keeps the connection', async () => {
    const first = await world.connectPage({ end_user: { id: 'again' } });
    await openWindow(first);
    await done(first).waitFor();
    const [made] = await madeFor('again');
    const body = {
      connection_id: made!.connection_id,
      integration_id: 'beacon',
      end_user: { id: 'again' },
    };
    const session = await world.gateway.call('POST', '/connect/sessions/reconnect', { body });
    const page = await world.page();
    const { connect_link: link } = (session.body as { data: { connect_link: string } }).data;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Reconnect Beacon' }).waitFor();
    await openWindow(page);
    await done(page).waitFor();
    const after = await madeFor('again');
    expect(after.map(({ connection_id }) => connection_id)).toEqual([made!.connection_id]);
  });
});

const cli = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** What `svc console` prints for the environment prod, which is empty. */
async function consoleLink(): Promise<string> {
  const { url, prodKey } = world.gateway;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, 'console', '-e', 'prod', '--no-interactive'],
    { env: { ...process.env, SVC_HOSTPORT: url, SVC_SECRET_KEY_PROD: prodKey } },
  );
  expect(stdout).not.toContain(prodKey);
  return stdout.trim();
}

it('leads from an empty console to synced records of the demo provider in three clicks', async () => {
  const page = await world.page();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(await consoleLink());
  const start = page.getByRole('button', { name: 'Try the demo provider' });
  await start.waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await screenshot(page, 'demo-first-steps');

  const opened = page.context().waitForEvent('page');
  await start.click();
  const consent = await openWindow(await opened);
  const allow = consent.getByRole('button', { name: 'Allow' });
  await allow.waitFor();
  expect(await violationsOf(consent)).toEqual([]);
  await screenshot(consent, 'demo-consent');
  await allow.click();

  await page.waitForURL(/\/console\/env\/prod\/connections\/demo-oauth\/[^/]+\/records$/);
  await page.getByRole('button', { name: 'Contact 250' }).waitFor();
  await page.getByText('Ada Adler').first().waitFor();
  await screenshot(page, 'demo-records');
  const { gateway } = world;
  const listed = await gateway.call('GET', '/connections', { key: gateway.prodKey });
  expect(listed.body).toMatchObject({ connections: [{ provider_config_key: 'demo-oauth' }] });
  expect(complaints).toEqual([]);
});
