import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '#api/request-pipeline.ts';
import type { HttpServer } from '#http/server.ts';
import { reconcileSyncInstances } from '#modules/functions/syncs/reconcile.ts';
import { syncRoutes } from '#modules/functions/syncs/routes.ts';
import { openRunWorld, type RunWorld } from '#test/support/worlds/runs.ts';

const stack = new AsyncDisposableStack();
let world: RunWorld;
let server: HttpServer;
let names = 0;
let name: string;

beforeAll(async () => {
  world = stack.use(await openRunWorld());
  const { services } = world;
  server = stack.use(
    await startApiServer({ routes: syncRoutes, services, host: '127.0.0.1', port: 0 }),
  );
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  name = `contacts-${++names}`;
  await world.deploy('sync', name, '', { models: ['Contact'], frequency: 'every hour' });
});

const call = async (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${world.secret}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const post = (path: string, more: object = {}) =>
  call('POST', path, { syncs: [name], provider_config_key: 'crm', connection_id: 'acme', ...more });
const code = (status: number, error: string) => ({ status, body: { error: { code: error } } });
const done = { status: 200, body: { success: true } };
const statusOf = async (variant = 'base') => {
  const syncs = encodeURIComponent(variant === 'base' ? name : `${name}::${variant}`);
  const { body } = await call(
    'GET',
    `/sync/status?syncs=${syncs}&provider_config_key=crm&connection_id=acme`,
  );
  return (body['syncs'] as Record<string, unknown>[])[0];
};

describe('POST /sync/trigger', () => {
  it('queues a run of a sync that is not started', async () => {
    expect(await post('/sync/trigger')).toEqual(done);
    expect(world.syncOf(name)).toMatchObject({
      state: 'paused',
      current: { status: 'queued', trigger: 'api' },
    });
  });

  it('takes the pair from the headers, and a name with its variant', async () => {
    const headers = { 'provider-config-key': 'crm', 'connection-id': 'acme' };
    expect(
      await call('POST', '/sync/trigger', { syncs: [{ name }, `${name}::base`] }, headers),
    ).toEqual(done);
  });

  it.each([
    [{ reset: true, emptyCache: true }, {}, true],
    [undefined, { sync_mode: 'full_refresh_and_clear_cache' }, true],
    [undefined, { full_resync: true }, false],
  ])('understands opts %j and the deprecated %j', async (opts, deprecated, emptyCache) => {
    expect(await post('/sync/trigger', { ...(opts && { opts }), ...deprecated })).toEqual(done);
    expect(world.syncOf(name)?.current).toMatchObject({ emptyCache, isInitial: true });
  });

  it('refuses what the contract refuses', async () => {
    expect(await call('POST', '/sync/trigger', { syncs: [] })).toMatchObject(
      code(400, 'missing_provider_config_key'),
    );
    expect(await post('/sync/trigger', { provider_config_key: 'no' })).toMatchObject(
      code(400, 'unknown_provider_config'),
    );
    expect(await post('/sync/trigger', { connection_id: 'no' })).toMatchObject(
      code(404, 'unknown_connection'),
    );
    expect(await post('/sync/trigger', { syncs: ['no'] })).toMatchObject(
      code(400, 'no_syncs_found'),
    );
    expect(await post('/sync/trigger', { opts: {}, full_resync: true })).toMatchObject(
      code(400, 'invalid_body'),
    );
    expect(await post('/sync/trigger', { unknown: 1 })).toMatchObject(code(400, 'invalid_body'));
  });

  it('starts one run for a repeated Idempotency-Key', async () => {
    const body = {
      syncs: [name],
      provider_config_key: 'crm',
      connection_id: 'acme',
      opts: { reset: true },
    };
    const headers = { 'idempotency-key': `key-${name}` };
    expect(await call('POST', '/sync/trigger', body, headers)).toEqual(done);
    const first = world.syncOf(name)?.current?.runId;
    expect(await call('POST', '/sync/trigger', body, headers)).toEqual(done);
    expect(world.syncOf(name)?.current?.runId).toBe(first);
    const other = { ...body, opts: { reset: false } };
    expect(await call('POST', '/sync/trigger', other, headers)).toMatchObject(
      code(409, 'idempotency_conflict'),
    );
  });
});

describe('POST /sync/start and /sync/pause', () => {
  it('start the schedule with a run, and stop it', async () => {
    expect(await post('/sync/start')).toEqual(done);
    expect(world.syncOf(name)).toMatchObject({ state: 'started', current: { trigger: 'start' } });
    expect(await post('/sync/pause')).toEqual(done);
    expect(world.syncOf(name)).toMatchObject({ state: 'paused', nextDueAt: null });
  });

  it('reach every connection when none is named', async () => {
    await reconcileSyncInstances(
      { control: world.node.control, records: world.records.writer },
      world.environment.uid,
      ['crm'],
      'system',
    );
    expect(await post('/sync/start', { connection_id: undefined })).toEqual(done);
    expect(world.syncOf(name)?.state).toBe('started');
  });
});

describe('GET /sync/status', () => {
  it('returns the state of a sync', async () => {
    expect(await statusOf()).toMatchObject({
      name,
      variant: 'base',
      connection_id: 'acme',
      type: 'INITIAL',
      status: 'PAUSED',
      latestExecutionStatus: null,
      frequency: '1h',
      nextScheduledSyncAt: null,
      recordCount: { Contact: 3 },
      checkpoint: null,
    });
    await post('/sync/start');
    const running = await statusOf();
    expect(running).toMatchObject({ status: 'RUNNING', latestExecutionStatus: 'RUNNING' });
    expect(Date.parse(running?.['nextScheduledSyncAt'] as string)).toBe(
      world.syncOf(name)?.nextDueAt,
    );
  });

  it('takes * for all', async () => {
    await statusOf();
    const { body } = await call('GET', '/sync/status?syncs=*&provider_config_key=crm');
    expect((body['syncs'] as { name: string }[]).map((row) => row.name)).toContain(name);
  });
});

describe('PUT /sync/update-connection-frequency', () => {
  const put = (frequency: string | null, more: object = {}) =>
    call('PUT', '/sync/update-connection-frequency', {
      sync_name: name,
      provider_config_key: 'crm',
      connection_id: 'acme',
      frequency,
      ...more,
    });

  it('sets the frequency of one connection, and goes back to the deployed one', async () => {
    expect(await put('every 5 minutes')).toEqual({ status: 200, body: { frequency: '5m' } });
    expect(await put(null)).toEqual({ status: 200, body: { frequency: '1h' } });
  });

  it('refuses what the contract refuses', async () => {
    expect(await put('every second')).toMatchObject(code(400, 'invalid_body'));
    expect(await put('now and then')).toMatchObject(code(400, 'invalid_body'));
    expect(await put('1h', { sync_name: 'no' })).toMatchObject(code(400, 'unknown_sync'));
    expect(await put('1h', { connection_id: 'no' })).toMatchObject(code(400, 'unknown_connection'));
  });
});

describe('variants', () => {
  const pair = { provider_config_key: 'crm', connection_id: 'acme' };
  const at = (variant: string) => `/sync/${name}/variant/${variant}`;

  it('§12.6 variants are made with a run, stand beside the base, and are removed with their records', async () => {
    const made = await call('POST', at('eu'), pair);
    expect(made).toMatchObject({ status: 200, body: { name, variant: 'eu' } });
    expect(await statusOf('eu')).toMatchObject({ variant: 'eu', status: 'RUNNING' });
    expect(await call('POST', at('eu'), pair)).toMatchObject(
      code(400, 'sync_variant_already_exists'),
    );
    expect(await call('DELETE', at('eu'), pair)).toEqual(done);
    expect(world.records.calls).toContain('empty Contact');
    expect(await call('DELETE', at('eu'), pair)).toMatchObject(code(404, 'not_found'));
  });

  it('cannot be the base', async () => {
    expect(await call('POST', at('base'), pair)).toMatchObject(code(400, 'invalid_variant'));
    expect(await call('DELETE', at('base'), pair)).toMatchObject(code(400, 'invalid_variant'));
  });
});
