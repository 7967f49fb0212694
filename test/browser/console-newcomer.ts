import type { Locator, Page } from 'playwright-core';
import type { CrmConsole } from './console-crm.ts';
import { driverOf } from './console-driver.ts';

const uuid = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i;

/** Someone who does a task in the console, from Home on. */
export interface Newcomer extends ReturnType<typeof driverOf> {
  readonly opened: CrmConsole;
  readonly page: Page;
  /** Distinguishes what one look makes from what the others do. */
  readonly look: string;
  /** Clicks so far; a choice of a list counts as one. */
  readonly clicks: () => number;
  readonly press: (target: Locator) => Promise<void>;
  readonly choose: (menu: string, item: string) => Promise<void>;
  readonly select: (label: string, value: string) => Promise<void>;
  /** A page of the navigation, which a narrow window opens by a button. */
  readonly go: (name: string) => Promise<void>;
  /** Types what people know. @throws Error for an id that only the service knows */
  readonly type: (label: string, text: string) => Promise<void>;
}

export function newcomerAt(opened: CrmConsole, look: string): Newcomer {
  const driver = driverOf(() => opened);
  const { page } = opened;
  let clicks = 0;
  const press = async (target: Locator): Promise<void> => {
    clicks += 1;
    await target.click();
  };
  return {
    ...driver,
    opened,
    page,
    look,
    clicks: () => clicks,
    press,
    async choose(menu, item) {
      await press(driver.button(menu));
      await press(page.getByRole('menuitem', { name: item, exact: true }));
    },
    async select(label, value) {
      clicks += 1;
      await driver.field(label).selectOption(value);
    },
    async go(name) {
      const navigation = page.getByRole('button', { name: 'Navigation', exact: true });
      if (await navigation.isVisible()) await press(navigation);
      const pages = page.getByRole('navigation', { name: 'Pages' });
      await press(pages.getByRole('link', { name, exact: true }));
    },
    async type(label, text) {
      if (uuid.test(text)) throw new Error(`${label}: nobody knows ${text} by heart`);
      await driver.field(label).fill(text);
    },
  };
}
