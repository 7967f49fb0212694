/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-call,
   typescript/no-unsafe-assignment -- a test looks into any answer */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import {
  contactNames,
  deployProjection,
  projectedRows,
  rowOfContact,
  rowsOnceAre,
} from '#test/support/worlds/custom-projection.ts';
import { clippedIn } from './clipping.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';
import { driverOf } from './console-driver.ts';
import { screenshot, violationsOf } from './world.ts';

describe('projections in the console', () => {
  let opened: CrmConsole;
  const { button, link, open, readOfAccount, seen } = driverOf(() => opened);
  beforeAll(async () => {
    opened = await openCrmConsole();
    await deploy(rowOfContact());
    expect(await rowsOnceAre(opened.gateway, names, [['second name']])).toEqual([['second name']]);
  });
  afterEach(() => {
    expect(opened.complaints).toEqual([]);
    expect(takeUnread(), 'not read back').toEqual([]);
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const names = 'SELECT name FROM contacts';
  const deploy = async (map: string): Promise<void> => {
    succeeded(await deployProjection(opened.gateway, 'contacts', contactNames(map)));
  };
  const shown = async () => (await readOfAccount('/projections/dev.contacts')).data;
  const active = async (): Promise<number> => (await shown()).active_generation;
  const other = async () => {
    const { active_generation: number, generations } = await shown();
    return generations.find((one: { generation: number }) => one.generation !== number);
  };
  /** Presses the button and confirms. It is offered once the page has read the state in which it applies. */
  const step = async (verb: string): Promise<void> => {
    await button(`${verb}…`).click();
    await button(verb).click();
    await opened.page.getByRole('alertdialog').waitFor({ state: 'detached' });
  };
  /** On a desk and on a phone, nothing is cut off and axe accepts it. */
  const looksRight = async (name: string): Promise<void> => {
    for (const width of [390, 1280]) {
      await opened.page.setViewportSize({ width, height: 860 });
      await screenshot(opened.page, `console-projections-${name}-${width}`);
      expect(await clippedIn(opened.page), `at ${width} px`).toEqual([]);
    }
    expect(await violationsOf(opened.page)).toEqual([]);
  };

  it('lists those of the service and of projects with position and lag', async () => {
    await open('/account/projections');
    for (const name of ['records', 'dev.contacts']) {
      const row = opened.page.getByRole('row').filter({ has: link(name) });
      await row.getByText('svc.records.v1').waitFor();
      const cells = await row.getByRole('cell').allTextContents();
      const position = cells.find((text) => / of /.test(text)) ?? '';
      const [at, end] = position.split(' of ').map(Number);
      expect(at, position).toBeGreaterThan(0);
      expect(end, position).toBeGreaterThanOrEqual(at ?? 0);
    }
    await looksRight('list');
    await link('dev.contacts').click();
    await opened.page.getByRole('heading', { level: 1, name: 'dev.contacts' }).waitFor();
    await opened.page.getByRole('heading', { name: 'Generation 1, which is read' }).waitFor();
  });

  it('rebuilds, verifies, switches, rolls back and discards the table of a project', async () => {
    await open('/account/projections/dev.contacts');
    await step('Rebuild');
    await eventually(other, (one) => one?.state === 'ready');
    await step('Verify');
    await eventually(other, (one) => one.verification?.state === 'passed');
    await seen(/Verification passed: 1 of 1 rows, 0 differences/);
    await step('Switch');
    expect(await active()).toBe(2);
    await step('Roll back');
    expect(await active()).toBe(1);
    await step('Discard');
    await eventually(other, (one) => one === undefined);
    await button('Rebuild…').waitFor();
  });

  it('says why a changed mapping does not replace the table, and switches anyway', async () => {
    await open('/account/projections/dev.contacts');
    await deploy("{ throw new Error('never'); }");
    await seen(/Not switched: its mapping failed for 1 record of which/);
    await seen('svc projections failures contacts -e dev');
    expect(await other()).toMatchObject({ state: 'ready', new_failures: 1 });
    expect(await button('Switch…').count()).toBe(0);
    await looksRight('held');
    const before = await active();
    await step('Switch anyway');
    expect(await active()).toBeGreaterThan(before);
    expect(await projectedRows(opened.gateway, names)).toEqual([]);
    await step('Roll back');
    expect(await active()).toBe(before);
    expect(await projectedRows(opened.gateway, names)).toEqual([['second name']]);
  });

  it('replaces the table by a corrected mapping, and says when it is deleted', async () => {
    await deploy(rowOfContact('change.record.name.toUpperCase()'));
    expect(await rowsOnceAre(opened.gateway, names, [['SECOND NAME']])).toEqual([['SECOND NAME']]);
    await open('/account/projections/dev.contacts');
    await opened.page.getByRole('heading', { name: /which is read/ }).waitFor();
    succeeded(await opened.gateway.call('DELETE', '/custom-projections/contacts'));
    await seen(/The projection "dev.contacts" does not exist/);
    await looksRight('deleted');
    await open('/account/projections');
    await link('records').waitFor();
    expect(await link('dev.contacts').count()).toBe(0);
    // The browser notes each refusal.
    opened.complaints.length = 0;
  });
});
