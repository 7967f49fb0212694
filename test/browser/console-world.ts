import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { webhookRules } from '#modules/connections/providers/webhook-rules.ts';
import type { GatewayAccess } from '#test/support/processes/gateway.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { openProvider, redirectProvider } from './providers.ts';
import { openBrowserWorld, type BrowserWorld } from './world.ts';

export const integration = openProvider.name;
/** Its credentials expire, and can be refreshed. */
export const refreshed = redirectProvider.name;
export const hostile = '<img src=x onerror="document.title=`hit`">';
export const connectionId = 'customer/1 + "x"';
/** A gateway with one connection, and its console in a browser. */
export interface ConsoleWorld extends BrowserWorld {
  /** Of the environment dev. */
  readonly environmentId: number;
  connect(id: string): Promise<void>;
  /** A page that shows the form of the sign-in. */
  openConsole(options?: PageOptions): Promise<Console>;
  /** Signs in with the key of dev and that of the account. */
  signedIn(options?: PageOptions): Promise<Console>;
}
type PageOptions = Parameters<BrowserWorld['page']>[0];

export interface Console {
  readonly page: Page;
  /** Errors and policy reports of the browser's console. */
  readonly complaints: string[];
}

export async function openConsoleWorld(): Promise<ConsoleWorld> {
  const webhook_routing = webhookRules.parse({ type: [{ body: 'type' }] });
  // The schema's output has no undefined values; its type cannot say so.
  const received = { ...openProvider, webhook_routing } as Provider;
  const world = await openBrowserWorld({ providers: [received, redirectProvider] });
  const { gateway } = world;
  const listed = await gateway.call('GET', '/environments', { key: gateway.accountKey });
  const { data } = listed.body as { data: { id: number; name: string }[] };
  const opened: ConsoleWorld = {
    ...world,
    environmentId: data.find(({ name }) => name === 'dev')!.id,
    connect: (id) => connect(world, id),
    openConsole: (options) => openConsole(world, options),
    signedIn: (options) => signedIn(world, options),
  };
  await opened.connect(connectionId);
  return opened;
}

async function connect(world: BrowserWorld, id: string): Promise<void> {
  const body = {
    provider_config_key: integration,
    connection_id: id,
    credentials: { type: 'NONE' },
    end_user: { id: 'person-1', display_name: hostile },
  };
  const made = await world.gateway.call('POST', '/connections', { body });
  expect(made.status).toBe(201);
}

/** What signing in needs. */
type Signing = Pick<BrowserWorld, 'page'> & { readonly gateway: GatewayAccess };

async function openConsole(world: Signing, options: PageOptions = {}): Promise<Console> {
  const page = await world.page(options);
  noteRequests(page);
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

export async function enterKey(page: Page, key: string, button: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: button, exact: true }).click();
}

/** Signs in with the key of dev and that of the account. */
export async function signedIn(world: Signing, options?: PageOptions): Promise<Console> {
  const opened = await openConsole(world, options);
  const { page } = opened;
  await enterKey(page, world.gateway.key, 'Sign in');
  await page.getByRole('heading', { name: 'dev' }).waitFor();
  await addKey(page, world.gateway.accountKey);
  opened.complaints.length = 0;
  return opened;
}

/** Requests of a page that are under way. */
const underWay = new WeakMap<Page, Set<Request>>();

function noteRequests(page: Page): void {
  const requests = new Set<Request>();
  underWay.set(page, requests);
  page.on('request', (request) => void requests.add(request));
  const end = (request: Request): void => void requests.delete(request);
  page.on('requestfinished', end).on('requestfailed', end);
}

/**
 * Adds a key to the session of the environment dev. It makes another session: what the page asks for meanwhile is refused,
 * asked for again, and listed by the browser.
 */
export async function addKey(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'dev', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Add a key…' }).click();
  await enterKey(page, key, 'Add the key');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await eventually(
    async () => underWay.get(page)?.size ?? 0,
    (count) => count === 0,
  );
}
