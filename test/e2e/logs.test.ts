/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument, typescript/no-unsafe-call --
   a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricDefinitions } from '#ports/metrics.ts';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { eventsOf } from '#test/support/judges/event-stream.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
let other: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
  other = await world.connect();
  crm.account.contacts = [{ id: 'c-1', name: 'Ada' }];
  await crm.run('contacts');
  await other.run('contacts');
  await crm.action('fail', { how: 'action-error', payload: { code: 'x' } });
  for (const path of ['/proxy/contacts?api_key=hidden', '/proxy/nothing-here']) {
    await world.gateway.call('GET', path, { headers: crm.headers });
  }
  // Entries of different operations may be shown in another order than they were written in.
  await eventually(
    async () => typesOf(succeeded(await operations({ connections: [crm.id] })).data),
    (types) =>
      types.filter((type) => type === 'proxy:call').length === 2 &&
      ['action:run', 'sync:run', 'webhook:sync'].every((type) => types.includes(type)),
  );
});
afterAll(() => world[Symbol.asyncDispose]());

const operations = (body: object = {}, key?: string) =>
  world.gateway.call('POST', '/logs/operations', { body, ...(key ? { key } : {}) });
const messages = (body: object, key?: string) =>
  world.gateway.call('POST', '/logs/messages', { body, ...(key ? { key } : {}) });
/** Those of the connection, once all that `beforeAll` did is shown. */
const shown = (body: object = {}) =>
  eventually(
    async () => succeeded(await operations({ connections: [crm.id], ...body })),
    ({ data }) =>
      data.length > 0 && data.every(({ state }: { state: string }) => state !== 'running'),
  );
const typesOf = (data: { operation: { type: string; action: string } }[]) =>
  data.map(({ operation: { type, action } }) => `${type}:${action}`);

describe('statistics', () => {
  const read = async (range: string) =>
    succeeded(await world.gateway.call('GET', `/statistics?range=${range}`)).data;
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

  it.each([
    ['1h', 60, 60],
    ['24h', 900, 96],
    ['7d', 7200, 84],
  ])('count what happened in the environment in the last %s', async (range, step, count) => {
    const { step_seconds, times, series, totals } = await eventually(
      () => read(range),
      ({ series: found }) =>
        [found.records_changed, found.action_runs_failed].every((one) => sum(one) === 1) &&
        sum(found.webhooks_delivered) >= 2,
    );
    expect(step_seconds).toBe(step);
    expect(times).toHaveLength(count);
    const now = Date.now() / 1000;
    expect(times.at(-1)).toBeLessThanOrEqual(now);
    expect(times.at(-1)).toBeGreaterThan(now - 2 * step);
    expect(new Set(times.slice(1).map((time: number, at: number) => time - times[at]))).toEqual(
      new Set([step]),
    );
    const sums = Object.fromEntries(
      Object.entries(series as Record<string, number[]>).map(([name, values]) => {
        expect([name, values.length]).toEqual([name, count]);
        return [name, sum(values)];
      }),
    );
    expect(sums).toMatchObject({
      action_runs_succeeded: 0,
      action_runs_failed: 1,
      records_changed: 1,
      proxy_requests: 2,
      proxy_failed: 1,
      webhooks_received: 0,
    });
    // A new connection runs its syncs too.
    expect(sums['sync_runs_succeeded']).toBeGreaterThanOrEqual(2);
    expect(totals).toEqual({ connections: 2, failing_connections: 0 });
  });

  it('are of the environment of the key alone', async () => {
    const { gateway } = world;
    const answer = await gateway.call('GET', '/statistics', { key: gateway.prodKey });
    const { series, totals } = succeeded(answer).data;
    expect(
      Object.values(series as Record<string, number[]>)
        .flat()
        .every((one) => one === 0),
    ).toBe(true);
    expect(totals).toEqual({ connections: 0, failing_connections: 0 });
  });
});

describe('operations of the log', () => {
  it('are listed newest first, with what they were about', async () => {
    const { data, pagination } = await shown();
    expect(typesOf(data)).toEqual(
      expect.arrayContaining(['proxy:call', 'action:run', 'sync:run', 'webhook:sync']),
    );
    expect(pagination).toEqual({ total: data.length, cursor: null });
    const times = data.map(({ createdAt }: { createdAt: string }) => Date.parse(createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    const sync = data.find(
      ({ syncConfigName }: { syncConfigName: string }) => syncConfigName === 'contacts',
    );
    expect(sync).toMatchObject({
      operation: { type: 'sync', action: 'run' },
      state: 'success',
      level: 'info',
      environmentId: world.environmentId,
      environmentName: world.environmentName,
      integrationId: 'crm',
      connectionId: crm.id,
      syncConfigName: 'contacts',
      runId: sync.id,
    });
    expect(sync.durationMs).toBeGreaterThanOrEqual(0);
    expect(Date.parse(sync.endedAt)).toBeGreaterThanOrEqual(Date.parse(sync.startedAt));
    expect(await world.gateway.call('GET', `/logs/operations/${sync.id}`)).toMatchObject({
      status: 200,
      body: { data: sync },
    });
  });

  it.each([
    [{ types: ['action'] }, ['action:run']],
    [{ types: ['sync:run'], states: ['success'], syncs: ['contacts'] }, ['sync:run']],
    [{ syncs: ['contacts'], types: ['sync'] }, ['sync:run']],
    [{ states: ['failed'], levels: ['error'], types: ['proxy'] }, ['proxy:call']],
    [{ search: 'NOTHING-here' }, ['proxy:call']],
    [{ syncs: ['contacts'], integrations: ['crm'], states: ['all'] }, ['sync:run']],
  ])('are found by %j', async (body, types) => {
    expect(typesOf((await shown(body)).data)).toEqual(types);
  });

  it.each([
    [{ states: ['cancelled'] }],
    [{ integrations: ['none'] }],
    [{ types: ['sync:pause'] }],
    [{ search: 'no such text' }],
    [{ period: { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' } }],
  ])('are not found by %j', async (body) => {
    const none = { data: [], pagination: { total: 0, cursor: null } };
    expect(succeeded(await operations(body))).toEqual(none);
  });

  it('come page by page, each once', async () => {
    const { data: all } = await shown();
    const walked: unknown[] = [];
    for (let cursor: string | null = null; ;) {
      const page = succeeded(await operations({ connections: [crm.id], limit: 2, cursor }));
      expect(page.pagination.total).toBe(all.length);
      walked.push(...page.data);
      cursor = page.pagination.cursor;
      if (cursor === null) break;
    }
    expect(walked).toEqual(all);
  });

  it('are of one environment, and of named connections where the key may not list them', async () => {
    const [{ id }] = (await shown()).data;
    const { prodKey } = world.gateway;
    expect(succeeded(await operations({}, prodKey)).data).toEqual([]);
    const foreign = { status: 404, body: { error: { code: 'not_found' } } };
    const path = `/logs/operations/${id}`;
    expect(await world.gateway.call('GET', path, { key: prodKey })).toMatchObject(foreign);
    expect(await messages({ operationId: id }, prodKey)).toMatchObject(foreign);
    const made = await world.gateway.call('POST', '/environment/api-keys', {
      key: world.gateway.accountKey,
      body: {
        environment_id: world.environmentId,
        display_name: 'logs',
        scopes: ['environment:logs:read'],
      },
    });
    const key = succeeded(made).data.secret as string;
    expect((await operations({}, key)).status).toBe(403);
    expect((await operations({ connections: [crm.id] }, key)).body.data.length).toBeGreaterThan(0);
    const one = succeeded(await world.gateway.call('GET', path, { key })).data;
    expect(one).toMatchObject({ id, connectionId: null, connectionName: null, endUserId: null });
    const tail = await world.gateway.call('GET', '/logs/tail', { key });
    expect(tail.status).toBe(403);
  });

  it('refuse what they do not know', async () => {
    expect(await operations({ cursor: 'nonsense' })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_cursor_value' } },
    });
    const path = `/logs/operations/${randomUUID()}`;
    expect((await world.gateway.call('GET', path)).status).toBe(404);
    const period = { from: '1960-01-01T00:00:00Z', to: '2020-01-01T00:00:00Z' };
    expect((await operations({ period })).body.error.errors[0].path).toEqual(['period', 'from']);
  });
});

describe('messages of an operation', () => {
  it('show what the code of a function and the service wrote, without what looks like a secret', async () => {
    const [sync] = (await shown({ syncs: ['contacts'] })).data;
    const { data, pagination } = succeeded(await messages({ operationId: sync.id }));
    expect(pagination.total).toBe(data.length);
    expect(data.at(-1)).toMatchObject({ message: 'Sync contacts started', level: 'info' });
    expect(data).toContainEqual(
      expect.objectContaining({
        source: 'user',
        level: 'warn',
        type: 'log',
        message: 'Saved 1 contacts',
        meta: expect.anything(),
      }),
    );
    const http = data.find(({ type }: { type: string }) => type === 'http');
    expect(http).toMatchObject({
      source: 'internal',
      request: { method: 'GET' },
      response: { code: 200 },
    });
    const proxied = (await shown({ types: ['proxy'], states: ['success'] })).data;
    expect(JSON.stringify(proxied)).not.toContain('hidden');
  });

  it('come page by page in both directions', async () => {
    const [sync] = (await shown({ syncs: ['contacts'] })).data;
    const operationId: string = sync.id;
    const all = succeeded(await messages({ operationId })).data;
    const first = succeeded(await messages({ operationId, limit: 2 }));
    expect(first.data).toEqual(all.slice(0, 2));
    const { cursorBefore } = first.pagination;
    const rest = succeeded(await messages({ operationId, cursorBefore }));
    expect([...first.data, ...rest.data]).toEqual(all);
    expect(rest.pagination.cursorBefore).toBeNull();
    const oldest = succeeded(await messages({ operationId, cursorBefore, limit: 1 }));
    const { cursorAfter } = oldest.pagination;
    const newer = succeeded(await messages({ operationId, cursorAfter }));
    expect(newer.data).toEqual(first.data);
    const head = first.pagination.cursorAfter;
    const none = succeeded(await messages({ operationId, cursorAfter: head }));
    expect(none).toMatchObject({ data: [], pagination: { cursorAfter: head } });
    expect((await messages({ operationId, cursorAfter, cursorBefore })).status).toBe(400);
    expect(await messages({ operationId, cursorAfter: 'nonsense' })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_cursor_value' } },
    });
  });

  it.each([
    [{ levels: ['warn'] }, 'Saved 1 contacts'],
    [{ search: 'SAVED 1' }, 'Saved 1 contacts'],
    [{ states: ['running'] }, 'Sync contacts started'],
  ])('are found by %j', async (body, text) => {
    const [sync] = (await shown({ syncs: ['contacts'] })).data;
    const { data } = succeeded(await messages({ operationId: sync.id, ...body }));
    expect(data.map(({ message }: { message: string }) => message)).toEqual([text]);
  });
});

describe('the tail of the log', () => {
  it('shows what is written from now on, and goes on where a reader left it', async () => {
    const url = `${world.gateway.url}/logs/tail?connections=${other.id}&levels=error`;
    const headers = { authorization: `Bearer ${world.gateway.key}` };
    await using first = await eventsOf(url, { headers });
    await other.action('fail', { how: 'action-error', payload: { n: 1 } });
    const seen = await first.next();
    expect(seen).toMatchObject({ event: 'message', data: { connectionId: other.id } });
    await first[Symbol.asyncDispose]();
    await other.action('fail', { how: 'action-error', payload: { n: 2 } });
    await using second = await eventsOf(url, { headers: { ...headers, 'last-event-id': seen.id } });
    const next = await second.next();
    expect(next.data.parentId).not.toBe(seen.data.parentId);
    const bad = await checkedFetch(url, { headers: { ...headers, 'last-event-id': 'nonsense' } });
    expect(bad.status).toBe(400);
  });
});

describe('the projection of the log', () => {
  it('is listed, rebuilt from the log, compared, and read the same', async () => {
    const before = await shown();
    const key = world.gateway.accountKey;
    const ask = (method: string, path: string, body?: object) =>
      world.gateway.call(method, `/projections/logs${path}`, { key, ...(body ? { body } : {}) });
    const listed = succeeded(await world.gateway.call('GET', '/projections', { key })).data;
    expect(listed.map(({ name }: { name: string }) => name)).toContain('logs');
    succeeded(await ask('POST', '/rebuild', {}));
    const built = async () => succeeded(await ask('GET', '')).data.generations[1];
    await eventually(built, ({ state }) => state === 'ready');
    succeeded(await ask('POST', '/verify'));
    const compared = await eventually(
      built,
      ({ verification }) => verification?.state !== 'running',
    );
    expect(compared.verification).toMatchObject({ state: 'passed', differences: 0 });
    succeeded(await ask('POST', '/switch', {}));
    expect(await shown()).toEqual(before);
  });
});

describe('the metrics', () => {
  const scrape = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${world.gateway.accountKey}` };
    const answer = await fetch(`${world.gateway.url}/metrics`, { headers });
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    return answer.text();
  };
  /** Of the line with these labels. */
  const valueOf = (text: string, name: string, labels: Readonly<Record<string, string>>) => {
    const line = text
      .split('\n')
      .find(
        (one) =>
          one.startsWith(`${name}{`) &&
          Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`)),
      );
    return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ') + 1));
  };

  it('hold every name that is documented, and what happened', async () => {
    expect((await world.gateway.call('GET', '/metrics')).status).toBe(403);
    const text = await scrape();
    for (const [name, { kind }] of Object.entries(metricDefinitions)) {
      expect(text).toContain(`# TYPE ${name} ${kind}`);
    }
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    for (const [name, labels] of [
      ['svc_runs_total', { kind: 'sync', status: 'success' }],
      ['svc_runs_total', { kind: 'action', status: 'failed' }],
      ['svc_run_duration_seconds_count', { kind: 'sync', status: 'success' }],
      ['svc_provider_requests_total', { integration: 'crm', status: '200' }],
      ['svc_webhook_attempts_total', { result: 'success' }],
      ['svc_http_request_duration_seconds_count', { route: '/proxy/{path}', status: '200' }],
      ['svc_http_request_duration_seconds_count', { route: '/logs/operations', method: 'POST' }],
      ['svc_log_append_duration_seconds_count', { thread: 'owners' }],
      ['svc_log_append_duration_seconds_count', { thread: 'main' }],
      ['svc_projection_events_total', { projection: 'records' }],
      ['svc_projection_events_total', { projection: 'logs' }],
    ] as const) {
      expect([name, labels, valueOf(text, name, labels)]).toEqual([
        name,
        labels,
        expect.any(Number),
      ]);
      expect(valueOf(text, name, labels)).toBeGreaterThan(0);
    }
    for (const name of ['svc_projection_lag_events', 'svc_projection_lag_seconds']) {
      expect(valueOf(text, name, { projection: 'records', partition: '0' })).toBe(0);
    }
    const group = { consumergroup: 'svc.runners', topic: 'svc.runs.v1', partition: '0' };
    expect(valueOf(text, 'kafka_consumergroup_lag', group)).not.toBeNull();
    expect(valueOf(text, 'svc_event_loop_delay_seconds', { thread: 'projection' })).not.toBeNull();
    expect(text).not.toContain(crm.id);
  });
});
