import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConsoleWorld, type Console, type ConsoleWorld } from './console-world.ts';
import { screenshot, violationsOf } from './world.ts';

/** Stands for the id of dev, which only the gateway knows. */
export const devId = ':dev';

/** Light and wide at first, then the same page in the dark and on a phone. */
const wide = { theme: 'light', viewport: { width: 1280, height: 860 } } as const;
const narrow = { theme: 'dark', viewport: { width: 390, height: 860 } } as const;

/** What a page looks like can break in the second look; what it contains was checked in the first. */
const rulesOfLooks = ['color-contrast', 'target-size', 'scrollable-region-focusable'];

/**
 * Opens each page light and wide, then dark and narrow: it fits, axe accepts it, and the browser's console stays empty.
 */
export function showsPages(
  title: string,
  pages: readonly (readonly [path: string, heading: string])[],
): void {
  describe(title, () => {
    let world: ConsoleWorld;
    let opened: Console;
    beforeAll(async () => {
      world = await openConsoleWorld();
      opened = await world.signedIn({ viewport: wide.viewport });
    });
    afterAll(() => world[Symbol.asyncDispose]());

    it.each(pages)('shows %s, which fits and which axe accepts', async (path, heading) => {
      const { page, complaints } = opened;
      complaints.length = 0;
      const look = async ({ theme, viewport }: typeof wide | typeof narrow): Promise<void> => {
        const name = path.replaceAll(/[^a-z-]+/g, '_');
        await screenshot(page, `console${name}-${theme}-${viewport.width}`);
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - window.innerWidth,
        );
        expect(overflow).toBeLessThanOrEqual(0);
      };
      await page.emulateMedia({ colorScheme: wide.theme });
      await page.setViewportSize(wide.viewport);
      await page.goto(
        `${world.gateway.url}/console${path.replace(devId, String(world.environmentId))}`,
      );
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await page.waitForFunction(() => document.querySelector('.skeleton-rows') === null);
      await look(wide);
      expect(await violationsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: narrow.theme });
      await page.setViewportSize(narrow.viewport);
      await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
      await look(narrow);
      expect(await violationsOf(page, rulesOfLooks)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });
}
