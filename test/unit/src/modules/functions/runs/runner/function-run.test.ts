import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CommandValue } from '#control-plane/message-codec.ts';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import { functionRef } from '#modules/functions/functions/entity.ts';
import { openHost } from '#modules/functions/runs/runtime/open-host.ts';
import { createInstancesFor, reconcileSyncInstances } from '#modules/functions/syncs/reconcile.ts';
import { openRunWorld, refOfConnection, until, type RunWorld } from '#test/support/worlds/runs.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const actor = 'key:test';
const action = (exec: string): string =>
  `module.exports.default = { type: 'action', exec: ${exec} };`;
const sync = (exec: string): string =>
  `module.exports.default = { type: 'sync', models: { Contact: {}, Deal: {} }, exec: ${exec} };`;
const saving = `async (svc) => { await svc.batchSave([{ id: '1' }, { id: '2' }], 'Contact'); }`;

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
beforeEach(() => {
  world.records.calls.length = 0;
  world.records.saved.length = 0;
  world.records.succeeded.length = 0;
  world.records.answer = () => ({});
});

const trigger = (name: string, input?: string | object) =>
  world.runs.triggerAction(
    {
      environmentUid: world.environment.uid,
      integrationKey: 'crm',
      connectionId: 'acme',
      name,
      input: input as never,
      actor,
    },
    new AbortController().signal,
  );

const bodies = async (): Promise<number> => (await world.read('svc.internal.run-bodies.v1')).length;

const deploySync = async (name: string, exec: string, more: object = {}) => {
  const facts = { models: ['Contact', 'Deal'], frequency: 'every hour', ...more };
  await world.deploy('sync', name, sync(exec), facts);
  await createInstancesFor(world.node.control, world.connection, actor);
};

const run = async (name: string, how = { reset: false, emptyCache: false }) => {
  const before = world.syncOf(name)?.last?.runId;
  const wanted = {
    environmentUid: world.environment.uid,
    integrationKey: 'crm',
    connectionId: 'acme',
    syncs: [{ name, variant: 'base' }],
    actor,
  };
  await world.runs.triggerSyncs(wanted, how);
  return until(() => {
    const instance = world.syncOf(name);
    return instance?.current === null && instance.last?.runId !== before ? instance : null;
  });
};

describe('an action', () => {
  it('answers with its output', async () => {
    await world.deploy('action', 'echo', action('async (svc, input) => ({ got: input })'));
    expect(await trigger('echo', { a: 1 })).toEqual({ got: { a: 1 } });
    expect(await trigger('echo')).toEqual({});
  });

  it('leaves queued, started and one end on the ledger, without its bodies', async () => {
    await world.deploy('action', 'secret', action(`async () => 'the-secret-output'`));
    await trigger('secret', 'the-secret-input');
    const steps = (await world.ledger()).filter(
      (step) => step.action !== 'progress' && step.function === 'secret',
    );
    expect(steps.map((step) => step.action)).toEqual(['queued', 'started', 'succeeded']);
    expect(new Set(steps.map((step) => step.run_id)).size).toBe(1);
    expect(steps[2]).toMatchObject({ kind: 'action', connection_uid: world.connection.uid });
    expect(JSON.stringify(steps)).not.toContain('the-secret');
  });

  it('runs where it was asked for: what it is given is stored, what it gives does not travel', async () => {
    await world.deploy('action', 'here', action('async (svc, input) => input'));
    const before = await bodies();
    expect(await trigger('here', 'x')).toBe('x');
    expect(await until(async () => (await bodies()) - before || null)).toBe(1);
    const [queued, started] = (await world.ledger()).filter((step) => step.function === 'here');
    expect(queued).toMatchObject({ action: 'queued', started_at: started?.started_at });
    expect(queued?.input_hash).toEqual(expect.any(String));
  });

  it('goes over the log when there is no place for it at once', async () => {
    await world.deploy('action', 'many', action('async (svc, input) => input'));
    const before = await bodies();
    const inputs = Array.from({ length: 20 }, (_, at) => `${at}`);
    expect(await Promise.all(inputs.map((input) => trigger('many', input)))).toEqual(inputs);
    const queued = (await world.ledger()).filter(
      (step) => step.function === 'many' && step.action === 'queued',
    );
    const later = queued.filter(({ started_at }) => started_at === null);
    expect([queued.length, later.length]).toEqual([20, 4]);
    // The inputs of all, and what those that went over the log gave.
    await expect.poll(async () => (await bodies()) - before).toBe(24);
  });

  it('passes the payload of an ActionError on', async () => {
    await world.deploy(
      'action',
      'refuse',
      action(`async (svc) => { throw new svc.ActionError({ reason: 'full' }); }`),
    );
    await expect(trigger('refuse')).rejects.toMatchObject({
      code: 'action_script_failure',
      details: { payload: { reason: 'full' } },
    });
  });

  it('fails with what it threw', async () => {
    await world.deploy('action', 'throw', action(`async () => { throw new TypeError('oops'); }`));
    await expect(trigger('throw')).rejects.toMatchObject({
      code: 'script_internal_error',
      details: { payload: { name: 'TypeError', message: 'oops' } },
    });
  });

  it('may call another action of its connection', async () => {
    await world.deploy('action', 'inner', action('async (svc, n) => n + 1'));
    await world.deploy(
      'action',
      'outer',
      action(`async (svc, n) => svc.triggerAction('inner', n * 10)`),
    );
    expect(await trigger('outer', 4 as never)).toBe(41);
  });

  it('is refused without a run when it is unknown, its connection is unknown, or its input too large', async () => {
    await expect(trigger('nothing')).rejects.toMatchObject({ code: 'not_found' });
    const before = (await world.ledger()).length;
    await expect(trigger('echo', 'x'.repeat(2 * 1024 ** 2))).rejects.toMatchObject({
      code: 'request_too_large',
    });
    expect((await world.ledger()).length).toBe(before);
  });

  it('can be queued, and its output read later', async () => {
    await world.deploy('action', 'later', action('async (svc, input) => input * 2'));
    const uid = world.environment.uid;
    const request = {
      environmentUid: uid,
      integrationKey: 'crm',
      connectionId: 'acme',
      name: 'later',
      input: 21,
      actor,
    };
    const id = await world.runs.queueAction(request, { retries: 0 });
    const output = await until(() =>
      world.runs.actionOutput(uid, id).catch((error: unknown) => {
        if (error instanceof GatewayError && error.code === 'not_found') return null;
        throw error;
      }),
    );
    expect(output).toBe(42);
  });
});

describe('asynchronous actions', () => {
  it('wait while another node runs one of their environment', async () => {
    await world.deploy('action', 'alone', action('async () => 1'));
    const { uid } = world.environment;
    const { coordination } = world.node;
    const lease = await coordination.acquire(`async-actions/${uid}`, { ttlMs: 60_000 });
    const request = { environmentUid: uid, integrationKey: 'crm', connectionId: 'acme', actor };
    await world.runs.queueAction({ ...request, name: 'alone', input: undefined }, { retries: 0 });
    const steps = async () =>
      (await world.ledger()).filter((step) => step.function === 'alone').map((step) => step.action);
    await until(async () => (await coordination.get(`async-actions/${uid}/waiting`)) !== null);
    expect(await steps()).toEqual(['queued']);
    await coordination.release(lease!);
    await until(async () => ((await steps()).length === 3 ? true : null));
    expect(await steps()).toEqual(['queued', 'started', 'succeeded']);
  });
});

describe('a sync', () => {
  it('sends a barrier to every declared model and ends with counts and places', async () => {
    await deploySync('contacts', saving);
    const after = await run('contacts');
    expect(after.last).toMatchObject({ status: 'succeeded', counts: { Contact: { added: 2 } } });
    expect(world.records.calls).toEqual(['save Contact 1', 'barrier Contact', 'barrier Deal']);
    const steps = (await world.ledger()).filter((step) => step.function === 'contacts');
    expect(steps.map((step) => step.action)).toEqual(['queued', 'started', 'succeeded']);
    expect(steps[2]).toMatchObject({
      is_initial: true,
      positions: [
        { model: 'Contact', partition: 0, offset: 7 },
        { model: 'Deal', partition: 0, offset: 7 },
      ],
    });
  });

  it('fails when an owner refused what it had acknowledged', async () => {
    await deploySync('refused', saving);
    world.records.answer = (model) => (model === 'Deal' ? { failures: ['too large: 7'] } : {});
    const after = await run('refused');
    expect(after.last).toMatchObject({
      status: 'failed',
      error: { message: 'Deal: too large: 7' },
    });
    expect(after.lastSyncDate).toBeNull();
  });

  it('§9 a checkpoint is kept over a failure, and the next run goes on from it', async () => {
    const exec = `async (svc) => {
      const last = await svc.getCheckpoint();
      await svc.saveCheckpoint({ page: (last ? last.page : 0) + 1 });
      if (!last) throw new Error('half way: token=abc123secret');
    }`;
    await deploySync('paged', exec, { features: ['checkpoints'] });
    const failed = await run('paged');
    expect(failed).toMatchObject({ checkpoint: { page: 1 }, last: { status: 'failed' } });
    expect(failed.last?.error?.message).not.toContain('abc123secret');
    expect((await run('paged')).checkpoint).toEqual({ page: 2 });
    expect((await run('paged', { reset: true, emptyCache: false })).checkpoint).toEqual({
      page: 1,
    });
  });

  it('marks its connection while it fails and clears the mark when it succeeds', async () => {
    await deploySync('fine', 'async () => {}');
    const fine = await run('fine');
    await deploySync('flaky', `async () => { throw new Error('down'); }`);
    const errors = () => world.node.control.view.find(refOfConnection(world.connection))?.errors;
    const failed = await run('flaky');
    await until(() =>
      errors()?.some(({ type, log_id }) => type === 'sync' && log_id === failed.last?.runId),
    );
    // The earlier end was handled before: a connection without a mark is asked for nothing.
    const commands = await world.read<CommandValue>('svc.internal.commands.v1');
    const actors = commands.map((command) => command.actor);
    expect(actors).toContain(`run:${failed.last?.runId}`);
    expect(actors).not.toContain(`run:${fine.last?.runId}`);
    await world.deploy('sync', 'flaky', sync('async () => {}'), {
      models: ['Contact', 'Deal'],
      frequency: 'every hour',
    });
    await world.node.control.execute(
      refOfConnection(world.connection),
      { type: 'ClearError', errorType: 'sync' },
      { actor },
    );
    await run('flaky');
    for (const name of ['refused', 'paged']) {
      await world.deploy('sync', name, sync('async () => {}'), {
        models: ['Contact', 'Deal'],
        frequency: 'every hour',
      });
      await run(name);
    }
    await until(() => errors()?.length === 0);
  });

  it('§12.3 emptyCache: empties its models first', async () => {
    await deploySync('emptied', saving);
    await run('emptied', { reset: true, emptyCache: true });
    expect(world.records.calls.slice(0, 2).sort()).toEqual(['empty Contact', 'empty Deal']);
  });

  it('§8.3 trackDeletes detects deletions around a full run', async () => {
    await deploySync('tracked', saving, { trackDeletes: true });
    await run('tracked');
    expect(world.records.calls.filter((call) => call.startsWith('runPass')).sort()).toEqual([
      'runPassEnd Contact',
      'runPassEnd Deal',
      'runPassStart Contact',
      'runPassStart Deal',
    ]);
  });

  it('stops when a reset cancels it', async () => {
    const exec = `async (svc) => { const first = await svc.getCheckpoint(); if (first) return;
      await svc.saveCheckpoint({ n: 1 });
      for (;;) { await svc.getMetadata(); await new Promise((resolve) => setTimeout(resolve, 5)); } }`;
    await deploySync('endless', exec);
    const wanted = {
      environmentUid: world.environment.uid,
      integrationKey: 'crm',
      connectionId: 'acme',
      syncs: [{ name: 'endless', variant: 'base' }],
      actor,
    };
    await world.runs.triggerSyncs(wanted, { reset: false, emptyCache: false });
    await until(() => world.syncOf('endless')?.checkpoint !== null);
    const running = world.syncOf('endless')?.current?.runId;
    await world.deploy('sync', 'endless', sync('async () => {}'), {
      models: ['Contact', 'Deal'],
      frequency: 'every hour',
    });
    const after = await run('endless', { reset: true, emptyCache: false });
    expect(after.last).toMatchObject({ status: 'succeeded' });
    const steps = (await world.ledger()).filter((step) => step.run_id === running);
    const life = steps.map((step) => step.action).filter((action) => action !== 'progress');
    expect(life).toEqual(['queued', 'started', 'cancelled']);
  });

  it('is given back by a runner that stops, and goes on with the next', async () => {
    const exec = `async (svc) => { if (await svc.getCheckpoint()) return;
      await svc.saveCheckpoint({ n: 1 });
      for (;;) { await svc.getMetadata(); await new Promise((resolve) => setTimeout(resolve, 5)); } }`;
    await deploySync('handed', exec);
    const wanted = {
      environmentUid: world.environment.uid,
      integrationKey: 'crm',
      connectionId: 'acme',
      syncs: [{ name: 'handed', variant: 'base' }],
      actor,
    };
    await world.runs.triggerSyncs(wanted, { reset: false, emptyCache: false });
    await until(() => world.syncOf('handed')?.checkpoint !== null);
    await runner[Symbol.asyncDispose]();
    runner = await world.startRunner(sandbox, { heartbeatMs: 100 });
    const after = await until(() => (world.syncOf('handed')?.last ? world.syncOf('handed') : null));
    expect(after.last).toMatchObject({ status: 'succeeded', attempt: 2 });
  });

  it('§9 four fifths of the time: ends well, and the next run goes on from the checkpoint', async () => {
    await runner[Symbol.asyncDispose]();
    // While a function runs, 20 hours have gone by.
    let aheadMs = 0;
    const now = () => systemClock.now() + aheadMs;
    await using slow = await world.startRunner(sandbox, {
      clock: { ...systemClock, now },
      openHost: async (of) => {
        const opened = await openHost(world.services, of);
        aheadMs = 20 * 3_600_000;
        const dispose = async () => {
          aheadMs = 0;
          await opened[Symbol.asyncDispose]();
        };
        return { ...opened, [Symbol.asyncDispose]: dispose };
      },
    });
    const exec = `async (svc) => {
      const { n } = (await svc.getCheckpoint()) ?? { n: 0 };
      await svc.batchSave([{ id: String(n) }], 'Contact');
      if (n < 2) await svc.saveCheckpoint({ n: n + 1 });
    }`;
    await deploySync('sliced', exec, { features: ['checkpoints'], trackDeletes: true });
    await run('sliced');
    await until(() => world.records.saved.length === 3 && world.syncOf('sliced')?.current === null);
    expect(world.syncOf('sliced')).toMatchObject({
      checkpoint: { n: 2 },
      last: { status: 'succeeded', attempt: 1 },
    });
    // What a part of the runs has not seen is not gone, and a pass goes on until the last of them has succeeded.
    expect(world.records.calls).not.toContain('runPassEnd Contact');
    expect(world.records.succeeded.sort()).toEqual(['Contact', 'Deal']);
    await slow[Symbol.asyncDispose]();
    runner = await world.startRunner(sandbox, { heartbeatMs: 100 });
  });

  it('goes with its function', async () => {
    await deploySync('removed', saving);
    await run('removed');
    const { control } = world.node;
    const { uid } = world.environment;
    const ref = functionRef(uid, 'crm', 'sync', 'removed');
    await control.execute(ref, { type: 'Delete' }, { actor });
    const deps = { control, records: world.records.writer };
    await reconcileSyncInstances(deps, uid, ['crm'], actor);
    expect(world.syncOf('removed')).toBeNull();
    // Other syncs still write these models.
    expect(world.records.calls.filter((call) => call.startsWith('empty'))).toEqual([]);
  });
});
