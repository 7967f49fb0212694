/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-argument --
   a test looks into any answer */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import type { CrmConsole } from './console-crm.ts';
import { driverOf } from './console-driver.ts';
import { screenshot, violationsOf } from './world.ts';

const tabsMax = 200;

/** Presses Tab until the control of this name has the focus. @throws Error with the names that had it */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  while (passed.length < tabsMax) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const active = document.activeElement;
      if (!(active instanceof HTMLElement)) return '';
      const labels = 'labels' in active ? (active.labels as NodeListOf<HTMLElement> | null) : null;
      return (active.ariaLabel ?? labels?.[0]?.innerText ?? active.innerText).trim();
    });
    if (focused === name) return;
    passed.push(focused);
  }
  throw new Error(`Tab does not reach ${name}, but ${[...new Set(passed)].join(', ')}`);
}

/** Flows in which no pointer is used. */
export function keyboardFlows(current: () => CrmConsole): void {
  const { read } = driverOf(current);

  describe('with the keyboard alone', () => {
    let page: Page;
    const press = (key: string): Promise<void> => page.keyboard.press(key);
    const follow = async (name: string): Promise<void> => {
      await tabTo(page, name);
      await press('Enter');
    };
    const signIn = async (): Promise<void> => {
      page = await current().newPage();
      await page.goto(`${current().world.gateway.url}/console`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await tabTo(page, 'API key');
      await page.keyboard.type(current().world.gateway.key);
      await press('Enter');
      await page.getByRole('heading', { level: 1, name: 'dev' }).waitFor();
    };
    afterEach(() => page.context().close());

    it("signs in, and opens a record's history", async () => {
      await signIn();
      await follow('Connections');
      await page.getByRole('link', { name: current().crm.id }).waitFor();
      await follow(current().crm.id);
      await page.getByRole('link', { name: 'Records' }).waitFor();
      await follow('Records');
      await page.getByRole('link', { name: 'c1', exact: true }).waitFor();
      await follow('c1');
      const drawer = page.getByRole('dialog');
      await drawer.getByText('Changes').waitFor();
      await tabTo(page, 'As of');
      const newest = await drawer.getByLabel('As of').getAttribute('aria-valuetext');
      await press('ArrowLeft');
      expect(await drawer.getByLabel('As of').getAttribute('aria-valuetext')).not.toBe(newest);
      await press('Escape');
      await drawer.waitFor({ state: 'detached' });
    });

    it('finds what has a page by the search', async () => {
      await signIn();
      const field = page.getByRole('combobox', { name: /^Search pages/ });
      const option = (name: string | RegExp) => page.getByRole('option', { name }).first();
      const searchFor = async (text: string, name: string | RegExp): Promise<void> => {
        await press('Control+k');
        await field.waitFor();
        await page.keyboard.type(text);
        await option(name).waitFor();
      };
      await searchFor('', 'Runs');
      await press('ArrowDown');
      await press('ArrowUp');
      expect(await violationsOf(page)).toEqual([]);
      await screenshot(page, 'console-search');
      await press('Escape');
      await field.waitFor({ state: 'detached' });
      const { id } = current().crm;
      await searchFor(id.slice(0, 8), new RegExp(id));
      expect(await violationsOf(page)).toEqual([]);
      await screenshot(page, 'console-search-found');
      await press('Enter');
      await page.getByRole('heading', { level: 1, name: id }).waitFor();
      await searchFor('c1', /^c1 ?Contact/);
      await press('Enter');
      await page.getByRole('dialog').getByText('Changes').waitFor();
      await press('Escape');
      const [run] = (await read('/runs?limit=1')).data;
      await searchFor(run.id, new RegExp(run.function));
      await press('Enter');
      await page.waitForURL(`**/runs/${run.id}`);
      await searchFor('echo', /^echo ?action of/);
      await press('Escape');
      await searchFor('signature of webhooks', /./);
      await page
        .getByRole('group', { name: 'Documentation' })
        .getByRole('option')
        .first()
        .waitFor();
      await press('Escape');
      await searchFor('playg', /^Playground/);
      await press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    });

    it('offers in the search what the key may read, and nothing else', async () => {
      const { world } = current();
      const made = await world.gateway.call('POST', '/environment/api-keys', {
        key: world.gateway.accountKey,
        body: {
          environment_id: world.environmentId,
          display_name: 'narrow',
          scopes: ['environment:logs:read'],
        },
      });
      page = await current().newPage();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(new URL(request.url()).pathname));
      await page.goto(`${world.gateway.url}/console`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await tabTo(page, 'API key');
      await page.keyboard.type(made.body.data.secret);
      await press('Enter');
      await page.getByRole('heading', { level: 1, name: 'dev' }).waitFor();
      requests.length = 0;
      // The letters of someone who types on while the script comes over a slow line are kept.
      await page.route(/\/palette-/, async (route) => {
        await pause(400);
        await route.continue();
      });
      await press('Control+k');
      await page.keyboard.type('records');
      await page
        .getByRole('group', { name: 'Documentation' })
        .getByRole('option')
        .first()
        .waitFor();
      expect(await page.getByRole('group').count()).toBe(1);
      expect(requests.filter((path) => /^.(connections|integrations|scripts)/.test(path))).toEqual(
        [],
      );
    });

    it('runs an action in the playground', async () => {
      const newest = () => read('/runs?function=echo&status=succeeded&limit=1');
      const [before] = (await newest()).data;
      await signIn();
      await follow('Playground');
      // The actions are read after the field is shown.
      const action = page.getByLabel('Action', { exact: true });
      await action.getByRole('option', { name: 'echo' }).waitFor({ state: 'attached' });
      await tabTo(page, 'Action');
      await page.keyboard.type('echo');
      await page.getByLabel('Input', { exact: true }).waitFor();
      const connection = await page.getByLabel('Connection', { exact: true }).inputValue();
      await tabTo(page, 'Input');
      await press('Control+A');
      await page.keyboard.type('{"from":"the keyboard"}');
      await follow('Run the action');
      const result = page.getByRole('region', { name: 'Result' });
      await result.getByText('"the keyboard"').waitFor();
      const { data } = await eventually(newest, ({ data: [run] }) => run?.id !== before?.id);
      expect(data[0]).toMatchObject({ connection_id: connection });
    });
  });
}
