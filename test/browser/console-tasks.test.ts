/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call, typescript/no-unsafe-argument -- a test looks into any answer */
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '../support/crm-world.ts';
import { openChromium } from './chromium.ts';
import { addKey, signedIn, type Console } from './console-world.ts';

const clicksMax = 4;

let world: CrmWorld;
let crm: CrmConnection;
let opened: Console;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  world = stack.use(await openCrmWorld());
  crm = await world.connect();
  crm.account.contacts = [{ id: 'c1', name: 'first name' }];
  await crm.run('contacts');
  crm.account.contacts = [{ id: 'c1', name: 'second name' }];
  await crm.run('contacts');
  crm.account.script = [{ do: 'throw', message: 'the provider speaks another language' }];
  await crm.run('scripted');
  const browser = await openChromium();
  stack.defer(() => browser.close());
  const page = async () => (await browser.newContext({ locale: 'en-GB' })).newPage();
  opened = await signedIn({ gateway: world.gateway, page });
  await addKey(opened.page, world.gateway.prodKey);
});
afterAll(() => stack.disposeAsync());

let clicks = 0;
/** A choice of a list counts as a click. */
const press = async (target: Locator): Promise<void> => {
  clicks += 1;
  await target.click();
};
const button = (name: string): Locator =>
  opened.page.getByRole('button', { name, exact: true }).first();
const link = (name: string): Locator =>
  opened.page.getByRole('link', { name, exact: true }).first();
const field = (name: string): Locator => opened.page.getByLabel(name, { exact: true });
/** A page of the navigation. */
const go = (name: string): Promise<void> =>
  press(opened.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }));
const seen = (text: string): Promise<void> => opened.page.getByText(text).first().waitFor();

const read = async (path: string, key = world.gateway.key) =>
  succeeded(await world.gateway.call('GET', path, { key }));
const readOfAccount = (path: string) => read(path, world.gateway.accountKey);

describe('a newcomer, from Home, in at most four clicks', () => {
  let page: Page;
  beforeEach(async () => {
    ({ page } = opened);
    opened.complaints.length = 0;
    clicks = 0;
    await page.goto(`${world.gateway.url}/console/env/dev`);
    await page.getByRole('heading', { level: 1, name: 'dev' }).waitFor();
  });
  afterEach(() => {
    expect(clicks).toBeLessThanOrEqual(clicksMax);
    expect(opened.complaints).toEqual([]);
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
    await press(link(crm.id));
    await press(link('Records'));
    await press(link('c1'));
    await seen('What it changed');
    await seen('"first name"');
    const history = await world.gateway.call('GET', '/records/history?model=Contact&id=c1', {
      headers: crm.headers,
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
      () => crm.records('Contact'),
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
    expect(data[0]).toMatchObject({ kind: 'action', status: 'succeeded', connection_id: crm.id });
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
    await seen(`${count} webhooks are sent again`);
    expect((await read('/webhook-messages')).data).toHaveLength(before + Number(count));
  });

  it('adds an endpoint for one connection', async () => {
    await go('Webhooks out');
    await press(link('Endpoints'));
    await press(button('Add an endpoint'));
    await field('Address').fill(`${world.receiver.url}/more`);
    await field('Only of the integration').selectOption('crm');
    await field('Only of the connection').fill(crm.id);
    await press(button('Add the endpoint'));
    await seen('The endpoint was added');
    const { data } = await read('/webhook-endpoints');
    expect(data.at(-1)).toMatchObject({
      url: `${world.receiver.url}/more`,
      provider_config_key: 'crm',
      connection_id: crm.id,
    });
  });

  it('reveals the signing key', async () => {
    await go('Webhooks out');
    await press(link('Signing key'));
    await press(button('Reveal (audited)'));
    await seen(world.signingKey);
    expect((await read('/environment/webhook-signing-key')).data.webhook_signing_key).toBe(
      world.signingKey,
    );
  });

  it('rotates the signing key', async () => {
    // That of dev was rotated a moment ago, so that two keys sign still.
    await page.goto(`${world.gateway.url}/console/env/prod`);
    await page.getByRole('heading', { level: 1, name: 'prod' }).waitFor();
    const key = world.gateway.prodKey;
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
    await field('Target').fill(`${world.receiver.url}/alerts`);
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
    expect(await world.receiver.got(1, '/alerts')).toHaveLength(1);
  });

  it('creates a key of an environment', async () => {
    await go('Environments');
    await press(link('dev'));
    await press(button('Create a key'));
    await field('Name').fill('backend');
    await press(button('Create the key'));
    await seen('Secret of the key');
    const { data } = await readOfAccount(
      `/environment/api-keys?environment_id=${world.environmentId}`,
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
    const listed = await world.gateway.call('GET', '/account/api-keys', { key: secret });
    expect(listed.status).toBe(200);
  });

  it('deletes a key of the account', async () => {
    await go('Account keys');
    await press(button('Delete operations…'));
    await press(button('Delete the key'));
    await seen('operations was deleted');
    const { data } = await readOfAccount('/account/api-keys');
    expect(data.map((one: { display_name: string }) => one.display_name)).not.toContain(
      'operations',
    );
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

describe('a change in the console', () => {
  const open = async (path: string): Promise<void> => {
    opened.complaints.length = 0;
    await opened.page.goto(`${world.gateway.url}/console${path}`);
  };
  const choose = async (menu: string, item: string): Promise<void> => {
    await button(menu).click();
    await opened.page.getByRole('menuitem', { name: item }).click();
  };
  const connection = (tab: string): string => `/env/dev/connections/crm/${crm.id}/${tab}`;
  afterEach(() => {
    expect(opened.complaints).toEqual([]);
  });

  it('sets the frequency of a sync', async () => {
    await open(connection('syncs'));
    await choose('Actions of contacts', 'Set the frequency…');
    await field('Frequency').fill('2h');
    await button('Set the frequency').click();
    await seen('contacts runs every 2h');
    expect((await crm.status('contacts')).frequency).toBe('2h');
  });

  it('starts and pauses a schedule', async () => {
    await open(connection('syncs'));
    const { status: before } = await crm.status('notes');
    const [first, second] =
      before === 'PAUSED'
        ? (['Start the schedule', 'Pause the schedule'] as const)
        : (['Pause the schedule', 'Start the schedule'] as const);
    for (const item of [first, second]) {
      await choose('Actions of notes', item);
      await eventually(
        () => crm.status('notes'),
        ({ status }) => (status === 'PAUSED') === (item === 'Pause the schedule'),
      );
      await open(connection('syncs'));
    }
  });

  it('creates and deletes a variant of a sync', async () => {
    await open(connection('syncs'));
    await choose('Actions of deals', 'Create a variant…');
    await field('Name').fill('closed');
    await button('Create the variant').click();
    await seen('The variant closed was created');
    expect((await crm.status('deals::closed')).variant).toBe('closed');
    await choose('Actions of deals closed', 'Delete the variant…');
    await button('Delete the variant').click();
    await seen('The variant closed was deleted');
    const path = `/sync/status?syncs=*&provider_config_key=crm&connection_id=${crm.id}`;
    const { syncs } = await read(path);
    expect(syncs.filter((one: { variant: string }) => one.variant !== 'base')).toEqual([]);
  });

  it('prunes records up to one', async () => {
    await open(`${connection('records')}?model=Contact&id=c1`);
    await button('Prune up to here…').click();
    await button('Prune the records').click();
    await seen('1 records were pruned');
    const { records } = await eventually(
      () => crm.records('Contact'),
      (page) => page.records[0]?._svc_metadata.pruned_at !== undefined,
    );
    expect(records[0]).not.toHaveProperty('name');
  });

  it('disables, edits and deletes an alert destination', async () => {
    await open('/env/dev/alerts');
    await choose('Actions of on duty', 'Disable');
    await seen('The destination was disabled');
    await choose('Actions of on duty', 'Edit…');
    await field('Name').fill('on call');
    await field('Dead letters').uncheck();
    await button('Save the destination').click();
    await seen('The destination was saved');
    const [edited] = (await read('/alert-destinations')).data;
    expect(edited).toMatchObject({ display_name: 'on call', enabled: false });
    expect(edited.alerts).toHaveLength(3);
    await choose('Actions of on call', 'Delete…');
    await button('Delete the destination').click();
    await seen('on call was deleted');
    expect((await read('/alert-destinations')).data).toEqual([]);
  });

  it('tests, disables, edits and deletes an endpoint', async () => {
    await open('/env/dev/webhooks-out/endpoints');
    const { id, display_name: name } = (await read('/webhook-endpoints')).data.at(-1);
    const endpoint = async () =>
      (await read('/webhook-endpoints')).data.find((one: { id: string }) => one.id === id);
    await choose(`Actions of ${name}`, 'Send a test webhook');
    await seen('A test webhook was sent');
    await eventually(
      () => Promise.resolve(world.receiver.received),
      (all) => all.some(({ path, body }) => path === '/more' && body.includes('"test"')),
    );
    await choose(`Actions of ${name}`, 'Disable');
    await seen('The endpoint was disabled');
    expect(await endpoint()).toMatchObject({ enabled: false });
    await choose(`Actions of ${name}`, 'Edit…');
    await field('Name').fill('archive');
    await field('Only of the connection').fill('');
    await field('Only of the integration').selectOption('');
    await button('Save the endpoint').click();
    await seen('The endpoint was saved');
    expect(await endpoint()).toMatchObject({ display_name: 'archive', connection_id: null });
    await choose('Actions of archive', 'Delete…');
    await button('Delete the endpoint').click();
    await seen('The endpoint was deleted');
    expect(await endpoint()).toBeUndefined();
  });

  it('recovers what failed', async () => {
    world.receiver.answer = ({ path }) => (path === '/primary' ? 410 : 200);
    await crm.trigger('contacts');
    await eventually(
      () => read('/webhook-messages?state=failed'),
      ({ data }) => data.length > 0,
    );
    world.receiver.answer = () => 200;
    const before = (await read('/webhook-messages?state=delivered')).data.length;
    await open('/env/dev/webhooks-out');
    await button('Recover failed…').click();
    await button('Count them').click();
    await opened.page.getByRole('button', { name: /^Send \d+ again$/ }).click();
    await seen('webhooks are sent again');
    await eventually(
      () => read('/webhook-messages?state=delivered'),
      ({ data }) => data.length > before,
    );
  });
});
