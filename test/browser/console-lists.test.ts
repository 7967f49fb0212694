/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-argument -- a test looks into any answer */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { longName, openUsedConsole, type UsedConsole } from './console-used.ts';

let opened: UsedConsole;
beforeAll(async () => {
  opened = await openUsedConsole();
});
afterAll(() => opened[Symbol.asyncDispose]());

describe('a list of the console', () => {
  beforeEach(() => void (opened.complaints.length = 0));
  afterEach(() => expect(opened.complaints).toEqual([]));
  const open = async (path: string): Promise<void> => {
    await opened.page.goto(`${opened.gateway.url}/console${path}`);
    await opened.page.locator('.table tbody tr').first().waitFor();
  };
  const address = (): URL => new URL(opened.page.url());
  /** The cell of a row that has no link: its kind. */
  const row = () => opened.page.locator('.table tbody tr').filter({ hasText: 'scripted' });
  const cell = () => row().getByText('sync', { exact: true });
  const runPath = () => `/console/env/dev/runs/${opened.failedRun}`;

  it('opens what a row is about from anywhere in it', async () => {
    const { page } = opened;
    await open('/env/dev/runs');
    await cell().click();
    await page.getByRole('heading', { level: 1, name: 'scripted' }).waitFor();
    expect(address().pathname).toBe(runPath());
  });

  it('opens it in a tab of its own with the middle button and with a modifier', async () => {
    const { page } = opened;
    await open('/env/dev/runs');
    const presses = [
      () => cell().click({ button: 'middle' }),
      () => cell().click({ modifiers: ['ControlOrMeta'] }),
    ];
    for (const press of presses) {
      const opening = page.context().waitForEvent('page');
      await press();
      const tab = await opening;
      await tab.getByRole('heading', { level: 1, name: 'scripted' }).waitFor();
      await tab.close();
    }
    expect(address().pathname).toBe('/console/env/dev/runs');
  });

  it('keeps other links of a row, and the selection of its text', async () => {
    const { page } = opened;
    await open('/env/dev/runs');
    const box = await cell().boundingBox();
    if (box === null) throw new Error('the cell is not in view');
    await page.mouse.move(box.x + 1, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(await page.evaluate(() => getSelection()?.toString())).not.toBe('');
    expect(address().pathname).toBe('/console/env/dev/runs');
    await row().getByRole('link').nth(1).click();
    await page.getByRole('navigation', { name: 'Connection' }).waitFor();
    expect(address().pathname).toContain('/connections/crm/');
  });

  it('finds runs and logs by parts of words, and a connection by its name', async () => {
    const { page, people } = opened;
    await open('/env/dev/runs');
    await page.getByRole('searchbox', { name: 'Search' }).fill('cript');
    await row().getByText('failed').waitFor();
    await expect.poll(() => page.locator('.table tbody tr').count()).toBe(1);
    await page.getByRole('searchbox', { name: 'Search' }).fill('freifrau');
    await row().waitFor({ state: 'detached' });
    await page
      .getByRole('link', { name: `${longName} · crm` })
      .first()
      .waitFor();
    await open('/env/dev/webhooks-out');
    await page.getByLabel('Connection', { exact: true }).fill('ximilian');
    await page.locator(`datalist option[value="${people[0]?.id}"]`).waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await expect.poll(() => address().searchParams.get('connection')).toBe(people[0]?.id);
    await expect
      .poll(() => page.getByLabel('Connection', { exact: true }).inputValue())
      .toBe(longName);
  });

  it('shows the log of a connection, of a function and of a run in a tab', async () => {
    const { page, people, failedRun } = opened;
    await open(`/env/dev/connections/crm/${people[0]?.id}/logs`);
    await page.getByText('Sync contacts succeeded').first().waitFor();
    expect(await page.getByText('the provider speaks another language').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing here');
    await page.getByText('Sync contacts succeeded').first().waitFor({ state: 'detached' });
    await page
      .getByText(/nothing here is in range/)
      .first()
      .waitFor();
    await open('/env/dev/integrations/crm/functions?function=scripted');
    await page.getByRole('tab', { name: 'Logs' }).click();
    await page
      .getByRole('dialog')
      .getByText(/the provider speaks another language/)
      .waitFor();
    await page.goto(`${opened.gateway.url}/console/env/dev/runs/${failedRun}`);
    const tabs = page.getByRole('navigation', { name: 'Run', exact: true });
    await tabs.getByRole('link', { name: 'Logs' }).click();
    await page.getByRole('region', { name: 'Messages' }).waitFor();
  });

  it('shows how many connections an integration has, and how they authenticate', async () => {
    const { page } = opened;
    await open('/env/dev/integrations');
    const crm = page.locator('.table tbody tr').filter({ hasText: /^CRM/ });
    await crm.getByText('API key').waitFor();
    await crm.getByRole('link', { name: '4', exact: true }).waitFor();
  });

  it('is walked through with the arrow keys', async () => {
    const { page } = opened;
    await open('/env/dev/runs');
    const links = page.locator('.table tbody tr td:first-child a');
    await links.first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    const focused = await page.evaluate(() => document.activeElement?.getAttribute('href'));
    expect(focused).toBe(await links.nth(1).getAttribute('href'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(address().pathname).toBe(focused);
  });

  it('is sorted by a header, in its address', async () => {
    const { page } = opened;
    await open('/env/dev/variables');
    for (const name of ['B_VARIABLE', 'C_VARIABLE']) {
      const set = { body: { value: 'v' } };
      await opened.gateway.call('PUT', `/environment-variables/${name}`, set);
      await opened.gateway.call('GET', '/environment-variables');
    }
    await open('/env/dev/variables');
    const names = () => page.locator('.table tbody tr td:first-child').allInnerTexts();
    const header = page.getByRole('columnheader', { name: 'Name' });
    await header.getByRole('button').click();
    expect(await header.getAttribute('aria-sort')).toBe('ascending');
    const ascending = await names();
    expect(ascending.at(-1)).toBe('C_VARIABLE');
    await header.getByRole('button').click();
    expect(await names()).toEqual(ascending.toReversed());
    expect(address().searchParams.get('sort')).toBe('-Name');
    await page.reload();
    await page.getByText('C_VARIABLE').waitFor();
    expect(await names()).toEqual(ascending.toReversed());
    await header.getByRole('button').click();
    expect(address().search).toBe('');
  });

  it('calls a connection by the name of its end user, which can be changed', async () => {
    const { page, people, gateway } = opened;
    const { id } = people[0]!;
    for (const path of ['/env/dev/runs', '/env/dev/logs', '/env/dev/webhooks-out']) {
      await open(path);
      await page
        .getByRole('link', { name: `${longName} · crm` })
        .first()
        .waitFor();
    }
    await open('/account/audit?action=connection.read_credentials');
    await page
      .getByRole('link', { name: `${longName} · crm` })
      .first()
      .waitFor();
    await open('/env/dev/connections');
    await page.getByRole('link', { name: longName, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: longName }).waitFor();
    await page.getByText(id, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Ann Lee');
    await page.getByRole('button', { name: 'Save the name' }).click();
    await page.getByRole('heading', { level: 1, name: 'Ann Lee' }).waitFor();
    const { body } = await gateway.call('GET', `/connections/${id}?provider_config_key=crm`);
    expect(body.end_user).toMatchObject({
      id: 'user-8841',
      display_name: 'Ann Lee',
      email: 'maximiliane@hohenstein.example',
    });
  });

  it('keeps its filters when the reader comes back, until they are cleared', async () => {
    const { page } = opened;
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    await open('/env/dev/runs');
    await page.getByLabel('State').selectOption('failed');
    await row().getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: 'scripted' }).waitFor();
    await page.goBack();
    await row().waitFor();
    expect(address().search).toBe('?status=failed');
    await navigation.getByRole('link', { name: 'Alerts' }).click();
    await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
    await navigation.getByRole('link', { name: 'Runs' }).click();
    await row().waitFor();
    expect(address().search).toBe('?status=failed');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    expect(address().search).toBe('');
    expect(await page.getByLabel('State').inputValue()).toBe('');
  });
});

describe('Home of the console', () => {
  beforeEach(() => void (opened.complaints.length = 0));
  afterEach(() => expect(opened.complaints).toEqual([]));
  const openHome = async (environment: string): Promise<void> => {
    await opened.page.goto(`${opened.gateway.url}/console/env/${environment}`);
    await opened.page.getByRole('heading', { level: 1, name: environment }).waitFor();
  };
  const rows = (table: string) =>
    opened.page.getByRole('region', { name: table, exact: true }).locator('tbody tr');

  it('shows what fails now and since when, and leads to it', async () => {
    const { page } = opened;
    await openHome('dev');
    const failing = rows('Failing connections').filter({ hasText: opened.crm.id });
    await failing.getByText('the provider speaks another language').waitFor();
    const since = await failing.locator('time').getAttribute('datetime');
    const { body } = await opened.gateway.call('GET', `/runs/${opened.failedRun}`);
    expect(since).toBe(new Date(body.data.ended_at).toISOString());
    const failure = rows('Last failures').filter({ hasText: 'scripted' });
    await failure.getByText(/crm\/syncs\/scripted\.ts:\d+/).click();
    await page.getByRole('heading', { level: 1, name: 'scripted' }).waitFor();
    await page.getByLabel('Source').getByText('throw new Error').waitFor();
  });

  it('has a chart of what happened, and none of what did not', async () => {
    const { page } = opened;
    await openHome('dev');
    await page.getByRole('img', { name: 'Sync runs' }).locator('canvas').waitFor();
    expect(await page.getByRole('img', { name: 'Authorizations' }).count()).toBe(0);
    await openHome('prod');
    await page.getByText('Nothing happened in this time').waitFor();
    expect(await page.getByRole('img').count()).toBe(0);
  });

  it('lists first steps until they are done or hidden', async () => {
    const { page } = opened;
    await openHome('prod');
    const steps = page.locator('.first-steps li');
    await page.getByRole('link', { name: 'Add an integration' }).waitFor();
    expect(await steps.count()).toBe(6);
    const before = await page.locator('.first-steps li.done').count();
    const key = opened.gateway.prodKey;
    const body = { provider: 'crm', unique_key: 'first' };
    await opened.gateway.call('POST', '/integrations', { key, body });
    await opened.gateway.call('GET', '/integrations', { key });
    await openHome('prod');
    await page.getByRole('link', { name: 'Connect an account' }).waitFor();
    expect(await page.locator('.first-steps li.done').count()).toBe(before + 1);
    await page.getByRole('button', { name: 'Hide' }).click();
    await steps.first().waitFor({ state: 'detached' });
    await openHome('prod');
    await page.locator('.tiles').waitFor();
    expect(await steps.count()).toBe(0);
  });
});
