/**
 * `node test/bench/console.ts [connections [runs [seconds [rounds]]]]`: the console in headless Chromium on a gateway of
 * its own with so many connections (10,000) and runs of the last day (100,000). Compressed bytes of first pages; time
 * from navigation until a list has rows and scrolls (median), beside that of an empty page; the longest task while each
 * list is scrolled to its last row by the wheel, in time and in processor time of its thread; processor time of the
 * gateway with a page open, less that without one, in turns of some seconds (60) for several rounds (2).
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openChromium } from '#test/browser/chromium.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { treeCpuMs } from '#test/support/processes/processor-time.ts';
import { oldest, seedNew } from './console-seed.ts';
import { percentile, report, round, seconds, withFolder, type Figures } from './measure.ts';

const [connections = '10000', runs = '100000', turnSeconds = '60', rounds = '2'] =
  process.argv.slice(2);
const section = '/console/env/dev';
const lists = { connections: `${section}/connections`, runs: `${section}/runs` } as const;
const pages = { home: section, ...lists } as const;
type PageName = keyof typeof pages;
const pageNames = Object.keys(pages) as PageName[];

const samples = 7;
const row = '.table tbody tr:not(.spacer) a';

/** In every page: when its table scrolled first, and its longest task, in ms. */
const observe = `
  window.longestTask = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      window.longestTask = Math.max(window.longestTask, duration);
    }
  }).observe({ type: 'longtask', buffered: true });
  window.scrolledAt = null;
  document.addEventListener('scroll', () => { window.scrolledAt ??= performance.now(); }, true);
`;

type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

/** A browser without a cache that is signed in. */
async function newPage(browser: Browser, storageState?: Session): Promise<Page> {
  const context = await browser.newContext({
    locale: 'en-GB',
    ...(storageState === undefined ? {} : { storageState }),
  });
  await context.addInitScript(observe);
  return context.newPage();
}

/** What the browser received for the page, without the responses of the API. */
const bytesOf = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .filter(({ entryType, initiatorType }) => entryType === 'navigation' || initiatorType !== 'fetch')
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );

/** Signs in; the first document of a new gateway is bundled meanwhile. */
async function signIn(browser: Browser, gateway: RunningGateway) {
  const page = await newPage(browser);
  const firstMs = await seconds(async () => {
    await page.goto(`${gateway.url}/console`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
  const bytes = await bytesOf(page);
  await page.getByLabel('API key').fill(gateway.key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'dev' }).waitFor();
  const session = await page.context().storageState();
  await page.context().close();
  const figures = { first_document_ms: round(1000 * firstMs), sign_in_kb: round(bytes / 1024) };
  return { session, figures };
}

interface Usable {
  readonly rowsMs: number;
  readonly usableMs: number;
  readonly bytes: number;
}

/** Opens a list in a browser without a cache. */
async function openList(browser: Browser, session: Session, url: string): Promise<Usable> {
  const page = await newPage(browser, session);
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForSelector(row);
  const rowsMs = await page.evaluate<number>('performance.now()');
  await overTable(page);
  for (let usableMs: number | null = null; ;) {
    await page.mouse.wheel(0, 100);
    usableMs = await page.evaluate<number | null>('window.scrolledAt');
    if (usableMs === null) continue;
    const bytes = await bytesOf(page);
    await page.context().close();
    return { rowsMs, usableMs, bytes };
  }
}

async function overTable(page: Page): Promise<void> {
  const box = await page.locator('.table-frame').boundingBox();
  if (box === null) throw new Error('the table is not in view');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
}

const median = (values: readonly number[]): number => round(percentile(values, 50));

/** What a document of a few bytes takes on this machine meanwhile. */
async function emptyPage(
  browser: Browser,
  session: Session,
  gateway: RunningGateway,
): Promise<number> {
  const opened: number[] = [];
  for (let at = 0; at < samples; at += 1) {
    const page = await newPage(browser, session);
    await page.goto(`${gateway.url}/health`, { waitUntil: 'load' });
    opened.push(await page.evaluate<number>('performance.now()'));
    await page.context().close();
  }
  return median(opened);
}

async function usable(
  browser: Browser,
  session: Session,
  gateway: RunningGateway,
): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const [name, path] of Object.entries(lists)) {
    const opened: Usable[] = [];
    for (let at = 0; at < samples; at += 1) {
      opened.push(await openList(browser, session, gateway.url + path));
    }
    figures[`${name}_kb`] = round(Math.max(...opened.map(({ bytes }) => bytes)) / 1024);
    figures[`${name}_rows_ms_p50`] = median(opened.map(({ rowsMs }) => rowsMs));
    figures[`${name}_usable_ms_p50`] = median(opened.map(({ usableMs }) => usableMs));
  }
  figures['empty_page_ms_p50'] = await emptyPage(browser, session, gateway);
  const page = await newPage(browser, session);
  await page.goto(gateway.url + pages.home);
  await page.locator('.tiles').waitFor();
  await page.waitForLoadState('networkidle');
  figures['home_kb'] = round((await bytesOf(page)) / 1024);
  await page.context().close();
  return figures;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time, in µs. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Processor time of the longest task of a page's main thread: what others do on the machine does not count. */
function longestCpuMs(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  return traceEvents
    .filter((event) => event.name.endsWith('RunTask') && threads.has(threadOf(event)))
    .reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1_000), 0);
}

const wheelPx = 1_200;
const endlessMs = 600_000;

/** The longest task while the list is scrolled to its last row, and the memory of its page then. */
async function scroll(browser: Browser, session: Session, url: string): Promise<Figures> {
  const page = await newPage(browser, session);
  await page.goto(url);
  await page.waitForSelector(row);
  await overTable(page);
  await page.evaluate('window.longestTask = 0');
  await browser.startTracing(page, { categories: ['toplevel'] });
  let steps = 0;
  const taken = await seconds(async () => {
    const deadline = performance.now() + endlessMs;
    while ((await page.getByTitle(oldest).count()) === 0) {
      if (performance.now() > deadline) throw new Error(`${url}: the last row was not reached`);
      await page.mouse.wheel(0, wheelPx);
      steps += 1;
    }
  });
  const longestCpu = longestCpuMs(await browser.stopTracing());
  const longest = await page.evaluate<number>('window.longestTask');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  await page.context().close();
  return {
    scroll_steps: steps,
    scroll_s: round(taken),
    // Tasks of 50 ms and more are long.
    longest_task_ms: round(longest),
    longest_task_cpu_ms: round(longestCpu),
    heap_mb: round(usedSize / 1024 ** 2),
  };
}

/** Percent of a core that each page costs the gateway, with what it takes without a page. */
async function cost(browser: Browser, session: Session, gateway: RunningGateway): Promise<Figures> {
  const { pid } = gateway.process;
  if (pid === undefined) throw new Error('the gateway has no process');
  const turn = async (): Promise<number> => {
    const before = treeCpuMs(pid);
    const taken = await seconds(() => wait(1000 * Number(turnSeconds)));
    return (treeCpuMs(pid) - before) / (10 * taken);
  };
  const added = new Map(pageNames.map((name) => [name, [] as number[]]));
  const idle: number[] = [];
  for (let at = 0; at < Number(rounds); at += 1) {
    for (const name of pageNames) {
      const without = await turn();
      const page = await newPage(browser, session);
      await page.goto(gateway.url + pages[name]);
      await page.waitForLoadState('load');
      await wait(3_000);
      const open = await turn();
      await page.context().close();
      idle.push(without);
      added.get(name)?.push(open - without);
      console.error(`${name}: ${round(open)} % with it, ${round(without)} % without`);
    }
  }
  const figures: Record<string, number> = { idle_core_pct: median(idle) };
  for (const [name, values] of added) {
    figures[`${name}_core_pct`] = round(values.reduce((sum, one) => sum + one, 0) / values.length);
  }
  return figures;
}

const print = (figures: Figures): Figures => {
  for (const [name, value] of Object.entries(figures)) {
    console.error(`${name.padEnd(34)} ${String(value).padStart(12)}`);
  }
  return figures;
};

await withFolder(async (folder) => {
  const sizes = { connections: Number(connections), runs: Number(runs) };
  const figures: Record<string, number> = {
    ...print({ seed_s: round(await seedNew(folder, sizes)) }),
  };
  const env = { SVC_RATE_LIMIT_PER_MINUTE: '0' };
  await using gateway = await startGateway({ dataDir: folder, env });
  const browser = await openChromium();
  try {
    const { session, figures: first } = await signIn(browser, gateway);
    Object.assign(figures, print(first), print(await usable(browser, session, gateway)));
    for (const [name, path] of Object.entries(lists)) {
      const scrolled = await scroll(browser, session, gateway.url + path);
      const named = Object.entries(scrolled).map(([key, value]) => [`${name}_${key}`, value]);
      Object.assign(figures, print(Object.fromEntries(named) as Figures));
    }
    Object.assign(figures, print(await cost(browser, session, gateway)));
  } finally {
    await browser.close();
  }
  report(figures);
});
