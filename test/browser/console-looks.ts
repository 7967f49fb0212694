import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clippedIn } from './clipping.ts';
import { openUsedConsole, type UsedConsole } from './console-used.ts';
import { screenshot, violationsOf } from './world.ts';

/** Stand in paths and headings for what only the gateway knows. */
export const devId = ':dev';
export const connection = ':connection';
export const failedRun = ':run';
export const operation = ':operation';

/** Light at both widths of a desk, then the same page in the dark and on a phone. */
const looks = [
  { theme: 'light', viewport: { width: 1440, height: 900 } },
  { theme: 'light', viewport: { width: 1280, height: 860 } },
  { theme: 'dark', viewport: { width: 390, height: 860 } },
] as const;

/** What a page looks like can break in a later look; what it contains is checked in the first. */
const rulesOfLooks = ['color-contrast', 'target-size', 'scrollable-region-focusable'];

/**
 * Opens each page light and wide, less wide, then dark and narrow: nothing is cut off, axe accepts it, and the browser's
 * console stays empty.
 */
export function showsPages(
  title: string,
  pages: readonly (readonly [path: string, heading: string])[],
): void {
  describe(title, () => {
    let opened: UsedConsole;
    beforeAll(async () => {
      opened = await openUsedConsole();
    });
    afterAll(() => opened[Symbol.asyncDispose]());
    const filled = (text: string): string =>
      text
        .replace(devId, String(opened.world.environmentId))
        .replace(connection, opened.people[0]?.id ?? '')
        .replace(failedRun, opened.failedRun)
        .replace(operation, opened.operation);

    it.each(pages)('shows %s, which fits and which axe accepts', async (path, heading) => {
      const { page, complaints, gateway } = opened;
      complaints.length = 0;
      await page.goto(`${gateway.url}/console${filled(path)}`);
      await page.getByRole('heading', { level: 1, name: filled(heading), exact: true }).waitFor();
      await page.waitForFunction(() => document.querySelector('.skeleton-rows') === null);
      for (const [at, { theme, viewport }] of looks.entries()) {
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize(viewport);
        await page.waitForFunction(
          (wanted) => document.documentElement.dataset['theme'] === wanted,
          theme,
        );
        const name = path.replaceAll(/[^a-z-]+/g, '_');
        await screenshot(page, `console${name}-${theme}-${viewport.width}`);
        expect(await clippedIn(page), `at ${viewport.width} px`).toEqual([]);
        expect(await violationsOf(page, at === 0 ? undefined : rulesOfLooks)).toEqual([]);
      }
      expect(complaints).toEqual([]);
    });
  });
}
