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
  ['/account/topics', 'Topics'],
  ['/account/projections', 'Projections'],
  ['/account/projections/records', 'records'],
  ['/account/consumer-groups', 'Consumer groups'],
  ['/account/dead-letters', 'Dead letters'],
  ['/account/environments', 'Environments'],
  [`/account/environments/${devId}`, 'dev'],
  [`/account/environments/${devId}/settings`, 'dev'],
  [`/account/environments/${devId}/retention`, 'dev'],
  ['/account/audit', 'Audit'],
  ['/design', 'Design system'],
];

/** Opens every page in one look. */
export function describeEveryPage(theme: 'light' | 'dark', width: number): void {
  describe(`the console, ${theme} at ${width}`, () => {
    let world: ConsoleWorld;
    let opened: Console;
    beforeAll(async () => {
      world = await openConsoleWorld();
      opened = await world.signedIn({ colorScheme: theme, viewport: { width, height: 860 } });
    });
    afterAll(() => world[Symbol.asyncDispose]());

    it.each(pages)('shows %s, which fits and which axe accepts', async (path, heading) => {
      const { page, complaints } = opened;
      complaints.length = 0;
      await page.goto(
        `${world.gateway.url}/console${path.replace(devId, String(world.environmentId))}`,
      );
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
      await screenshot(page, `console${path.replaceAll(/[^a-z-]+/g, '_')}-${theme}-${width}`);
      expect(await violationsOf(page)).toEqual([]);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      expect(overflow).toBeLessThanOrEqual(0);
      expect(complaints).toEqual([]);
    });
  });
}
