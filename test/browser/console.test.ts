import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openProvider } from './providers.ts';
import { openBrowserWorld, screenshot, violationsOf, type BrowserWorld } from './world.ts';

const integration = openProvider.name;
const hostile = '<img src=x onerror="document.title=`hit`">';
const connectionId = 'customer/1 + "x"';
const looks = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 390 },
] as const;

let world: BrowserWorld;
let environmentId: number;

beforeAll(async () => {
  world = await openBrowserWorld({ providers: [openProvider] });
  const { gateway } = world;
  const listed = await gateway.call('GET', '/environments', { key: gateway.accountKey });
  const { data } = listed.body as { data: { id: number; name: string }[] };
  environmentId = data.find(({ name }) => name === 'dev')!.id;
  await connect(connectionId);
});
afterAll(() => world[Symbol.asyncDispose]());

async function connect(id: string): Promise<void> {
  const body = {
    provider_config_key: integration,
    connection_id: id,
    credentials: { type: 'NONE' },
    end_user: { id: 'person-1', display_name: hostile },
  };
  const made = await world.gateway.call('POST', '/connections', { body });
  expect(made.status).toBe(201);
}

interface Console {
  readonly page: Page;
  /** Errors and policy reports of the browser's console. */
  readonly complaints: string[];
}

/** A page that shows the form of the sign-in. */
async function openConsole(options: Parameters<BrowserWorld['page']>[0] = {}): Promise<Console> {
  const page = await world.page(options);
  await page.goto(`${world.gateway.url}/console`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  // Before it is signed in, the browser lists the refused session.
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(String(error)));
  return { page, complaints };
}

async function enterKey(page: Page, key: string, button: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: button, exact: true }).click();
}

/** Signs in with the key of dev and that of the account. */
async function signedIn(options: Parameters<BrowserWorld['page']>[0] = {}): Promise<Console> {
  const opened = await openConsole(options);
  const { page } = opened;
  await enterKey(page, world.gateway.key, 'Sign in');
  await page.getByRole('heading', { name: 'dev' }).waitFor();
  await page.getByRole('button', { name: 'dev', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Add a key…' }).click();
  await enterKey(page, world.gateway.accountKey, 'Add the key');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return opened;
}

const connection = `/connections/${integration}/${encodeURIComponent(connectionId)}`;
/** Stands for the id of dev, which only the gateway knows. */
const devId = ':dev';

const pages: readonly (readonly [path: string, heading: string])[] = [
  ['/env/dev', 'dev'],
  ['/env/dev/integrations', 'Integrations'],
  ['/env/dev/integrations/new', 'Add an integration'],
  [`/env/dev/integrations/${integration}`, integration],
  [`/env/dev/integrations/${integration}/functions`, integration],
  ['/env/dev/connections', 'Connections'],
  [`/env/dev${connection}`, connectionId],
  [`/env/dev${connection}/syncs`, connectionId],
  [`/env/dev${connection}/records`, connectionId],
  [`/env/dev${connection}/settings`, connectionId],
  ['/env/dev/connect', 'Connect an account'],
  ['/env/dev/runs', 'Runs'],
  ['/env/dev/logs', 'Logs'],
  ['/env/dev/webhooks-out', 'Webhooks out'],
  ['/env/dev/webhooks-out/endpoints', 'Webhooks out'],
  ['/env/dev/webhooks-out/signing-key', 'Webhooks out'],
  ['/env/dev/webhooks-in', 'Webhooks in'],
  ['/env/dev/playground', 'Playground'],
  ['/env/dev/variables', 'Variables'],
  ['/account/topics', 'Topics'],
  ['/account/projections', 'Projections'],
  ['/account/projections/records', 'records'],
  ['/account/consumer-groups', 'Consumer groups'],
  ['/account/dead-letters', 'Dead letters'],
  ['/account/environments', 'Environments'],
  [`/account/environments/${devId}`, 'dev'],
  [`/account/environments/${devId}/settings`, 'dev'],
  [`/account/environments/${devId}/retention`, 'dev'],
  ['/account/audit', 'Audit'],
  ['/design', 'Design system'],
];

describe.each(looks)('the console, $theme at $width', ({ theme, width }) => {
  let opened: Console;
  beforeAll(async () => {
    opened = await signedIn({ colorScheme: theme, viewport: { width, height: 860 } });
  });
  afterAll(() => world.closePages());

  it.each(pages)('shows %s, which fits and which axe accepts', async (path, heading) => {
    const { page, complaints } = opened;
    complaints.length = 0;
    await page.goto(`${world.gateway.url}/console${path.replace(devId, String(environmentId))}`);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    await screenshot(page, `console${path.replaceAll(/[^a-z-]+/g, '_')}-${theme}-${width}`);
    expect(await violationsOf(page)).toEqual([]);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(overflow).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });
});

describe('the console', () => {
  afterEach(() => world.closePages());

  it('says why a key is refused', async () => {
    const { page } = await openConsole();
    await enterKey(page, `svc_env_${'x'.repeat(43)}`, 'Sign in');
    await page.locator('.notice.bad').waitFor();
    expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true);
  });

  it('keeps no key in the browser, and shows text of others as text', async () => {
    const { page, complaints } = await signedIn();
    await page.goto(`${world.gateway.url}/console/env/dev/connections`);
    await page.getByText(hostile).waitFor();
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

  it('filters a list in its address', async () => {
    const { page } = await signedIn();
    await page.goto(`${world.gateway.url}/console/env/dev/connections?search=nobody`);
    await page.getByRole('heading', { name: 'No connection matches' }).waitFor();
    await page.getByLabel('Search').fill('customer');
    await page.getByRole('link', { name: connectionId }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=customer');
  });

  it('sets a variable with the keyboard alone', async () => {
    const { page } = await signedIn();
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
    await connect('doomed');
    const { page } = await signedIn();
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

  it('ends the session on sign-out', async () => {
    const { page } = await signedIn();
    await page.getByRole('button', { name: 'Session' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${world.gateway.url}/console/env/dev/runs`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
