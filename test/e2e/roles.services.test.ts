import '../support/with-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClickHouseFront, type ClickHouseFront } from '../support/clickhouse-front.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '../support/crm-world.ts';

const roles = ['owner', 'projector', 'runner', 'webhooks'] as const;
const nowhere = 'http://127.0.0.1:1/gateway';

let clickhouse: ClickHouseFront;
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  clickhouse = await startClickHouseFront();
  const beside = roles.map((role) => ({
    SVC_ROLES: role,
    // An owner opens no tables: it does not even look for them.
    ...(role === 'owner' ? { SVC_CLICKHOUSE_URL: nowhere } : {}),
  }));
  const env = { SVC_CLICKHOUSE_URL: clickhouse.url, SVC_ROLES: 'api' };
  world = await openCrmWorld({ env, beside });
  crm = await world.connect();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await clickhouse[Symbol.asyncDispose]();
});

const rows = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, name }));

describe('a process for each role', () => {
  it('answers probes, and only the one with the role api the API', async () => {
    for (const one of [world.gateway, ...world.beside]) {
      expect((await one.call('GET', '/health', { key: null })).status).toBe(200);
      expect((await one.call('GET', '/ready', { key: null })).body).toEqual({ result: 'ok' });
    }
    for (const { url } of world.beside) {
      expect((await fetch(`${url}/connections`)).status).toBe(404);
    }
  });

  it('does together what one process does: who reads on the webhook finds the records', async () => {
    for (let revision = 1; revision <= 5; revision += 1) {
      crm.account.contacts = rows(40, `revision ${revision}`);
      const hook = await crm.run('contacts');
      expect(hook.success).toBe(true);
      const read = await crm.all('Contact');
      expect(read.map(({ name }) => name)).toEqual(Array<string>(40).fill(`revision ${revision}`));
      const cursor = read.at(-1)!._svc_metadata.cursor;
      expect(await crm.records('Contact', { cursor })).toEqual({ records: [], next_cursor: null });
    }
    expect((await crm.action('echo', { a: 1 })).body).toEqual({ a: 1 });
    expect(await crm.status('contacts')).toMatchObject({ recordCount: { Contact: 40 } });
  });

  it('forgets what it has read ahead when records are pruned in another process', async () => {
    crm.account.contacts = rows(60, 'plenty');
    await crm.run('contacts');
    const first = await crm.records('Contact', { limit: '10' });
    const second = { limit: '10', cursor: first.next_cursor! };
    const whole = await crm.records('Contact', second);
    const until_cursor = whole.records.at(-1)!._svc_metadata.cursor;
    const body = { model: 'Contact', until_cursor };
    const pruning = { headers: crm.headers, body };
    succeeded(await world.gateway.call('PATCH', '/records/prune', pruning));
    const { records } = await eventually(
      () => crm.records('Contact', second),
      (page) => page.records.every(({ _svc_metadata: meta }) => meta.pruned_at !== undefined),
    );
    expect(records.map(({ id }) => id)).toEqual(whole.records.map(({ id }) => id));
    expect(records.flatMap(({ name }) => name ?? [])).toEqual([]);
  });

  it('stops each with 0', async () => {
    for (const one of [world.gateway, ...world.beside]) {
      await one.stop();
      expect(await one.exited).toBe(0);
    }
  });
});
