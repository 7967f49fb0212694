import type { Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectOptions } from '#modules/connections/connect-page/browser/embed.ts';
import type { ConnectEvent } from '#modules/connections/connect-page/browser/host.ts';
import { keyProvider, openProvider, redirectProvider } from './providers.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({
    providers: [keyProvider, openProvider, redirectProvider],
    isFramed: true,
    html: (gatewayUrl) => `<!doctype html>
<html lang="en"><title>Application</title><main><h1>Application</h1><div id="place"></div></main>
<script src="${gatewayUrl}/connect/embed.js"></script></html>`,
  });
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

declare global {
  interface Window {
    events: ConnectEvent[];
    heard: unknown[];
  }
}

type Options = Omit<ConnectOptions, 'onEvent' | 'container'> & { readonly isInline?: boolean };

/** The application's page, which shows the connect page. */
async function applicationWith(options: Options): Promise<Page> {
  const page = await world.page();
  await page.goto(world.applicationUrl);
  await open(page, options);
  return page;
}

const open = (page: Page, options: Options): Promise<void> =>
  page.evaluate(({ isInline, ...given }) => {
    window.events = [];
    const place = document.getElementById('place');
    window.svcConnect.open({
      ...given,
      ...(isInline === true && place ? { container: place } : {}),
      onEvent: (event) => window.events.push(event),
    });
  }, options);

const eventsOf = (page: Page): Promise<ConnectEvent[]> => page.evaluate(() => window.events);

async function frameIn(page: Page): Promise<Frame> {
  const element = await page.locator('iframe').elementHandle();
  return (await element.contentFrame())!;
}

const onlyOpen = { allowed_integrations: ['weather'] };

describe('the embed script, on a page of another site', () => {
  it('shows the page in a layer, reports its events, and removes it', async () => {
    const sessionToken = await world.session({ ...onlyOpen, end_user: { id: 'framed' } });
    const asked: string[] = [];
    const page = await world.page();
    page.on('request', (request) => asked.push(`${request.resourceType()} ${request.url()}`));
    await page.goto(world.applicationUrl);
    await open(page, { sessionToken });
    const frame = await frameIn(page);
    await frame.getByRole('heading', { name: 'Connect Open weather' }).waitFor();
    await screenshot(page, 'embedded');
    expect(await violationsOf(page)).toEqual([]);
    await frame.getByRole('button', { name: 'Connect', exact: true }).click();
    await frame.getByRole('button', { name: 'Finish' }).click();
    await page.locator('iframe').waitFor({ state: 'detached' });
    const [made] = (await world.connections()).filter(({ end_user }) => end_user?.id === 'framed');
    expect(await eventsOf(page)).toEqual([
      { type: 'open' },
      {
        type: 'connect',
        connectionId: made!.connection_id,
        providerConfigKey: 'weather',
        isPending: false,
      },
      { type: 'close' },
    ]);
    const documents = asked.filter((line) => line.startsWith('document'));
    expect(documents).toHaveLength(2);
    expect(documents.join(' ')).not.toContain(sessionToken);
  });

  it('reports a refusal with its code and log id, and being closed by Escape', async () => {
    const sessionToken = await world.session({ allowed_integrations: ['harbour'] });
    const page = await applicationWith({ sessionToken, language: 'de', theme: 'dark' });
    const frame = await frameIn(page);
    await frame.getByRole('heading', { name: 'Harbour CRM verbinden' }).waitFor();
    const { connectionConfig } = world.played['harbour']!;
    await frame.getByLabel('Region').selectOption(connectionConfig['region']!);
    await frame.getByRole('textbox', { name: 'Account' }).fill(connectionConfig['account']!);
    await frame.getByLabel('Secret key', { exact: true }).fill('wrong-key-4711');
    await frame.getByRole('button', { name: 'Verbinden', exact: true }).click();
    await frame.getByText('connection_test_failed').waitFor();
    await page.locator('dialog').press('Escape');
    await page.locator('iframe').waitFor({ state: 'detached' });
    const events = await eventsOf(page);
    expect(events.map(({ type }) => type)).toEqual(['open', 'error', 'close']);
    expect(events[1]).toMatchObject({
      code: 'connection_test_failed',
      logId: expect.stringMatching(/\S/) as string,
    });
    expect(JSON.stringify(events)).not.toContain('wrong-key-4711');
  });

  it('shows the page within an element, signs in at a provider from there, and closes it', async () => {
    const wanted = { allowed_integrations: ['beacon'], end_user: { id: 'inline' } };
    const page = await applicationWith({
      sessionToken: await world.session(wanted),
      isInline: true,
    });
    const frame = await frameIn(page);
    await frame.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    expect(await frame.getByRole('button', { name: 'Continue in this window' }).count()).toBe(0);
    await frame.getByRole('button', { name: 'Connect', exact: true }).click();
    await frame.getByRole('heading', { name: 'Beacon is connected' }).waitFor();
    await frame.getByRole('button', { name: 'Close', exact: true }).click();
    await page.locator('iframe').waitFor({ state: 'detached' });
    expect((await eventsOf(page)).map(({ type }) => type)).toEqual(['open', 'connect', 'close']);
  });

  it('shows the page in a window', async () => {
    const page = await world.page();
    await page.goto(world.applicationUrl);
    const opening = page.context().waitForEvent('page');
    await open(page, { sessionToken: await world.session(onlyOpen), as: 'popup' });
    const opened = await opening;
    await opened.getByRole('button', { name: 'Connect', exact: true }).click();
    await opened.getByRole('heading', { name: 'Open weather is connected' }).waitFor();
    const closed = opened.waitForEvent('close');
    // The window may be gone before the press of its button has ended.
    const pressed = opened.getByRole('button', { name: 'Finish' }).click();
    await Promise.all([closed, pressed.catch(() => undefined)]);
    await page.waitForFunction(() => window.events.some(({ type }) => type === 'close'));
    expect((await eventsOf(page)).map(({ type }) => type)).toEqual(['open', 'connect', 'close']);
  });

  it('shows nothing to a site that the settings do not name', async () => {
    const page = await world.page();
    const refused = page.waitForEvent('console', (message) =>
      /frame-ancestors/.test(message.text()),
    );
    await page.goto(world.applicationUrl.replace('localhost', '127.0.0.1'));
    await open(page, { sessionToken: await world.session(onlyOpen) });
    await refused;
    expect(await eventsOf(page)).toEqual([]);
  });
});

describe('the page in a frame', () => {
  it('posts messages to the configured origin only', async () => {
    const page = await world.page();
    await page.goto(world.applicationUrl);
    const token = await world.session(onlyOpen);
    const link = `${world.gateway.url}/connect/ui/#session_token=${token}`;
    await page.evaluate((src) => {
      window.heard = [];
      window.addEventListener('message', ({ data }) => window.heard.push(data));
      const frame = document.createElement('iframe');
      frame.src = `${src}&parent_origin=https://elsewhere.example`;
      document.body.append(frame);
    }, link);
    const frame = await frameIn(page);
    await frame.getByRole('button', { name: 'Connect', exact: true }).click();
    await frame.getByRole('heading', { name: 'Open weather is connected' }).waitFor();
    expect(await page.evaluate(() => window.heard)).toEqual([]);
  });
});
