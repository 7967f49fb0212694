import { globSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { getuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { pathOf } from '../services/commands.ts';
import { installPackages } from '../services/packages.ts';
import { noteChange } from '../support/answers.ts';

/** Left after a run to be looked at; not part of the repository. */
export const screenshotFolder = fileURLToPath(
  new URL('../../test-artefacts/screenshots', import.meta.url),
);

/** Debian's browser, with a font that has Japanese. @throws ServiceUnavailable */
export const installChromium = (): Promise<void> =>
  installPackages('chromium', 'Chromium', [
    'chromium',
    'fonts-dejavu-core',
    'fonts-ipafont-gothic',
  ]);

export const browserFiles = (): string[] => globSync('test/browser/**/*.test.ts');

/** Without a window. Its own sandbox needs a user other than root. */
export async function openChromium(): Promise<Browser> {
  await installChromium();
  await mkdir(screenshotFolder, { recursive: true });
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: pathOf('chromium')!,
    chromiumSandbox: getuid?.() !== 0,
    args: ['--disable-dev-shm-usage'],
  });
}

/** A page in a context of its own; the changes that the console sends from it are noted for the whole run. */
export async function openPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  context.on('response', (response) => {
    const request = response.request();
    // Pages of the console alone have the token of a session.
    const isConsole = request.headers()['svc-csrf-token'] !== undefined;
    if (isConsole && request.method() !== 'GET' && response.ok())
      noteChange(request.method(), request.url());
  });
  return context.newPage();
}
