import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionRef } from '#modules/connections/connections/entity.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { syncRef } from '#modules/functions/syncs/entity.ts';
import { createInstancesFor } from '#modules/functions/syncs/reconcile.ts';
import { runsOf } from '#modules/webhooks/webhooks-in/effects.ts';
import { openRunWorld, type RunWorld } from '#test/support/worlds/runs.ts';

let world: RunWorld;
beforeEach(async () => {
  world = await openRunWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const origin = '0198c1a2-7d30-5000-8000-0000000000bb';

describe('the runs of a webhook', () => {
  it('§13 dispatch: syncs that subscribe to its type, once for each connection and event', async () => {
    const { connection, environment } = world;
    const deploy = (name: string, webhookSubscriptions: string[]) =>
      world.deploy('sync', name, '', {
        models: ['Contact'],
        frequency: 'every hour',
        webhookSubscriptions,
      });
    await deploy('all', ['*']);
    await deploy('issues', ['issue']);
    await deploy('deaf', []);
    const of = { environmentUid: environment.uid, uniqueKey: 'crm' };
    const event = (type: string | null, connections: readonly Connection[] = [connection]) => ({
      type,
      body: { type },
      connections,
    });
    const runs = (...events: Parameters<typeof runsOf>[3]) =>
      runsOf(world.node.control, of, origin, events).map(({ fn, payload }) => [fn.name, payload]);
    expect(runs(event('issue'), event('other'))).toEqual([
      ['all', { type: 'issue' }],
      ['issues', { type: 'issue' }],
      ['all', { type: 'other' }],
    ]);
    expect(runs(event(null))).toEqual([['all', { type: null }]]);
    expect(runs(event('issue', []))).toEqual([]);
    const ids = () =>
      runsOf(world.node.control, of, origin, [event('issue')]).map(({ runId }) => runId);
    expect(ids()).toEqual(ids());
    expect(new Set(ids()).size).toBe(2);
  });

  it('are none of a sync that is paused', async () => {
    const { connection, environment, node } = world;
    const subscribed = {
      models: ['Contact'],
      frequency: 'every hour',
      webhookSubscriptions: ['*'],
    };
    await world.deploy('sync', 'all', '', subscribed);
    await createInstancesFor(node.control, connection, 'system');
    const { path } = connectionRef(environment.uid, 'crm', 'acme');
    const ref = syncRef([path[0]!, path[1]!, path[2]!], 'all', 'base');
    await node.control.execute(ref, { type: 'Pause' }, { actor: 'system' });
    const of = { environmentUid: environment.uid, uniqueKey: 'crm' };
    const event = { type: 'x', body: {}, connections: [connection] };
    expect(runsOf(node.control, of, origin, [event])).toEqual([]);
  });
});
