import { globSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { getuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { isOnPath, pathOf } from '#test/services/commands.ts';
import { installPackages } from '#test/services/packages.ts';
import { isNoting, noteChange, noteSite } from '#test/support/judges/answers.ts';
import { changeSites, sitesRun, type ScriptCoverage } from './change-sites.ts';

/** Left after a run to be looked at; not part of the repository. `SVC_TEST_SCREENSHOTS` is another folder. */
export const screenshotFolder =
  process.env['SVC_TEST_SCREENSHOTS'] ??
  fileURLToPath(new URL('../../test-artefacts/screenshots', import.meta.url));

/** Chromium without its windows: a page costs a quarter of the processor time that it costs in Chromium itself. */
const headless = 'chromium-headless-shell';

/**
 * Debian's browser, with a font that has Japanese; where it cannot be installed, a Chromium that is here already.
 * @throws ServiceUnavailable
 */
export async function installChromium(): Promise<void> {
  const fonts = ['fonts-dejavu-core', 'fonts-ipafont-gothic'];
  try {
    await installPackages(headless, 'Chromium', [headless, ...fonts]);
  } catch (error) {
    if (!isOnPath('chromium')) throw error;
  }
}

export const browserFiles = (): string[] => globSync('test/{browser/**/*,**/*.browser}.test.ts');

let shared: Promise<Browser> | null = null;

/** The browser of the files of a worker; it ends with the worker. A file that ends closes its pages. */
export function sharedChromium(): Promise<Browser> {
  shared ??= openChromium();
  return shared;
}

/** Without a window. Its own sandbox needs a user other than root. */
export async function openChromium(): Promise<Browser> {
  await installChromium();
  await mkdir(screenshotFolder, { recursive: true });
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: (pathOf(headless) ?? pathOf('chromium'))!,
    chromiumSandbox: getuid?.() !== 0,
    args: ['--disable-dev-shm-usage'],
  });
}

export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

/**
 * A page in a context of its own; the changes that the console sends from it, and the places of its sources that sent
 * them, are noted for the whole run.
 */
export async function openPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  const page = await context.newPage();
  const noteSites = isNoting() ? await siteNoter(context, page) : () => undefined;
  context.on('response', (response) => {
    const request = response.request();
    // Pages of the console alone have the token of a session.
    if (request.headers()['svc-csrf-token'] === undefined || !response.ok()) return;
    if (request.method() !== 'GET') {
      noteChange(request.method(), request.url(), request.timing().startTime);
    }
    noteSites();
  });
  return page;
}

/** Notes what the page ran since the call before; calls during another one are one. */
async function siteNoter(context: BrowserContext, page: Page): Promise<() => void> {
  const sites = await changeSites();
  const session = await context.newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  let isTaking = false;
  let isDue = false;
  const take = async (): Promise<void> => {
    for (isTaking = true; isDue;) {
      isDue = false;
      const { result } = (await session.send('Profiler.takePreciseCoverage')) as {
        result: readonly ScriptCoverage[];
      };
      for (const name of sitesRun(sites, result)) noteSite(name);
    }
    isTaking = false;
  };
  return () => {
    isDue = true;
    // A page that is closed meanwhile answers no more.
    if (!isTaking) take().catch(() => undefined);
  };
}
