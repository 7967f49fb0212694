/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { daysLater } from '#test/support/processes/days-later.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
  const syncs = { provider_config_key: 'crm', connection_id: crm.id, syncs: ['notes'] };
  succeeded(await world.gateway.call('POST', '/sync/pause', { body: syncs }));
  // It runs when a connection is made: no other sync must reach a point first.
  await eventually(
    () => crm.status('notes'),
    ({ status }) => status === 'PAUSED',
  );
});
afterAll(() => world[Symbol.asyncDispose]());

/** The run of a lost process is taken over a minute after its last heartbeat. */
let minutes = 0;
const later = () => daysLater((minutes += 2) / (24 * 60));

interface Run {
  readonly id: string;
  readonly status: string;
}

const runs = async (): Promise<readonly Run[]> => {
  const path = `/runs?function=deals&connection_id=${crm.id}&provider_config_key=crm`;
  return succeeded(await world.gateway.call('GET', path)).data as Run[];
};
const haveEnded = (all: readonly Run[]): boolean =>
  all.every(({ status }) => status !== 'queued' && status !== 'running');

/** A run that is triggered changes the state of its sync twice: when it starts, and when it ends. */
it.each([
  { point: 'control:before-commit:sync', isQueued: false },
  { point: 'control:after-commit:sync', isQueued: true },
  { point: 'runs:after-start', isQueued: true },
  { point: 'runs:before-end', isQueued: true },
  { point: 'control:before-commit:sync@2', isQueued: true },
  { point: 'control:after-commit:sync@2', isQueued: true },
  { point: 'runs:after-end', isQueued: true },
])('a triggered run succeeds once though its process dies at $point', async (killed) => {
  const before = (await eventually(runs, haveEnded)).map(({ id }) => id);
  crm.account.deals = [{ id: minutes, amount: minutes }];
  await world.restart(undefined, { ...later(), SVC_TEST_FAULT_POINT: killed.point });
  const answer = await crm.trigger('deals').catch(() => null);
  await world.gateway.exited;
  await world.restart(undefined, later());
  if (answer?.status === 200) expect(killed.isQueued).toBe(true);
  if (!killed.isQueued) succeeded(await crm.trigger('deals'));
  const after = await eventually(runs, (all) => all.length > before.length && haveEnded(all));
  const added = after.filter(({ id }) => !before.includes(id));
  expect(added.map(({ status }) => status)).toEqual(['succeeded']);
  expect((await crm.status('deals')).status).not.toBe('RUNNING');
  const live = (await crm.all('Deal')).filter(
    ({ _svc_metadata: meta }) => meta.deleted_at === null,
  );
  expect(live.map(({ id }) => id)).toEqual(crm.account.deals.map(({ id }) => String(id)));
});
