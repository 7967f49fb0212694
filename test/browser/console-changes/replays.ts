/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-argument -- a test looks into any answer */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import type { CrmConsole } from '../console-crm.ts';
import { driverOf } from '../console-driver.ts';
import { screenshot, violationsOf } from '../world.ts';

const source = readFileSync(
  new URL('../../e2e/functions/crm/syncs/contacts.ts', import.meta.url),
  'utf8',
);
const drawer = '/env/dev/integrations/crm/functions?function=contacts';

const looks = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 390 },
  { theme: 'light', width: 390 },
  { theme: 'dark', width: 1280 },
] as const;

/** Recordings of calls, and replays of runs. */
export function changesOfReplays(current: () => CrmConsole): void {
  const { button, field, link, open, read, seen, send } = driverOf(current);
  const shown = async () =>
    (await read('/integrations/crm/functions/contacts?type=sync')).data.record_calls;
  /** The newest run, once it has ended and is another than that. */
  const lastRun = async (former: string | null): Promise<string> => {
    const { data } = await eventually(
      () => read(`/runs?function=contacts&connection_id=${current().crm.id}&limit=1`),
      ({ data: [run] }) => run?.ended_at != null && run.id !== former,
    );
    return data[0].id;
  };
  /** Pictures of the page in every look; axe accepts each. */
  async function look(name: string): Promise<void> {
    const { page } = current();
    for (const { theme, width } of looks) {
      await page.emulateMedia({ colorScheme: theme });
      await page.setViewportSize({ width, height: 900 });
      await page.waitForFunction(
        (wanted) => document.documentElement.dataset['theme'] === wanted,
        theme,
      );
      await screenshot(page, `replay-${name}-${theme}-${width}`);
      expect(await violationsOf(page), `${name}, ${theme}, ${width}`).toEqual([]);
      const sideways = await page.evaluate(() =>
        [...document.querySelectorAll('html, [role=dialog]')].filter(
          ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
        ),
      );
      expect(sideways, `${name}, ${theme}, ${width}`).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  }
  /** No replay has written the record. */
  const unchanged = async (): Promise<void> => {
    const [record] = await current().crm.all('Contact');
    expect(record).toMatchObject({ id: 'c1', name: 'recorded name' });
  };
  const replay = async (code: string): Promise<void> => {
    await field('Other code').fill(code);
    await button('Run the replay').click();
  };

  describe('a replay', () => {
    let plain: string;
    let recorded: string;

    it('is possible once the calls of the function are recorded', async () => {
      plain = await lastRun(null);
      await open(drawer);
      await button('Record the calls').click();
      await button('Stop recording').waitFor();
      expect(await shown()).toBe(true);
      await look('drawer');
      current().crm.account.contacts = [{ id: 'c1', name: 'recorded name' }];
      await current().crm.run('contacts');
      recorded = await lastRun(plain);
    });

    it('shows that it did the same as the run', async () => {
      const before = current().crm.account.asked.length;
      await open(`/env/dev/runs/${recorded}`);
      await button('Replay…').click();
      await button('Run the replay').click();
      await seen('Identical: the replay did what the run did.');
      await look('identical');
      expect(current().crm.account.asked).toHaveLength(before);
      await seen('1 the same');
      await unchanged();
    });

    it('of changed code shows what it saves otherwise', async () => {
      await button('Begin with the deployed code').click();
      await eventually(
        () => field('Other code').inputValue(),
        (code) => code.includes("await svc.batchSave(page, 'Contact');"),
      );
      const code = await field('Other code').inputValue();
      await replay(
        code.replace(
          "await svc.batchSave(page, 'Contact');",
          "await svc.batchSave(page.map((one) => ({ ...one, name: 'changed name' })), 'Contact');",
        ),
      );
      await seen('Different: the replay did not do what the run did.');
      await current().page.getByRole('heading', { name: 'Contact c1', exact: true }).waitFor();
      const fields = current().page.getByRole('region', { name: 'Changed fields of Contact c1' });
      expect(await fields.allTextContents()).toEqual([
        expect.stringMatching(/record\.name"recorded name".*record\.name"changed name"/),
      ]);
      await look('changed');
      await unchanged();
    });

    it('of code that requests something else names the requests', async () => {
      await replay(source.replace("endpoint: '/contacts'", "endpoint: '/people'"));
      const requests = current().page.getByRole('table').filter({ hasText: 'no longer made' });
      await requests.waitFor();
      expect(await requests.innerText()).toMatch(
        /no recorded response\s+GET \/people\s+no longer made\s+GET \/contacts/,
      );
      await look('unrecorded');
      await unchanged();
    });

    it('of code that does not compile is refused with the place', async () => {
      await replay('const x: = 1');
      await current().page.getByText('compilation_error').first().waitFor();
      await look('refused');
      // The browser lists the refusal.
      current().complaints.length = 0;
    });

    it('of a run that was not recorded is not offered, but a way to record later ones', async () => {
      await open(`/env/dev/runs/${plain}`);
      await button('Replay…').click();
      await seen('The calls of this run were not recorded');
      expect(await button('Run the replay').count()).toBe(0);
      await look('not-recorded');
      await link('Record the calls of contacts').click();
      await button('Stop recording').click();
      await button('Record the calls').waitFor();
      expect(await shown()).toBe(false);
    });

    it('is not offered to people who may only read', async () => {
      const { gateway } = current();
      const body = {
        email: 'reader@example.com',
        display_name: 'Reader',
        roles: [{ environment: 'dev', role: 'read_only' }],
      };
      const invited = await send('POST', '/people', { key: gateway.accountKey, body });
      const page = await current().newPage();
      await page.goto(invited.data.link.url);
      await page.getByRole('heading', { name: 'dev', exact: true }).waitFor();
      await page.goto(`${gateway.url}/console/env/dev/runs/${recorded}`);
      await page.getByRole('table').first().waitFor();
      expect(await page.getByRole('button', { name: 'Replay…' }).count()).toBe(0);
      await page.goto(`${gateway.url}/console${drawer}`);
      await page.getByText('Not recorded').waitFor();
      expect(await page.getByRole('button', { name: 'Record the calls' }).count()).toBe(0);
      await screenshot(page, 'replay-read-only');
      await page.context().close();
    });
  });
}
