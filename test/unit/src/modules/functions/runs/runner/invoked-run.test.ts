import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteConnection } from '#modules/connections/connections/deletion.ts';
import type { LifecycleEvent } from '#modules/connections/connections/dependents.ts';
import { connectValidated, runBeforeDeletion } from '#modules/connections/connections/lifecycle.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { actionRunPath } from '#modules/functions/actions/entity.ts';
import { startLifecycleHooks } from '#modules/functions/actions/lifecycle-functions.ts';
import { checkpointEntity } from '#modules/functions/checkpoints/entity.ts';
import { functionRef } from '#modules/functions/functions/entity.ts';
import { findFunction } from '#modules/functions/functions/queries.ts';
import { isEnd, type RunChanged } from '#modules/functions/runs/ledger/events.ts';
import type { DryRunOrder } from '#modules/functions/runs/runtime/dry-run-calls.ts';
import { createInstancesFor } from '#modules/functions/syncs/reconcile.ts';
import type { LogEntry } from '#modules/operations/logs/events.ts';
import { aProvider, silent } from '#test/support/worlds/control.ts';
import { openRunWorld, until, type RunWorld } from '#test/support/worlds/runs.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const actor = 'key:test';
const onEvent = (exec: string): string =>
  `module.exports.default = { type: 'onEvent', exec: ${exec} };`;

let world: RunWorld;
const sandbox = await sharedSandbox();
let runner: AsyncDisposable;
beforeAll(async () => {
  world = await openRunWorld();
  runner = await world.startRunner(sandbox, { heartbeatMs: 100 });
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const connect = (connectionId: string, apiKey = 'k') =>
  connectValidated(
    world.services,
    {
      environmentUid: world.environment.uid,
      integrationKey: 'crm',
      connectionId,
      provider: aProvider(),
      credentials: { credentials: { type: 'API_KEY', apiKey }, expiresAt: null },
    },
    { actor },
  );
const find = (id: string): Connection | null =>
  findConnection(world.node.control, world.environment.uid, 'crm', id);

/** Deploys functions for the event, and takes them away again. */
async function deployed(event: LifecycleEvent, functions: Readonly<Record<string, string>>) {
  const names = Object.keys(functions);
  for (const [name, exec] of Object.entries(functions)) {
    await world.deploy('on-event', name, onEvent(exec), { event });
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const name of names) {
        const ref = functionRef(world.environment.uid, 'crm', 'on-event', name);
        await world.node.control.execute(ref, { type: 'Delete' }, { actor });
      }
    },
  };
}

const told = async (topic: string, id: string): Promise<string[]> => {
  const all = await world.read<{ action: string; connection_id: string; error_code?: string }>(
    topic,
  );
  return all
    .filter(({ connection_id }) => connection_id === id)
    .map(({ action, error_code }) => (error_code ? `${action} ${error_code}` : action));
};

describe('functions on validate-connection (§14)', () => {
  it('§14 validate-connection refuses a new connection: it is deleted, and nobody hears of it', async () => {
    await using _ = await deployed('validate-connection', {
      a: `async (svc) => { if ((await svc.getConnection()).credentials.apiKey !== 'good') throw new svc.ActionError({ message: 'wrong plan' }); }`,
      b: `async (svc) => { await svc.updateMetadata({ ran: 'b' }); }`,
    });
    await expect(connect('refused', 'bad')).rejects.toMatchObject({
      code: 'connection_validation_failed',
      message: 'wrong plan',
    });
    expect(find('refused')).toBeNull();
    expect(await told('svc.connections.v1', 'refused')).toEqual([]);
    expect(await told('svc.credentials.v1', 'refused')).toEqual([]);

    const good = await connect('accepted', 'good');
    expect(good.validating).toBeNull();
    // Both ran, one after the other, before anybody heard of the connection.
    expect(Object.keys(find('accepted')?.metadata ?? {})).toEqual(['ran']);
    expect(await told('svc.connections.v1', 'accepted')).toEqual(['created']);
    expect(await told('svc.credentials.v1', 'accepted')).toEqual(['stored']);
  });

  it('§14 validate-connection marks a known connection that was given credentials which it refuses', async () => {
    await connect('known');
    await using _ = await deployed('validate-connection', {
      only: `async (svc) => { if ((await svc.getConnection()).credentials.apiKey === 'new') throw new svc.ActionError('no'); }`,
    });
    await expect(connect('known', 'new')).rejects.toMatchObject({
      code: 'connection_validation_failed',
      message: 'no',
    });
    expect(find('known')).toMatchObject({ errors: [{ type: 'auth' }], validating: null });
    expect(await told('svc.credentials.v1', 'known')).toEqual([
      'stored',
      'refresh_failed connection_validation_failed',
    ]);
    expect(await connect('known', 'other')).toMatchObject({ errors: [], validating: null });
    expect(await told('svc.connections.v1', 'known')).toEqual([
      'created',
      'auth_failed',
      'reauthorized',
    ]);
  });

  it('that throw without saying why refuse in general words', async () => {
    await using _ = await deployed('validate-connection', {
      bug: `async () => { throw new Error('internal detail'); }`,
    });
    await expect(connect('bugged')).rejects.toMatchObject({
      code: 'connection_validation_failed',
      message: 'A validation function refused the connection.',
    });
  });
});

describe('functions on post-connection-creation (§14)', () => {
  it('§14 post-connection-creation runs in order after a connection was made; one that fails holds up nothing', async () => {
    const { log, embedded } = world.world;
    const { control } = world.node;
    await using _ = await deployed('post-connection-creation', {
      'a-first': `async (svc) => { await svc.updateMetadata({ first: svc.connectionId }); }`,
      'b-second': `async () => { throw new Error('second fails'); }`,
      'c-third': `async (svc) => { await svc.updateMetadata({ third: await svc.getMetadata() }); }`,
    });
    await using _hooks = await startLifecycleHooks({
      log,
      schemas: embedded.schemas,
      control,
      runs: world.runs,
      clock: world.services.clock,
      logger: silent,
      operatorRequests: world.operatorRequests('svc.lifecycle-hooks'),
    });
    await connect('welcomed');
    await until(() => 'third' in (find('welcomed')?.metadata ?? {}));
    const runs = (await world.ledger()).filter(
      ({ kind, connection_id }) => kind === 'on-event' && connection_id === 'welcomed',
    );
    expect(runs.map(({ function: name, action }) => `${name} ${action}`)).toEqual([
      ...['queued', 'started', 'succeeded'].map((step) => `a-first ${step}`),
      ...['queued', 'started', 'failed'].map((step) => `b-second ${step}`),
      ...['queued', 'started'].map((step) => `c-third ${step}`),
      ...(runs.length > 8 ? ['c-third succeeded'] : []),
    ]);
    expect(runs[0]).toMatchObject({ trigger: 'post-connection-creation' });

    // Credentials for a known connection are no creation.
    await connect('welcomed', 'again');
    await connect('welcomed-too');
    await until(() => 'third' in (find('welcomed-too')?.metadata ?? {}));
    const begun = (await world.ledger()).filter(
      ({ kind, action, connection_id }) =>
        kind === 'on-event' && action === 'queued' && connection_id === 'welcomed',
    );
    expect(begun).toHaveLength(3);
  });
});

describe('functions on pre-connection-deletion (§14)', () => {
  it('§14 pre-connection-deletion blocks the deletion when it throws, and finds the connection usable', async () => {
    const connection = await connect('leaving');
    {
      await using _ = await deployed('pre-connection-deletion', {
        guard: `async (svc) => { const { credentials } = await svc.getConnection(); throw new Error('still ' + credentials.apiKey); }`,
      });
      await expect(runBeforeDeletion(world.services, connection, { actor })).rejects.toMatchObject({
        code: 'connection_deletion_refused',
        status: 424,
        message: 'still k',
      });
      expect(find('leaving')).not.toBeNull();
    }
    await using _ = await deployed('pre-connection-deletion', {
      goodbye: `async (svc) => { await svc.saveCheckpoint({ said: 'goodbye' }); }`,
    });
    await runBeforeDeletion(world.services, connection, { actor });
    const path = [world.environment.uid, 'crm', 'leaving'];
    expect(world.node.control.view.list(checkpointEntity, path)).toMatchObject([
      { state: { value: { said: 'goodbye' } } },
    ]);
    await deleteConnection(world.services, connection, { actor });
    expect(world.node.control.view.list(checkpointEntity, path)).toEqual([]);
  });
});

describe('a webhook for a sync (§13)', () => {
  const sync = (onWebhook: string): string =>
    `module.exports.default = { type: 'sync', models: { Contact: {} }, exec: async (svc) => { await svc.saveCheckpoint({ of: 'sync' }); }, onWebhook: ${onWebhook} };`;
  const deploySync = async (name: string, onWebhook: string, webhookSubscriptions: string[]) => {
    const facts = { models: ['Contact'], frequency: 'every week', autoStart: true };
    await world.deploy('sync', name, sync(onWebhook), { ...facts, webhookSubscriptions });
    await createInstancesFor(world.node.control, world.connection, actor);
    await until(() => world.syncOf(name)?.last);
  };
  const hook = async (name: string, payload: object, runId: string = randomUUID()) => {
    const { control } = world.node;
    const fn = findFunction(control, world.environment.uid, 'crm', 'sync', name);
    if (fn === null) throw new Error(`${name} is not deployed`);
    const { connection } = world;
    await world.runs.queueWebhook(
      { connection, fn, payload: payload as never, actor: 'system' },
      runId,
    );
    return runId;
  };
  const endOf = (runId: string): Promise<RunChanged> =>
    until(async () =>
      (await world.ledger()).find(({ run_id, action }) => run_id === runId && isEnd(action)),
    );

  it('§13 a webhook runs onWebhook once, with records and a checkpoint of its own', async () => {
    await deploySync(
      'hooked',
      `async (svc, payload) => {
         const before = await svc.getCheckpoint();
         await svc.batchSave([{ id: payload.id }], 'Contact');
         await svc.saveCheckpoint({ seen: ((before && before.seen) || 0) + 1 });
       }`,
      ['contact.created', 'contact.changed'],
    );
    const before = world.syncOf('hooked');
    world.records.calls.length = 0;
    const payload = { id: 'from-hook' };
    const runId = await hook('hooked', payload);
    await hook('hooked', payload, runId);
    expect(await endOf(runId)).toMatchObject({
      kind: 'webhook',
      function: 'hooked',
      trigger: 'webhook',
      action: 'succeeded',
      models: ['Contact'],
      counts: [{ model: 'Contact', added: expect.any(Number) as number }],
      positions: [{ model: 'Contact', partition: 0, offset: 7 }],
    });
    expect(world.records.calls).toEqual(['save Contact 1', 'barrier Contact']);
    await endOf(await hook('hooked', payload));
    const path = [world.environment.uid, 'crm', 'acme'];
    expect(world.node.control.view.list(checkpointEntity, path)).toMatchObject([
      { state: { kind: 'webhook', functionName: 'hooked', value: { seen: 2 } } },
    ]);
    // The sync itself has run no further.
    expect(world.syncOf('hooked')).toMatchObject({
      checkpoint: { of: 'sync' },
      lastSyncDate: before?.lastSyncDate,
      last: before?.last,
    });
  });

  it('§13 no onWebhook: is an error in the log, and no failure', async () => {
    await deploySync('deaf', 'undefined', ['*']);
    const runId = await hook('deaf', {});
    const message = 'The function has no onWebhook.';
    expect(await endOf(runId)).toMatchObject({ action: 'cancelled', error_message: message });
    await world.logs.flush();
    const entries = await world.read<LogEntry>('svc.logs.v1');
    const ours = entries.filter(({ run_id }) => run_id === runId);
    expect(ours).toContainEqual(expect.objectContaining({ level: 'error', message }));
  });
});

describe('a dry run', () => {
  const tryOut = async (order: Omit<DryRunOrder, 'bundle'> & { readonly exec: string }) => {
    const { exec, ...rest } = order;
    const type = order.functionType;
    const bundle = `const { z } = require('zod');
      module.exports.default = { type: '${type}', models: { Contact: z.looseObject({}) }, exec: ${exec} };`;
    const { connection } = world;
    const id = await world.runs.queueDryRun({ connection, order: { ...rest, bundle }, actor });
    const ref = actionRunPath(world.environment.uid, id);
    const run = await until(() => {
      const found = world.node.control.view.find(ref);
      return found?.endedAt == null ? null : found;
    });
    return { run, left: () => world.runs.dryRunOutput(run) };
  };

  it('of a sync says what it would have saved, and writes nothing', async () => {
    world.records.calls.length = 0;
    const { run, left } = await tryOut({
      functionType: 'sync',
      metadata: { plan: 'gold' },
      checkpoint: { page: 1 },
      lastSyncDate: '2026-01-01T00:00:00.000Z',
      exec: `async (svc) => {
        const seen = [await svc.getMetadata(), await svc.getCheckpoint(), svc.lastSyncDate.getUTCFullYear()];
        await svc.trackDeletesStart('Contact');
        await svc.batchSave([{ id: '1', seen }, { id: '2' }], 'Contact');
        await svc.batchUpdate([{ id: '1', more: true }, { id: '9' }], 'Contact');
        await svc.batchDelete([{ id: '2' }], 'Contact');
        await svc.trackDeletesEnd('Contact');
        await svc.updateMetadata({ dry: true });
        await svc.saveCheckpoint({ page: 2 });
        await svc.log('tried');
      }`,
    });
    expect(run).toMatchObject({ kind: 'dryrun', status: 'succeeded' });
    expect(await left()).toEqual({
      output: null,
      result: {
        records: {
          Contact: {
            saved: 1,
            deleted: 1,
            sample: [{ id: '1', seen: [{ plan: 'gold' }, { page: 1 }, 2026], more: true }],
          },
        },
        metadata: { plan: 'gold', dry: true },
        checkpoint: { page: 2 },
        logs: [{ level: 'info', message: 'tried' }],
      },
    });
    expect(world.records.calls).toEqual([]);
    expect(Object.keys(find('acme')?.metadata ?? {})).not.toContain('dry');
  });

  it('of an action answers its output, and sets off nothing else', async () => {
    const { left } = await tryOut({
      functionType: 'action',
      input: { a: 1 },
      exec: `async (svc, input) => { try { await svc.triggerAction('other'); } catch (error) { return { input, refused: error.message }; } }`,
    });
    expect(await left()).toMatchObject({
      output: { input: { a: 1 }, refused: 'A dry run cannot start another function.' },
    });
  });

  it('that fails, or is of another kind than it says, says why', async () => {
    const failing = await tryOut({
      functionType: 'action',
      exec: `async (svc) => { throw new svc.ActionError({ reason: 'no' }); }`,
    });
    await expect(failing.left()).rejects.toMatchObject({
      code: 'action_script_failure',
      details: { payload: { reason: 'no' } },
    });
    const { connection } = world;
    const bundle = `module.exports.default = { type: 'onEvent', exec: async () => {} };`;
    const order = { functionType: 'sync', bundle } as const;
    const id = await world.runs.queueDryRun({ connection, order, actor });
    const ref = actionRunPath(world.environment.uid, id);
    const run = await until(() => {
      const found = world.node.control.view.find(ref);
      return found?.endedAt == null ? null : found;
    });
    expect(run.error).toEqual({
      code: 'invalid_request',
      message: 'The code is of the type onEvent, not sync.',
    });
  });
});
