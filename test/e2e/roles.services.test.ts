import '#test/support/processes/with-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import {
  openOtlpReceiver,
  spanIdOf,
  traceOf,
  type OtlpReceiver,
} from '#test/support/fakes/otlp-receiver.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const roles = ['owner', 'projector', 'runner', 'webhooks'] as const;
const nowhere = 'http://127.0.0.1:1/gateway';

/** Callers that record a trace; other requests of this file are not recorded. */
const callers = {
  action: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  sync: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

let clickhouse: ClickHouseFront;
let collector: OtlpReceiver;
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  clickhouse = await startClickHouseFront();
  const beside = roles.map((role) => ({
    SVC_ROLES: role,
    // An owner opens no tables: it does not even look for them.
    ...(role === 'owner' ? { SVC_CLICKHOUSE_URL: nowhere } : {}),
  }));
  collector = await openOtlpReceiver();
  const env = {
    SVC_CLICKHOUSE_URL: clickhouse.url,
    SVC_ROLES: 'api',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  };
  world = await openCrmWorld({ env, beside });
  crm = await world.connect();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await clickhouse[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
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

  it('works in the trace of the caller', async () => {
    const headers = { traceparent: callers.action };
    succeeded(await crm.action('request', { endpoint: '/script' }, headers));
    crm.account.contacts = rows(1, 'traced');
    const runs = crm.webhooks('contacts').length;
    const body = { provider_config_key: 'crm', connection_id: crm.id, syncs: ['contacts'] };
    const sync = { headers: { traceparent: callers.sync }, body };
    succeeded(await world.gateway.call('POST', '/sync/trigger', sync));
    await crm.webhook('contacts', runs + 1);
    // The last of its spans: the log of the webhook is in the tables.
    const search = { types: ['webhook:sync'], states: ['success'], limit: 100 };
    await eventually(
      async () =>
        succeeded(await world.gateway.call('POST', '/logs/operations', { body: search })) as {
          readonly data: unknown[];
        },
      ({ data }) => data.length >= world.receiver.received.length,
    );
  });

  it('stops each with 0', async () => {
    for (const one of [world.gateway, ...world.beside]) {
      await one.stop();
      expect(await one.exited).toBe(0);
    }
  });

  // Each process has exported its last spans when it stopped.
  it.each(['action', 'sync'] as const)('exports one tree of spans: %s', (caller) => {
    const { spans, outerParents } = traceOf(collector.spans, callers[caller]);
    expect(outerParents).toEqual([spanIdOf(callers[caller])]);
    const topics = spans.filter(({ attributes }) => 'messaging.system' in attributes);
    expect(new Set(topics.map(({ attributes }) => attributes['messaging.system']))).toEqual(
      new Set(['kafka']),
    );
  });

  const queued =
    'api: send svc.internal.commands.v1 > owner: process svc.internal.commands.v1 > runner: process svc.runs.v1';
  const ended = 'runner: send svc.internal.commands.v1 > owner: process svc.internal.commands.v1';

  it('traces an action from the API over its owner to its runner', () => {
    const root = `api: POST /action/trigger > ${queued}`;
    const expected = [
      `${root} > runner: run action request`,
      `${root} > runner: run action request > runner: GET`,
      `${root} > ${ended}`,
      `${root} > projector: process svc.logs.v1`,
    ];
    expect([...pathsOf('action')]).toEqual(expect.arrayContaining(expected));
  });

  it('traces a sync from the API to the tables and to its webhook', () => {
    const root = `api: POST /sync/trigger > ${queued}`;
    const run = `${root} > runner: run sync contacts`;
    const saved = `${run} > runner: send svc.internal.record-commands.v1 > owner: process svc.internal.record-commands.v1`;
    const webhook = `${root} > ${ended} > webhooks: process svc.runs.v1 > webhooks: process svc.webhooks-out.v1`;
    const expected = [
      `${run} > runner: GET`,
      `${saved} > projector: process svc.records.v1`,
      `${webhook} > webhooks: POST`,
      `${webhook} > projector: process svc.logs.v1`,
    ];
    expect([...pathsOf('sync')]).toEqual(expect.arrayContaining(expected));
  });
});

/** From the root to each span, every span as `role: name`. */
function pathsOf(caller: keyof typeof callers): ReadonlySet<string> {
  const { spans, pathOf } = traceOf(
    collector.spans.map((span) => ({
      ...span,
      name: `${String(span.resource['svc.roles'])}: ${span.name}`,
    })),
    callers[caller],
  );
  return new Set(spans.map(pathOf));
}
