/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-call --
   a test looks into any answer */
import { randomBytes } from 'node:crypto';
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
  const path = '/integrations/crm/functions/stepwise/recording?type=sync';
  succeeded(await world.gateway.call('PUT', path, { body: { record_calls: true } }));
});
afterAll(() => world[Symbol.asyncDispose]());

const read = async (path: string) => succeeded(await world.gateway.call('GET', path));
const runs = async () => (await read(`/runs?function=stepwise&connection_id=${crm.id}`)).data;

/** Over a megabyte, so that the attempt that is killed has written a part of its recording. */
const large = () => ({ status: 200, body: { text: randomBytes(1_500_000).toString('hex') } });

it('a run whose process was killed is replayed identically on the recording of its next attempt', async () => {
  crm.account.plan('/steps/1', large());
  crm.account.plan('/steps/2', large());
  succeeded(await crm.trigger('stepwise'));
  await crm.account.came('/steps/3');
  world.gateway.process.kill('SIGKILL');
  await world.gateway.exited;
  crm.account.openSteps(6);
  // The run of a lost process is taken over a minute after its last heartbeat.
  await world.restart(undefined, daysLater(2 / (24 * 60)));
  const [{ id }] = await eventually(runs, ([run]) => run?.status === 'succeeded');
  expect((await read(`/runs/${id}`)).data.attempt).toBe(2);
  // The timeline is sent in the background.
  const notes = await eventually(
    async (): Promise<{ readonly attempt: number; readonly count: number }[]> =>
      (await read(`/runs/${id}`)).data.timeline.filter(
        ({ what }: { what: string }) => what === 'recorded',
      ),
    (all) => all.length > 0,
  );
  expect(notes).toMatchObject([{ attempt: 2 }]);

  const asked = crm.account.asked.length;
  const begun = succeeded(await world.gateway.call('POST', `/runs/${id}/replays`, { body: {} }));
  expect(begun).toMatchObject({ attempt: 2, same_code: true, recorded_calls: notes[0]?.count });
  const { error, result } = await eventually(
    () => read(`/functions/dryruns/${begun.id}`),
    ({ completed_at: at }) => at !== undefined,
  );
  expect(error).toBeUndefined();
  // The attempt went on after the checkpoint of the one that was killed.
  expect(result).toMatchObject({ identical: true, records: { Step: { same: 4 } } });
  expect(crm.account.asked).toHaveLength(asked);
  expect((await crm.all('Step')).map(({ id: step }) => step).sort()).toEqual(
    [1, 2, 3, 4, 5, 6].map((step) => `step-${step}`),
  );
});
