/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call, typescript/no-unsafe-argument -- a test looks into any answer */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { clippedIn } from './clipping.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';
import { driverOf } from './console-driver.ts';
import { violationsOf } from './world.ts';

describe('changes and their readers in the console', () => {
  let opened: CrmConsole;
  const { button, field, link, open, read, seen, send } = driverOf(() => opened);
  beforeAll(async () => {
    opened = await openCrmConsole();
  });
  afterEach(() => {
    expect(opened.complaints).toEqual([]);
    expect(takeUnread(), 'not read back').toEqual([]);
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  const shown = async (name: string) => (await read(`/subscriptions/${name}`)).data;
  const next = async (name: string) => (await read(`/subscriptions/${name}/changes`)).changes;
  const parked = async (name: string) => (await read(`/subscriptions/${name}/parked`)).data;
  const page = (name: string, tab = ''): Promise<void> =>
    open(`/env/dev/subscriptions/${name}${tab}`);
  const save = async (id: string, name: string): Promise<void> => {
    opened.crm.account.contacts = [{ id, name }];
    await opened.crm.run('contacts');
  };

  it('follows changes, and opens the history of a record', async () => {
    await open('/env/dev/changes');
    const row = opened.page.getByRole('row', { name: /second name/ });
    await row.getByRole('link', { name: 'c1', exact: true }).click();
    const drawer = opened.page.getByRole('dialog');
    await drawer.getByText('first name').first().waitFor();
    await drawer.getByRole('button', { name: 'Close' }).click();
    await save('c-live', 'while the page is open');
    await seen(/while the page is open/);
    await button('Pause').click();
    await save('c-later', 'while the page is paused');
    await eventually(
      async () => (await read('/changes?limit=100')).changes,
      (all: readonly { record_id: string }[]) => all.some(({ record_id: id }) => id === 'c-later'),
    );
    expect(await opened.page.getByText(/while the page is paused/).count()).toBe(0);
    await button('Follow again').click();
    await seen(/while the page is paused/);
    await field('Model').fill('Nothing');
    await seen('Waiting for changes');
  });

  it('creates a subscription that begins at a time', async () => {
    await open('/env/dev/subscriptions');
    await button('Create a subscription').click();
    await field('Name').fill('warehouse');
    await field('Only of the integration').selectOption('crm');
    await field('Only of the model').fill('Contact');
    await field('Begins at').selectOption({ index: 1 });
    await button('Create the subscription').click();
    await opened.page.getByRole('heading', { level: 1, name: 'warehouse' }).waitFor();
    expect(await shown('warehouse')).toMatchObject({
      provider_config_key: 'crm',
      connection_id: null,
      model: 'Contact',
      committed_at: null,
      parked: 0,
    });
    expect((await next('warehouse')).length).toBeGreaterThan(1);
    await seen('not read yet');
  });

  it('shows why a name is refused', async () => {
    await open('/env/dev/subscriptions');
    await button('Create a subscription').click();
    await field('Name').fill('warehouse');
    await button('Create the subscription').click();
    await seen(/"warehouse" has another filter/);
    // The browser notes each refusal.
    opened.complaints.length = 0;
  });

  it('parks a change, shows why, and releases it', async () => {
    const [first] = await next('warehouse');
    await page('warehouse', '/next');
    await opened.page.getByTitle(`Park the change of ${first.record_id}`).first().click();
    await field('Reason').fill('The row has no owner.');
    await button('Park the change').click();
    await seen('The change was parked');
    expect(await parked('warehouse')).toMatchObject([
      { place: first.place, reason: 'The row has no owner.' },
    ]);
    await link('Parked (1)').click();
    await link(first.record_id).click();
    const drawer = opened.page.getByRole('dialog');
    await drawer.getByText('The row has no owner.').waitFor();
    await drawer.getByText(`"${first.record.name}"`).waitFor();
    expect(await violationsOf(opened.page)).toEqual([]);
    await button('Release…').click();
    await button('Release the change').click();
    await seen('Nothing is parked');
    expect(await parked('warehouse')).toEqual([]);
  });

  it('commits what it shows, and moves the position back', async () => {
    await page('warehouse', '/next');
    await button('Commit these…').click();
    await button('Commit the changes').click();
    await seen('Nothing to read');
    expect(await next('warehouse')).toEqual([]);
    await link('Position').click();
    await seen('caught up');
    await button('Move…').click();
    await field('Move to').selectOption({ index: 0 });
    await button('Move the subscription').click();
    await seen('The subscription warehouse was moved');
    expect((await next('warehouse')).length).toBeGreaterThan(1);
    await seen('behind');
  });

  it('fits a phone while a question is asked', async () => {
    await opened.page.setViewportSize({ width: 390, height: 860 });
    await page('warehouse');
    await button('Move…').click();
    await field('Move to').selectOption({ index: 1 });
    await field('Time (local)').waitFor();
    expect(await clippedIn(opened.page)).toEqual([]);
    expect(await violationsOf(opened.page)).toEqual([]);
    await opened.page.setViewportSize({ width: 1280, height: 860 });
  });

  it('posts changes to an address, shows a refused one, and replays it after the address has changed', async () => {
    const { receiver } = opened.world;
    receiver.answer = ({ path }) => (path === '/hooks/refusing' ? 422 : 200);
    await open('/env/dev/subscriptions');
    await button('Create a subscription').click();
    await field('Name').fill('posted');
    await field('Only of the model').fill('Contact');
    await field('Begins at').selectOption('end');
    await field('Delivery').selectOption('posted');
    await field('Address').fill(`${receiver.url}/hooks/refusing`);
    await field('Each request has').selectOption('ids');
    await field('Changes of a request, at most').fill('5');
    await field('Further requests before a refused change is parked').fill('0');
    expect(await violationsOf(opened.page)).toEqual([]);
    await button('Create the subscription').click();
    await opened.page.getByRole('heading', { level: 1, name: 'posted' }).waitFor();
    const target = { type: 'webhook', url: `${receiver.url}/…`, payload: 'ids', batch_size: 5 };
    expect(await shown('posted')).toMatchObject({ model: 'Contact', target, committed_at: null });
    await save('c-refused', 'refused');
    await eventually(
      () => parked('posted'),
      (all: readonly { change: { record_id: string } }[]) =>
        all.some(({ change }) => change.record_id === 'c-refused'),
    );
    // So is the deletion of the record that the sync no longer has.
    await page('posted', '/parked');
    await link('c-refused').click();
    await opened.page.getByRole('dialog').getByText('The address answered 422.').waitFor();
    await page('posted');
    await button('Change target…').click();
    await field('Address').fill(`${receiver.url}/hooks/taking?token=secret`);
    await field('Each request has').selectOption('records');
    expect(await violationsOf(opened.page)).toEqual([]);
    await button('Change the target').click();
    await seen('The target of posted was changed');
    expect((await shown('posted')).target).toEqual({
      ...target,
      payload: 'records',
      retries: 0,
    });
    await page('posted', '/parked');
    await link('c-refused').click();
    await button('Replay').click();
    await seen('The change is delivered once more');
    const [request] = await receiver.got(1, '/hooks/taking?token=secret');
    expect(JSON.parse(request!.body)).toMatchObject({
      changes: [{ record_id: 'c-refused', record: { name: 'refused' } }],
    });
    await eventually(
      () => parked('posted'),
      (all: readonly { change: { record_id: string } }[]) =>
        all.every(({ change }) => change.record_id !== 'c-refused'),
    );
    await send('DELETE', '/subscriptions/posted');
  });

  it('deletes a subscription', async () => {
    await send('PUT', '/subscriptions/former', { body: {} });
    await page('former');
    await button('Delete…').click();
    await button('Delete the subscription').click();
    await opened.page.getByRole('heading', { level: 1, name: 'Subscriptions' }).waitFor();
    const names = (await read('/subscriptions')).data.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['warehouse']);
    await link('warehouse').waitFor();
  });
});
