import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { PlayedProvider } from '#fake-providers/play.ts';
import type { PlayOptions } from '#fake-providers/rules.ts';
import { openFakeAuth, type FakeAuth } from '#fake-providers/server.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { closePages, openPage, screenshotFolder, sharedChromium } from './chromium.ts';

/** A gateway with one integration of each provider, a fake that plays the providers, and a browser. */
export interface BrowserWorld extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly fake: FakeAuth;
  readonly browser: Browser;
  readonly played: Readonly<Record<string, PlayedProvider>>;
  /** Origin of a page of an application; its content is `html`. */
  readonly applicationUrl: string;
  /** Token of a new connect session. */
  session(wanted?: object): Promise<string>;
  /** A page in a context of its own, until `closePages`. */
  page(options?: BrowserContextOptions): Promise<Page>;
  /** A page with the connect page of a new session in it. */
  connectPage(wanted?: object, options?: BrowserContextOptions): Promise<Page>;
  closePages(): Promise<void>;
  connections(): Promise<readonly ListedConnection[]>;
}

export interface ListedConnection {
  readonly connection_id: string;
  readonly provider_config_key: string;
  readonly end_user: { readonly id: string } | null;
}

export interface WorldOptions {
  readonly providers: readonly Provider[];
  readonly playOptions?: PlayOptions;
  /** Whether the application may frame the connect page. */
  readonly isFramed?: boolean;
  /** The application's page, given the gateway's address. */
  html?(gatewayUrl: string): string;
}

export async function openBrowserWorld(options: WorldOptions): Promise<BrowserWorld> {
  await using stack = new AsyncDisposableStack();
  const fake = stack.use(await openFakeAuth());
  const played = Object.fromEntries(
    options.providers.map((provider) => [provider.name, fake.play(provider, options.playOptions)]),
  );
  let html = '';
  const application = stack.use(await serveApplication(() => html));
  const folder = await mkdtemp(join(tmpdir(), 'svc-browser-'));
  stack.defer(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'providers.json'), JSON.stringify(fake.definitions()));
  const gateway = stack.use(
    await startGateway({
      env: {
        SVC_PROVIDERS: folder,
        SVC_EGRESS_ALLOW: fake.hostPort,
        ...(options.isFramed === true ? { SVC_CONNECT_ORIGINS: application.url } : {}),
      },
    }),
  );
  html = options.html?.(gateway.url) ?? '';
  for (const { name } of options.providers) await integrate(gateway, name, played[name]!);
  const browser = await sharedChromium();
  stack.defer(() => closePages(browser));
  const opened = stack.move();

  const session = async (wanted: object = {}): Promise<string> => {
    const body = { end_user: { id: 'person-1', email: 'person@example.com' }, ...wanted };
    const made = await gateway.call('POST', '/connect/sessions', { body });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return (made.body as { data: { token: string } }).data.token;
  };
  const page = (contextOptions: BrowserContextOptions = {}): Promise<Page> =>
    openPage(browser, contextOptions);
  return {
    gateway,
    fake,
    browser,
    played,
    applicationUrl: application.url,
    session,
    page,
    async connectPage(wanted, contextOptions) {
      const shown = await page(contextOptions);
      await shown.goto(`${gateway.url}/connect/ui/?session_token=${await session(wanted)}`);
      return shown;
    },
    closePages: () => closePages(browser),
    async connections() {
      const listed = await gateway.call('GET', '/connections');
      return (listed.body as { connections: ListedConnection[] }).connections;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function integrate(gateway: RunningGateway, name: string, { integration }: PlayedProvider) {
  const body = {
    provider: name,
    unique_key: name,
    ...(integration ? { credentials: integration } : {}),
  };
  const made = await gateway.call('POST', '/integrations', { body });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
}

interface Application extends AsyncDisposable {
  readonly url: string;
}

/** On a host name of its own, so that it is another site than the gateway. */
async function serveApplication(html: () => string): Promise<Application> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * What axe finds wrong with the page, each with the elements it is about; not within frames, for which axe would open
 * a second page each time.
 * @param only names of rules; all of WCAG 2.2 AA and the best practices when absent
 */
export async function violationsOf(page: Page, only?: readonly string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  const chosen = only === undefined ? axe.withTags(rules) : axe.withRules([...only]);
  const { violations } = await chosen.analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

export async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(screenshotFolder, `${name}.png`), fullPage: true });
}
