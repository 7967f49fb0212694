import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hourMs, systemClock } from '#kernel/time.ts';
import { createInstancesFor } from '#modules/functions/syncs/reconcile.ts';
import { openRunWorld, until, type RunWorld } from '#test/support/worlds/runs.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const actor = 'key:test';
const models = ['Contact', 'Deal'];
const bundle = (exec: string): string =>
  `module.exports.default = { type: 'sync', models: { Contact: {}, Deal: {} }, exec: ${exec} };`;

let aheadMs = 0;
let world: RunWorld;
let runner: AsyncDisposable;
const sandbox = await sharedSandbox();

beforeAll(async () => {
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  world = await openRunWorld({ clock });
  runner = await world.startRunner(sandbox);
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
beforeEach(() => {
  world.records.calls.length = 0;
  world.records.saved.length = 0;
  aheadMs = 0;
});

const deploy = async (name: string, exec: string) => {
  await world.deploy('sync', name, bundle(exec), { models, frequency: 'every hour' });
  await createInstancesFor(world.node.control, world.connection, actor);
};

/** The calls to the streams of one run, which has succeeded unless another status is given. */
const callsOf = async (name: string, status = 'succeeded'): Promise<string[]> => {
  const { uid: environmentUid } = world.environment;
  const syncs = [{ name, variant: 'base' }];
  const where = { environmentUid, integrationKey: 'crm', connectionId: 'acme', syncs, actor };
  const before = world.syncOf(name)?.last?.runId;
  const from = world.records.calls.length;
  await world.runs.triggerSyncs(where, { reset: false, emptyCache: false });
  const last = await until(() => {
    const instance = world.syncOf(name);
    return instance?.current === null && instance.last?.runId !== before ? instance.last : null;
  });
  expect(last.status).toBe(status);
  return world.records.calls.slice(from).sort();
};

const barriers = ['barrier Contact', 'barrier Deal'];

describe('a sync that saves nothing', () => {
  it('asks its streams for nothing, once they have noted a run', async () => {
    await deploy('quiet', `async (svc) => { await svc.batchSave([], 'Contact'); }`);
    expect(await callsOf('quiet')).toEqual(barriers);
    expect(await callsOf('quiet')).toEqual([]);
    const steps = await world.ledger();
    const runId = world.syncOf('quiet')?.last?.runId;
    const end = steps.find(({ run_id, action }) => run_id === runId && action === 'succeeded');
    const none = { added: 0, updated: 0, deleted: 0, unchanged: 0 };
    const counts = models.map((model) => ({ model, ...none }));
    expect(end).toMatchObject({ counts, positions: [] });
    expect(world.syncOf('quiet')?.last).toMatchObject({ positions: [] });
  });

  it('is noted again after six hours, and when its clock went back', async () => {
    await deploy('hourly', 'async () => {}');
    expect(await callsOf('hourly')).toEqual(barriers);
    aheadMs = 5 * hourMs;
    expect(await callsOf('hourly')).toEqual([]);
    aheadMs = 7 * hourMs;
    expect(await callsOf('hourly')).toEqual(barriers);
    aheadMs = 0;
    expect(await callsOf('hourly')).toEqual(barriers);
  });

  it('asks them after a failure', async () => {
    await deploy(
      'flaky',
      `async (svc) => {
      const last = await svc.getCheckpoint();
      await svc.saveCheckpoint({ runs: (last ? last.runs : 0) + 1 });
      if (last && last.runs === 2) throw new Error('down');
    }`,
    );
    expect(await callsOf('flaky')).toEqual(barriers);
    expect(await callsOf('flaky')).toEqual([]);
    expect(await callsOf('flaky', 'failed')).toEqual(barriers);
    expect(await callsOf('flaky')).toEqual(barriers);
    expect(await callsOf('flaky')).toEqual([]);
  });
});

describe('a sync that uses its streams', () => {
  it.each([
    ['saves', `svc.batchSave([{ id: '1' }], 'Deal')`, 'save Deal 1'],
    ['saves without waiting for it', `void svc.batchSave([{ id: '1' }], 'Deal')`, 'save Deal 1'],
    ['starts a pass', `svc.trackDeletesStart('Deal')`, 'passStart Deal'],
  ])('waits for all of them when it %s', async (what, call, sent) => {
    const name = what.replaceAll(' ', '-');
    await deploy(name, `async (svc) => { await ${call}; }`);
    for (let turn = 0; turn < 2; turn++)
      expect(await callsOf(name)).toEqual([...barriers, sent].sort());
  });

  it('waits for them when it only reads', async () => {
    await deploy('reads', `async (svc) => { await svc.getRecordsById(['1'], 'Deal'); }`);
    for (let turn = 0; turn < 2; turn++) expect(await callsOf('reads')).toEqual(barriers);
  });

  it('waits for them when its code may have left a pass', async () => {
    await deploy('passes', `async (svc) => { if (!svc) svc.trackDeletesStart('Deal'); }`);
    for (let turn = 0; turn < 2; turn++) expect(await callsOf('passes')).toEqual(barriers);
  });
});
