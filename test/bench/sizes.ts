/**
 * `node test/bench/sizes.ts [connections [runs [samples]]]`: every page of the API and of the console on a gateway with
 * so many connections (100,000) and runs of the last day (1,000,000), and in turns on one with a hundredth of them. Times
 * are medians in ms. Prints each page, slowest growth first; `over_log` counts those that take longer than the logarithm of the
 * sizes allows, and more than 5 ms longer.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { Agent, request } from 'undici';
import { openChromium } from '#test/browser/chromium.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { oldest, seedNew } from './console-seed.ts';
import { percentile, report, round, withFolder } from './measure.ts';

const [connections = '100000', runs = '1000000', samples = '15'] = process.argv.slice(2);
const sizes = { connections: Number(connections), runs: Number(runs) };
const smallSizes = { connections: sizes.connections / 100, runs: sizes.runs / 100 };

/** How much longer a page may take on the large gateway: the larger of both quotients of logarithms. */
const allowed = Math.max(
  Math.log(sizes.connections) / Math.log(smallSizes.connections),
  Math.log(sizes.runs) / Math.log(smallSizes.runs),
);
const leastMs = 5;

const run = '01900000-0000-7000-8000-000000000077';
const ofOldest = `connection_id=${oldest}&provider_config_key=bench`;

/** What has parameters; lists without parameters are of the OpenAPI document. */
const requests = [
  '/providers/hubspot',
  '/providers/hubspot/templates',
  '/integrations/bench',
  '/integrations/bench/functions',
  '/connections?limit=100',
  '/connections?limit=5&page=30',
  '/connections?limit=20&search=user-7',
  '/connections?search=nobody',
  '/connections?endUserId=user-77',
  '/connections?errors=auth',
  '/connections/customer-77?provider_config_key=bench',
  '/runs?limit=100',
  '/runs?status=failed',
  '/runs?function=function-7',
  '/runs?function=none',
  '/runs?search=function-7',
  '/runs?search=nothing',
  `/runs?${ofOldest}`,
  '/runs?connection_id=customer-77&provider_config_key=bench',
  `/runs/${run}`,
  '/topics/svc.runs.v1',
  '/topics/svc.runs.v1/messages',
  '/topics/svc.connections.v1/messages',
  '/projections/runs',
  '/changes?limit=100',
];

const pages = [
  ...['', '/integrations', '/integrations/bench', '/connections', '/connections?search=user-77'],
  ...[`/connections/bench/${oldest}`, '/runs', '/runs?search=function-7', '/runs?connection=gone'],
  ...[
    `/runs/${run}`,
    '/logs',
    '/webhooks-out',
    '/webhooks-in',
    '/changes',
    '/subscriptions',
    '/sql',
  ],
  ...['/playground', '/variables', '/alerts', '/keys', '/connect'],
].map((path) => `/env/dev${path}`);
const accountPages = [
  ...['topics', 'topics/svc.runs.v1', 'projections', 'projections/runs', 'consumer-groups'],
  ...['dead-letters', 'environments', 'keys', 'people', 'sessions', 'audit', 'audit/chains'],
].map((path) => `/account/${path}`);

const agent = new Agent({ connections: 1, pipelining: 1 });

interface Asked {
  readonly ms: number;
  readonly status: number;
}

async function ask(gateway: RunningGateway, path: string): Promise<Asked> {
  const authorizations = [gateway.key, gateway.accountKey];
  for (const key of authorizations) {
    const started = performance.now();
    const headers = { authorization: `Bearer ${key}` };
    const { statusCode, body } = await request(gateway.url + path, { headers, dispatcher: agent });
    await body.dump({ limit: 2 ** 30 });
    const ms = performance.now() - started;
    if (statusCode !== 403 && statusCode !== 401) return { ms, status: statusCode };
  }
  return { ms: 0, status: 403 };
}

/** Without a limit they show more than the small gateway has. */
const limited = new Set(['/connections', '/connection']);

/** Lists of the document that need no parameter. */
async function listsOf(gateway: RunningGateway): Promise<string[]> {
  const document = await gateway.call('GET', '/openapi.json');
  type Parameter = { readonly required?: boolean };
  type Operation = {
    readonly parameters?: readonly Parameter[];
    readonly responses: Readonly<Record<string, { readonly content?: object }>>;
  };
  const paths = (document.body as { paths: Record<string, { get?: Operation }> }).paths;
  const isList = ({ parameters = [], responses }: Operation): boolean =>
    !parameters.some(({ required }) => required === true) &&
    'application/json' in (responses['200']?.content ?? {});
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get !== undefined && isList(get) && !limited.has(path) ? [path] : [],
  );
}

interface Growth {
  readonly page: string;
  readonly smallMs: number;
  readonly largeMs: number;
}

type Timed = (at: 'small' | 'large') => Promise<number>;

/** Some reads share a check of the log's end that begins at most each 50 ms: no request waits for the one before. */
async function apart(at: 'small' | 'large', timed: Timed): Promise<number> {
  await pause(60);
  return timed(at);
}

/** In turns, so that both meet the same machine. */
async function compare(page: string, count: number, timed: Timed): Promise<Growth> {
  const small: number[] = [];
  const large: number[] = [];
  for (let sample = -1; sample < count; sample += 1) {
    const times = [await apart('small', timed), await apart('large', timed)] as const;
    if (sample < 0) continue;
    small.push(times[0]);
    large.push(times[1]);
  }
  return { page, smallMs: percentile(small, 50), largeMs: percentile(large, 50) };
}

async function openedMs(page: Page, url: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator('h1').first().waitFor();
  const loading = page.locator('.skeleton-rows, .skeleton, [aria-busy=true]');
  await loading.first().waitFor({ state: 'detached' });
  return page.evaluate<number>('performance.now()');
}

async function signedIn(
  browser: Awaited<ReturnType<typeof openChromium>>,
  { url, accountKey }: RunningGateway,
): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
  await page.goto(`${url}/console`);
  await page.getByLabel('API key').fill(accountKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('h1').filter({ hasNotText: 'Sign in' }).waitFor();
  return page;
}

function print(all: readonly Growth[]): number {
  const sorted = all.toSorted((a, b) => b.largeMs / b.smallMs - a.largeMs / a.smallMs);
  const over = ({ smallMs, largeMs }: Growth): boolean =>
    largeMs > allowed * smallMs && largeMs - smallMs > leastMs;
  for (const growth of sorted) {
    const { page, smallMs, largeMs } = growth;
    const cells = [smallMs, largeMs, largeMs / smallMs].map((cell) =>
      String(round(cell)).padStart(9),
    );
    console.error(`${page.padEnd(64)}${cells.join('')}${over(growth) ? '  over' : ''}`);
  }
  return sorted.filter(over).length;
}

await withFolder(async (folder) => {
  const env = { SVC_RATE_LIMIT_PER_MINUTE: '0' };
  const seeded = {
    small: await seedNew(join(folder, 'small'), smallSizes),
    large: await seedNew(join(folder, 'large'), sizes),
  };
  await using small = await startGateway({ dataDir: join(folder, 'small'), env });
  await using large = await startGateway({ dataDir: join(folder, 'large'), env });
  const gateways = { small, large };
  const answers: Growth[] = [];
  for (const path of new Set([...(await listsOf(large)), ...requests])) {
    const { status } = await ask(large, path);
    if (status !== 200) console.error(`${path}: ${status}, not compared`);
    else {
      answers.push(
        await compare(path, Number(samples), async (at) => (await ask(gateways[at], path)).ms),
      );
    }
  }
  const overOfApi = print(answers);
  const browser = await openChromium();
  try {
    const opened: Growth[] = [];
    const tabs = { small: await signedIn(browser, small), large: await signedIn(browser, large) };
    for (const path of [...pages, ...accountPages]) {
      const timed: Timed = (at) => openedMs(tabs[at], `${gateways[at].url}/console${path}`);
      opened.push(await compare(path, Math.ceil(Number(samples) / 3), timed));
    }
    const overOfConsole = print(opened);
    report({
      seed_small_s: round(seeded.small),
      seed_large_s: round(seeded.large),
      allowed: round(allowed),
      api_pages: answers.length,
      api_over_log: overOfApi,
      console_pages: opened.length,
      console_over_log: overOfConsole,
    });
  } finally {
    await browser.close();
  }
});
