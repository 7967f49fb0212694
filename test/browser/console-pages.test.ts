import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectionId,
  integration,
  openConsoleWorld,
  type Console,
  type ConsoleWorld,
} from './console-world.ts';
import { screenshot, violationsOf } from './world.ts';

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
  ['/env/dev/alerts', 'Alerts'],
  ['/account/topics', 'Topics'],
  ['/account/topics/svc.config.v1', 'svc.config.v1'],
  ['/account/topics/svc.config.v1/schema', 'svc.config.v1'],
  ['/account/projections', 'Projections'],
  ['/account/projections/records', 'records'],
  ['/account/consumer-groups', 'Consumer groups'],
  ['/account/dead-letters', 'Dead letters'],
  ['/account/environments', 'Environments'],
  [`/account/environments/${devId}`, 'dev'],
  [`/account/environments/${devId}/settings`, 'dev'],
  [`/account/environments/${devId}/connect-page`, 'dev'],
  [`/account/environments/${devId}/retention`, 'dev'],
  ['/account/keys', 'Account keys'],
  ['/account/audit', 'Audit'],
  ['/account/audit/chains', 'Audit'],
  ['/design', 'Design system'],
];

/** Light and wide at first, then the same page in the dark and on a phone. */
const wide = { theme: 'light', viewport: { width: 1280, height: 860 } } as const;
const narrow = { theme: 'dark', viewport: { width: 390, height: 860 } } as const;

/** What a page looks like can break in the second look; what it contains was checked in the first. */
const rulesOfLooks = ['color-contrast', 'target-size', 'scrollable-region-focusable'];

describe('the console, light and wide, then dark and narrow', () => {
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
