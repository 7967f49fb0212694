/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument --
   a test looks into any answer, and expect.any() is anything */
import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const rows = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, name: `Contact ${n}` }));
const script = (crm: CrmConnection, ...steps: object[]) => {
  crm.account.script = steps;
  return crm.run('scripted', { model: 'Item' });
};

describe('a sync that fails', () => {
  it('is reported, marks the connection, and the next success clears the mark', async () => {
    const crm = await world.connect();
    const hook = await script(
      crm,
      { do: 'save', rows: rows(2) },
      { do: 'throw', message: 'no luck' },
    );
    expect(hook).toEqual({
      type: 'sync',
      from: 'svc',
      connectionId: crm.id,
      providerConfigKey: 'crm',
      syncName: 'scripted',
      syncVariant: 'base',
      syncType: 'INITIAL',
      model: 'Item,Part',
      success: false,
      error: { type: 'script_error', description: 'no luck' },
      startedAt: expect.stringMatching(/Z$/),
      failedAt: expect.stringMatching(/Z$/),
    });
    const marked = await eventually(crm.shown, ({ errors }) => errors.length > 0);
    const message = expect.stringMatching(
      /^Sync scripted: no luck \(crm\/syncs\/scripted\.ts:\d+:\d+\)$/,
    );
    expect(marked.errors).toEqual([{ type: 'sync', log_id: expect.any(String), message }]);
    const failing = async (query: string) => {
      const answer = await world.gateway.call(
        'GET',
        `/connections?connectionId=${crm.id}&${query}`,
      );
      return succeeded(answer).connections.length as number;
    };
    const kinds = ['sync', 'any', 'auth', 'none'];
    const found = await Promise.all(kinds.map((kind) => failing(`errors=${kind}`)));
    expect(found).toEqual([1, 1, 0, 0]);
    expect(await crm.status('scripted')).toMatchObject({ latestExecutionStatus: 'ERROR' });
    expect(await crm.all('Item')).toHaveLength(2);

    expect(await script(crm)).toMatchObject({ success: true, syncType: 'INITIAL' });
    expect((await eventually(crm.shown, ({ errors }) => errors.length === 0)).errors).toEqual([]);
  });

  it('deletes what it did not save with deleteRecordsFromPreviousExecutions, after a failure too', async () => {
    const crm = await world.connect();
    const end = { do: 'deletePrevious' };
    const save = (...ids: string[]) => ({ do: 'save', rows: ids.map((id) => ({ id })) });
    const living = async () =>
      (await crm.all('Item')).flatMap(({ id, _svc_metadata: { deleted_at: at } }) =>
        at === null ? [id] : [],
      );
    expect(await script(crm, save('a', 'b', 'c'), end)).toMatchObject({ success: true });
    expect((await living()).sort()).toEqual(['a', 'b', 'c']);
    await script(crm, save('a', 'b', 'c'), { do: 'throw', message: 'half way' });
    expect((await living()).sort()).toEqual(['a', 'b', 'c']);
    const { success, responseResults } = await script(crm, save('a'), save('d'), end);
    expect(success).toBe(true);
    expect(responseResults).toEqual({ added: 1, updated: 0, deleted: 2 });
    expect((await living()).sort()).toEqual(['a', 'd']);
  });

  it('reports its success when its records can be read', async () => {
    const crm = await world.connect();
    for (let revision = 1; revision <= 5; revision++) {
      crm.account.script = [{ do: 'save', rows: [{ id: 'a', name: `revision ${revision}` }] }];
      const { finishedAt: before } = await crm.status('scripted');
      await crm.trigger('scripted');
      const done = await eventually(
        () => crm.status('scripted'),
        (status) => status.finishedAt !== before && status.status !== 'RUNNING',
      );
      expect(done).toMatchObject({ latestExecutionStatus: 'SUCCESS', records_readable: true });
      expect(await crm.all('Item')).toMatchObject([{ name: `revision ${revision}` }]);
    }
  });

  it('§8.1 an open pass is kept: goes on after its checkpoint, and forgets both on a reset', async () => {
    const crm = await world.connect();
    crm.account.contacts = rows(60);
    await crm.run('contacts');
    crm.account.contacts = rows(50);
    crm.account.asked.length = 0;
    const answer = { status: 200, body: { data: rows(20), next: '20' } };
    crm.account.plan('/contacts', answer, { status: 500, body: { error: 'down' } });
    const failed = await crm.run('contacts');
    expect(failed).toMatchObject({
      success: false,
      checkpoints: { from: null, to: { cursor: '20' } },
      error: { description: 'Request failed with status code 500' },
    });
    expect(await crm.status('contacts')).toMatchObject({ checkpoint: { cursor: '20' } });

    crm.account.asked.length = 0;
    expect(await crm.run('contacts')).toMatchObject({
      success: true,
      checkpoints: { from: { cursor: '20' }, to: null },
      responseResults: { added: 0, updated: 0, deleted: 10 },
    });
    expect(crm.account.asked[0]?.path).toMatch(/cursor=20/);

    crm.account.plan('/contacts', answer, { status: 500 });
    await crm.run('contacts');
    crm.account.asked.length = 0;
    const again = await crm.run('contacts', { more: { opts: { reset: true } } });
    expect(again).toMatchObject({
      success: true,
      checkpoints: { from: null },
      syncType: 'INITIAL',
    });
    expect(crm.account.asked[0]?.path).not.toMatch(/cursor/);
    expect(await crm.status('contacts')).toMatchObject({ checkpoint: null });
  });

  it.each([
    ['no id', { do: 'save', rows: [{ id: 'good' }, { name: 'bad' }] }, /record.* Item.*id/i],
    ['an empty id', { do: 'save', rows: [{ id: 'good' }, { id: '' }] }, /record.* Item.*id/i],
    [
      'too long an id',
      { do: 'save', rows: [{ id: 'good' }, { id: 'i'.repeat(256) }] },
      /Item.*255/,
    ],
    ['an object as id', { do: 'save', rows: [{ id: 'good' }, { id: {} }] }, /record.* Item.*id/i],
    ['no object', { do: 'save', rows: [{ id: 'good' }, 'bad'] }, /record.* Item/i],
    ['over 1 MB', { do: 'big', id: 'the-big-one', bytes: 1_000_001 }, /the-big-one.* Item.*1 MB/],
    [
      'over 1 MB in bytes, after a thousand good ones',
      { do: 'save', rows: [...rows(1_000), { id: 'wide', name: 'é'.repeat(600_000) }] },
      /wide.* Item/,
    ],
  ])(
    '§16 record id, §7.1 a record that is none: because a record has %s saves nothing of the call and names it',
    async (_what, step, said) => {
      const crm = await world.connect();
      const hook = await script(crm, step);
      expect(hook.success).toBe(false);
      expect(hook.error.description).toMatch(said);
      expect(await crm.all('Item')).toEqual([]);
    },
  );

  it('§7.1 no validation by default: what breaks the schema is stored as it is', async () => {
    const crm = await world.connect();
    const odd = { id: '7', name: 42, extra: { deep: [null] } };
    const hook = await script(crm, { do: 'save', rows: [{ ...odd, id: 7 }] });
    expect(hook).toMatchObject({ success: true, responseResults: { added: 1 } });
    expect(await crm.all('Item')).toMatchObject([odd]);
  });
});

describe('its schedule', () => {
  it('starts, pauses, and says when it is due', async () => {
    const crm = await world.connect();
    const command = async (path: string, more: object = {}) => {
      const body = {
        provider_config_key: 'crm',
        connection_id: crm.id,
        syncs: ['contacts'],
        ...more,
      };
      const answer = await world.gateway.call('POST', path, { body });
      return answer.status === 200 ? answer.body : [answer.status, answer.body.error.code];
    };
    expect(await crm.status('contacts')).toMatchObject({
      status: 'PAUSED',
      nextScheduledSyncAt: null,
    });
    expect(await command('/sync/start')).toEqual({ success: true });
    expect(await crm.webhook('contacts', 1)).toMatchObject({ success: true });
    const { nextScheduledSyncAt, status } = await crm.status('contacts');
    expect(status).toBe('SUCCESS');
    const dueInMs = Date.parse(nextScheduledSyncAt) - Date.now();
    expect(dueInMs).toBeGreaterThan(0);
    // A period, and up to a tenth of it that spreads the connections.
    expect(dueInMs).toBeLessThanOrEqual(1.1 * 3_600_000);

    const frequency = (value: string | null) =>
      world.gateway.call('PUT', '/sync/update-connection-frequency', {
        body: {
          sync_name: 'contacts',
          provider_config_key: 'crm',
          connection_id: crm.id,
          frequency: value,
        },
      });
    expect((await frequency('every 2 days')).body).toEqual({ frequency: '2d' });
    expect((await frequency('every 10 seconds')).status).toBe(400);
    expect((await frequency(null)).body).toEqual({ frequency: '1h' });

    expect(await command('/sync/pause')).toEqual({ success: true });
    expect(await crm.status('contacts')).toMatchObject({
      status: 'PAUSED',
      nextScheduledSyncAt: null,
    });
    // A paused sync still runs when it is asked to.
    expect(await crm.run('contacts')).toMatchObject({ success: true });

    for (const path of ['/sync/start', '/sync/pause', '/sync/trigger']) {
      expect(await command(path, { syncs: ['none'] })).toEqual([400, 'no_syncs_found']);
      expect(await command(path, { connection_id: 'none' })).toEqual([404, 'unknown_connection']);
      expect(await command(path, { provider_config_key: 'none' })).toEqual([
        400,
        'unknown_provider_config',
      ]);
    }
    const unnamed = await world.gateway.call('POST', '/sync/trigger', { body: { syncs: [] } });
    expect(unnamed.body.error.code).toBe('missing_provider_config_key');
  });

  it('§16 concurrency: never runs one sync twice at a time; a reset takes the place of the run that is going', async () => {
    const crm = await world.connect();
    await crm.trigger('stepwise');
    await crm.account.came('/steps/1');
    expect(await crm.status('stepwise')).toMatchObject({ status: 'RUNNING' });
    expect((await crm.trigger('stepwise')).status).toBe(200);
    crm.account.openSteps(2);
    await crm.account.came('/steps/3');
    const saved = await eventually(
      () => crm.all('Step'),
      (records) => records.length === 2,
    );
    expect(saved.map(({ id }) => id)).toEqual(['step-1', 'step-2']);
    await crm.trigger('stepwise', { opts: { reset: true } });
    await crm.account.came('/steps/1', 2);
    crm.account.openSteps(6);
    const hook = await crm.webhook('stepwise', 1);
    expect(hook).toMatchObject({ success: true, checkpoints: { from: null, to: null } });
    expect(crm.account.asked.filter(({ path }) => path === '/steps/6')).toHaveLength(1);
    expect(await crm.all('Step')).toHaveLength(6);
  });
});

describe('its webhook', () => {
  it('is signed over its exact bytes, and its records can be read the moment it comes', async () => {
    const crm = await world.connect();
    crm.account.contacts = rows(45).map((row) => ({ ...row, name: 'Zoë 🙂' }));
    let read: Promise<unknown[]> | undefined;
    world.receiver.answer = ({ body }) => {
      if (body.includes(crm.id) && body.includes('"syncName":"contacts"'))
        read ??= crm.all('Contact');
      return 200;
    };
    const hook = await crm.run('contacts');
    expect(await read).toHaveLength(45);
    expect(Object.keys(hook)).toEqual(Object.keys(hook).toSorted());
    expect(hook).toEqual({
      type: 'sync',
      from: 'svc',
      connectionId: crm.id,
      providerConfigKey: 'crm',
      syncName: 'contacts',
      syncVariant: 'base',
      syncType: 'INITIAL',
      model: 'Contact',
      success: true,
      checkpoints: { from: null, to: null },
      modifiedAfter: hook['queryTimeStamp'],
      queryTimeStamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      responseResults: { added: 45, updated: 0, deleted: 0 },
    });
    const { headers, body } = crm.webhooks('contacts')[0]!;
    const key = Buffer.from(world.signingKey.replace(/^whsec_/, ''), 'base64');
    const hmac = createHmac('sha256', key).update(body).digest('hex');
    const legacy = createHash('sha256').update(key).update(body).digest('hex');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^svc\//),
      'x-svc-hmac-sha256': hmac,
      'x-svc-signature': legacy,
    });
  });

  it('comes again after a 500, and a second address gets it whatever the first does', async () => {
    const account = { key: world.gateway.accountKey };
    const address = `/environments/${world.environmentId}`;
    const set = (url: string) =>
      world.gateway.call('PATCH', address, { ...account, body: { webhook_url_secondary: url } });
    expect((await set(`${world.receiver.url}/secondary`)).status).toBe(200);
    const crm = await world.connect();
    let refusals = 0;
    world.receiver.answer = ({ path, body }) => {
      if (path !== '/primary' || !body.includes('"syncName":"contacts"') || refusals > 0)
        return 200;
      refusals += 1;
      return 500;
    };
    await crm.run('contacts');
    await crm.webhook('contacts', 2);
    const [first, second] = crm.webhooks('contacts');
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['x-svc-hmac-sha256']).toBe(first?.headers['x-svc-hmac-sha256']);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    const others = world.receiver.received.filter(
      ({ path, body }) => path === '/secondary' && body === first?.body,
    );
    expect(others).toHaveLength(1);
    expect((await set('')).status).toBe(200);
  });

  it('is left out where the settings say so', async () => {
    const account = { key: world.gateway.accountKey };
    const address = `/environments/${world.environmentId}`;
    const set = (body: object) => world.gateway.call('PATCH', address, { ...account, body });
    await set({ on_sync_completion_always: false, on_sync_error: false });
    const crm = await world.connect();
    await crm.trigger('contacts');
    await eventually(
      () => crm.status('contacts'),
      ({ finishedAt }) => finishedAt !== undefined,
    );
    crm.account.contacts = rows(1);
    const hook = await crm.run('contacts');
    expect(hook).toMatchObject({ responseResults: { added: 1 } });
    expect(crm.webhooks('contacts')).toHaveLength(1);
    await set({ on_sync_completion_always: true, on_sync_error: true });
  });
});
