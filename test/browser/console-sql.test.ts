/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { clippedIn } from './clipping.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';
import { driverOf } from './console-driver.ts';
import { screenshot, violationsOf } from './world.ts';

describe('SQL in the console', () => {
  let opened: CrmConsole;
  const { button, field, open, read, seen } = driverOf(() => opened);
  beforeAll(async () => {
    opened = await openCrmConsole();
    await opened.crm.shown();
  });
  afterEach(() => {
    expect(opened.complaints).toEqual([]);
    expect(takeUnread(), 'not read back').toEqual([]);
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const sql = () => open('/env/dev/sql');
  const result = (): Locator => opened.page.getByRole('region', { name: 'Result', exact: true });
  const ask = async (query: string): Promise<void> => {
    await field('Query').fill(query);
    await field('Query').press('Control+Enter');
  };

  it('runs a query with the keyboard, and opens a row', async () => {
    await sql();
    await ask('SELECT record_id, payload, version() AS v FROM v_records');
    await seen(/The query cannot run|is refused|refused/);
    opened.complaints.length = 0;
    await ask('SELECT record_id, payload, deleted_at FROM v_records');
    await result().getByText('c1', { exact: true }).waitFor();
    await result().getByText('null', { exact: true }).waitFor();
    await seen(/^1 row in /);
    await opened.page.getByTitle('Open row 1').click();
    const drawer = opened.page.getByRole('dialog');
    await drawer.getByText('"second name"').waitFor();
    expect(await violationsOf(opened.page)).toEqual([]);
    await drawer.getByRole('button', { name: 'Close' }).click();
  });

  it('writes names of views and columns where the cursor is', async () => {
    await sql();
    await field('Query').fill('SELECT  FROM ');
    await field('Query').press('End');
    const views = opened.page.getByRole('region', { name: 'Views' });
    await views.getByText('v_runs', { exact: true }).first().click();
    await views.getByTitle('Insert v_runs').click();
    await field('Query').press('Home');
    for (let at = 0; at < 'SELECT '.length; at += 1) await field('Query').press('ArrowRight');
    await views.getByTitle('function: name of the function', { exact: true }).click();
    await expect.poll(() => field('Query').inputValue()).toBe('SELECT function FROM v_runs');
    await button('Run').click();
    await result().getByText('contacts', { exact: true }).first().waitFor();
  });

  it('keeps the text while other pages are open', async () => {
    await sql();
    await field('Query').fill('SELECT 1 AS kept');
    await opened.page.getByRole('link', { name: 'Runs', exact: true }).click();
    await opened.page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await opened.page.getByRole('link', { name: 'SQL', exact: true }).click();
    await expect.poll(() => field('Query').inputValue()).toBe('SELECT 1 AS kept');
  });

  it('says which limit ended a query, and how to raise it', async () => {
    await sql();
    await field('Rows at most').selectOption('1000');
    await ask('SELECT number AS n FROM numbers(9999)');
    await seen('Ended by its limit.');
    await seen(/more than 1000 rows/);
    opened.complaints.length = 0;
    await field('Rows at most').selectOption('10000');
    await button('Run').click();
    await seen(/^9,999 rows in /);
    await result().getByText('0', { exact: true }).waitFor();
  });

  it('saves the rows as a file in each format', async () => {
    await sql();
    await ask("SELECT 'one' AS word, toUInt64(1) AS number");
    await seen(/^1 row in /);
    const saved = async (format: string) => {
      const saving = opened.page.waitForEvent('download');
      await opened.page.getByTitle(`Download as ${format}`).click();
      const file = await saving;
      expect(file.suggestedFilename()).toBe(`query.${format.toLowerCase()}`);
      return readFile(await file.path());
    };
    expect((await saved('CSV')).toString().trim()).toBe('"word","number"\n"one",1');
    expect(JSON.parse((await saved('JSON')).toString())).toMatchObject({ rows: [['one', '1']] });
    expect((await saved('Parquet')).subarray(0, 4).toString()).toBe('PAR1');
  });

  it('saves a query, opens it by its address, replaces and deletes it', async () => {
    const path = '/sql/queries/Models%20of%20dev';
    await sql();
    await field('Query').fill('SELECT DISTINCT model FROM v_records');
    await button('Save…').click();
    await field('Name').fill('Models of dev');
    await field('What it answers').fill('Which models have records?');
    await button('Save the query').click();
    await seen('The query Models of dev was saved');
    expect((await read(path)).data).toMatchObject({
      query: 'SELECT DISTINCT model FROM v_records',
      description: 'Which models have records?',
    });
    // Another tab has no draft.
    await open('/env/dev/sql?query=Models%20of%20dev');
    await expect.poll(() => field('Query').inputValue()).toContain('DISTINCT model');
    await button('Run').click();
    await result().getByText('Contact', { exact: true }).waitFor();
    const saving = opened.page.waitForEvent('download');
    await opened.page.getByTitle('Download as CSV').click();
    expect((await saving).suggestedFilename()).toBe('Models of dev.csv');
    await field('Query').fill('SELECT DISTINCT model, variant FROM v_records');
    await button('Save…').click();
    await button('Replace the query').click();
    await seen('The query Models of dev was saved');
    expect((await read(path)).data.query).toContain('variant');
    await screenshot(opened.page, 'console-sql-saved');
    expect(await violationsOf(opened.page)).toEqual([]);
    await button('Delete the query Models of dev…').click();
    await button('Delete the query').click();
    await seen('The query Models of dev was deleted');
    expect((await read('/sql/queries')).data).toEqual([]);
    expect(await field('Query').inputValue()).toContain('variant');
  });

  it.each([
    ['light', { width: 1280, height: 860 }],
    ['dark', { width: 1440, height: 900 }],
    ['dark', { width: 390, height: 860 }],
  ] as const)('shows a wide result that fits, %s at %o', async (theme, viewport) => {
    const { page } = opened;
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(viewport);
    await sql();
    await ask('SELECT * FROM v_runs ORDER BY queued_at DESC');
    await result().waitFor();
    await screenshot(page, `console-sql-result-${theme}-${viewport.width}`);
    expect(await clippedIn(page)).toEqual([]);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('offers queries to begin with, each of which runs', async () => {
    const { page } = opened;
    await page.setViewportSize({ width: 1280, height: 860 });
    for (const name of [
      'Records of each model',
      'Failed runs of the last day',
      'Slowest requests to providers',
    ]) {
      await sql();
      await button(name).click();
      await seen(/\d rows? in /);
    }
  });
});
