/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call, typescript/no-unsafe-argument -- a test looks into any answer */
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { changesOfNotifications } from './console-changes/notifications.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';
import { driverOf } from './console-driver.ts';
import { keyboardFlows } from './console-keyboard.ts';

const clicksMax = 4;

let opened: CrmConsole;
beforeAll(async () => {
  opened = await openCrmConsole();
});
afterAll(() => opened[Symbol.asyncDispose]());

const current = (): CrmConsole => opened;
const { button, field, link, read, readOfAccount, seen } = driverOf(current);

let clicks = 0;
/** A choice of a list counts as a click. */
const press = async (target: Locator): Promise<void> => {
  clicks += 1;
  await target.click();
};
/** A page of the navigation. */
const go = (name: string): Promise<void> =>
  press(opened.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }));

describe('a newcomer, from Home, in at most four clicks', () => {
  let page: Page;
  beforeEach(async () => {
    ({ page } = opened);
    opened.complaints.length = 0;
    clicks = 0;
    await page.goto(`${opened.world.gateway.url}/console/env/dev`);
    await page.getByRole('heading', { level: 1, name: 'dev' }).waitFor();
  });
  afterEach(() => {
    expect(clicks).toBeLessThanOrEqual(clicksMax);
    expect(opened.complaints).toEqual([]);
    expect(takeUnread(), 'not read back').toEqual([]);
  });

  it('finds why a sync fails', async () => {
    await go('Runs');
    await press(link('scripted'));
    await seen('the provider speaks another language');
    const { data } = await read('/runs?function=scripted');
    expect(page.url()).toContain(data[0].id);
  });

  it("sees a record's history", async () => {
    await go('Connections');
    await press(link(opened.crm.id));
    await press(link('Records'));
    await press(link('c1'));
    await seen('Changes');
    await seen('"first name"');
    const history = await opened.world.gateway.call('GET', '/records/history?model=Contact&id=c1', {
      headers: opened.crm.headers,
    });
    expect(history.body.changes).toHaveLength(2);
  });

  it('takes a run back', async () => {
    await go('Runs');
    await press(link('contacts'));
    await press(button('Revert…'));
    await press(button('Revert the run'));
    await seen('The writes of the run were reverted');
    const after = await eventually(
      () => opened.crm.records('Contact'),
      ({ records }) => records[0]?.['name'] === 'first name',
    );
    expect(after.records).toHaveLength(1);
  });

  it('runs an action', async () => {
    await go('Playground');
    clicks += 1;
    await field('Action').selectOption('echo');
    await field('Input').fill('{"hello":"world"}');
    await press(button('Run the action'));
    await seen('"world"');
    const { data } = await eventually(
      () => read('/runs?function=echo'),
      (body) => body.data.length > 0,
    );
    expect(data[0]).toMatchObject({
      kind: 'action',
      status: 'succeeded',
      connection_id: opened.crm.id,
    });
  });

  it('resends a webhook', async () => {
    const before = Number((await read('/webhook-messages')).data.length);
    await go('Webhooks out');
    await press(page.getByRole('link', { name: 'sync', exact: true }).first());
    await press(button('Resend'));
    await seen('The webhook is sent once more');
    expect((await read('/webhook-messages')).data).toHaveLength(before + 1);
  });

  it('replays a range of webhooks', async () => {
    const before = Number((await read('/webhook-messages')).data.length);
    await go('Webhooks out');
    await press(button('Replay a range…'));
    await press(button('Count them'));
    const send = page.getByRole('button', { name: /^Send \d+ again$/ });
    const [, count] = /Send (\d+) again/.exec(await send.innerText()) ?? [];
    await press(send);
    await seen(new RegExp(`Sending ${count} webhooks? again`));
    expect((await read('/webhook-messages')).data).toHaveLength(before + Number(count));
  });

  it('adds an endpoint for one connection', async () => {
    await go('Webhooks out');
    await press(link('Endpoints'));
    await press(button('Add an endpoint'));
    await field('Address').fill(`${opened.world.receiver.url}/more`);
    await field('Only of the integration').selectOption('crm');
    await field('Only of the connection').fill(opened.crm.id);
    await press(button('Add the endpoint'));
    await seen('The endpoint was added');
    const { data } = await read('/webhook-endpoints');
    expect(data.at(-1)).toMatchObject({
      url: `${opened.world.receiver.url}/more`,
      provider_config_key: 'crm',
      connection_id: opened.crm.id,
    });
  });

  it('reveals the signing key', async () => {
    await go('Webhooks out');
    await press(link('Signing key'));
    await press(button('Reveal (audited)'));
    await seen(opened.world.signingKey);
    expect((await read('/environment/webhook-signing-key')).data.webhook_signing_key).toBe(
      opened.world.signingKey,
    );
  });

  it('rotates the signing key', async () => {
    // That of dev was rotated a moment ago, so that two keys sign still.
    await page.goto(`${opened.world.gateway.url}/console/env/prod`);
    await page.getByRole('heading', { level: 1, name: 'prod' }).waitFor();
    const key = opened.world.gateway.prodKey;
    const before = (await read('/environment/webhook-signing-key', key)).data;
    await go('Webhooks out');
    await press(link('Signing key'));
    await press(button('Rotate…'));
    await press(button('Rotate the key'));
    await seen('The signing key was rotated');
    const { data } = await read('/environment/webhook-signing-key', key);
    expect(data.webhook_signing_key).not.toBe(before.webhook_signing_key);
    await seen(data.webhook_signing_key);
  });

  it('adds a variable', async () => {
    await go('Variables');
    await press(button('Set a variable'));
    await field('Name').fill('REGION');
    await field('Value').fill('eu-1');
    await press(button('Set the variable'));
    await seen('REGION was set');
    expect(await read('/environment-variables')).toEqual([{ name: 'REGION', value: 'eu-1' }]);
  });

  it('sets an alert destination', async () => {
    await go('Alerts');
    await press(button('Add a destination'));
    await field('Target').fill(`${opened.world.receiver.url}/alerts`);
    await field('Name').fill('on duty');
    await press(button('Add the destination'));
    await seen('The destination was added');
    expect((await read('/alert-destinations')).data).toMatchObject([
      { type: 'webhook', display_name: 'on duty', alerts: null, enabled: true },
    ]);
  });

  it('sends a test alert', async () => {
    await go('Alerts');
    await press(button('Actions of on duty'));
    await press(page.getByRole('menuitem', { name: 'Send a test' }));
    await seen('The test was delivered');
    await eventually(
      () => opened.world.receiver.got(1, '/alerts'),
      (notices) => notices.some(({ body }) => JSON.parse(body).state === 'test'),
    );
  });

  it('creates a key of an environment', async () => {
    await go('API keys');
    await press(button('Create a key'));
    await field('Name').fill('backend');
    await press(button('Create the key'));
    await seen('Secret of the key');
    const { data } = await readOfAccount(
      `/environment/api-keys?environment_id=${opened.world.environmentId}`,
    );
    expect(data.map((one: { display_name: string }) => one.display_name)).toContain('backend');
  });

  it('creates a key of the account, and sees its secret once', async () => {
    await go('Account keys');
    await press(button('Create a key'));
    await field('Name').fill('operations');
    await press(button('Create the key'));
    await seen('It is not shown again');
    const secret = await page.locator('code.secret').innerText();
    const listed = await opened.world.gateway.call('GET', '/account/api-keys', { key: secret });
    expect(listed.status).toBe(200);
  });

  it('deletes a key of the account', async () => {
    await go('Account keys');
    await press(button('Actions of operations'));
    await press(page.getByRole('menuitem', { name: 'Delete…' }));
    await press(button('Delete the key'));
    await seen('operations was deleted');
    const { data } = await readOfAccount('/account/api-keys');
    expect(data.map((one: { display_name: string }) => one.display_name)).not.toContain(
      'operations',
    );
  });

  it('connects an account', async () => {
    await go('Connections');
    await press(link('Connect an account'));
    await field('End user').fill('newcomer');
    const opening = page.context().waitForEvent('page');
    await press(button('Open the connect page'));
    const connectPage = await opening;
    const id = `c-${crypto.randomUUID()}`;
    await connectPage.getByLabel('Account', { exact: true }).fill(id);
    await connectPage.getByLabel('API key', { exact: true }).fill(opened.world.provider.apiKey);
    await press(connectPage.getByRole('button', { name: 'Connect', exact: true }));
    await connectPage.getByRole('heading', { name: 'CRM is connected' }).waitFor();
    const { connections } = await read('/connections?endUserId=newcomer');
    expect(connections).toMatchObject([{ provider_config_key: 'crm', errors: [] }]);
    await connectPage.close();
  });

  it('retries a dead letter', async () => {
    const consumer = 'svc.lifecycle-hooks';
    await go('Dead letters');
    await press(link(consumer));
    await press(button('Retry'));
    await seen('The message goes to its consumer again');
    const { data } = await eventually(
      () => readOfAccount(`/dead-letters?consumer=${consumer}`),
      (body) => body.data.some(({ retries }: { retries: number }) => retries > 0),
    );
    expect(data.map(({ retries }: { retries: number }) => retries).sort()).toEqual([0, 1]);
  });

  it('rebuilds a projection', async () => {
    await go('Projections');
    await press(link('records'));
    await press(button('Rebuild…'));
    await press(button('Rebuild'));
    await seen('Requested');
    const { data } = await eventually(
      () => readOfAccount('/projections/records'),
      (body) => body.data.generations.length > 1,
    );
    expect(data.generations).toHaveLength(2);
  });

  it('verifies and exports a chain of the audit trail', async () => {
    await go('Audit');
    await press(link('Chains'));
    await press(page.getByTitle('Verify the chain of dev'));
    await seen('whole');
    const saving = page.waitForEvent('download');
    await press(page.getByTitle('Export the chain of dev as NDJSON'));
    const file = await saving;
    expect(file.suggestedFilename()).toBe('audit-dev.ndjson');
    expect(await file.failure()).toBeNull();
  });
});

keyboardFlows(current);

describe('in the console', () => {
  afterEach(() => {
    expect(opened.complaints).toEqual([]);
    expect(takeUnread(), 'not read back').toEqual([]);
  });
  // Of the destination and the endpoint that the newcomer made.
  changesOfNotifications(current);
});
