import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openCrmWorld, succeeded, type CrmWorld } from '../support/crm-world.ts';
import { judgeReadable, scriptedRuns } from '../support/readable-runs.ts';

/** Ten runs each. */
const connections = 3;

let world: CrmWorld;
beforeAll(async () => {
  world = await openCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

it('a run whose records are said to be readable has all of them in the next page', async () => {
  const { gateway } = world;
  const opened = await Promise.all(Array.from({ length: connections }, () => world.connect()));
  await Promise.all(
    opened.map((crm) => judgeReadable(crm, 10, { asked: gateway, reading: [gateway] })),
  );
});

it('a run is not said to have readable records while the tables of records are behind', async () => {
  const crm = await world.connect();
  const { gateway } = world;
  const operate = async (what: 'pause' | 'resume') => {
    const asAccount = { key: gateway.accountKey, body: {} };
    succeeded(await gateway.call('POST', `/projections/records/${what}`, asAccount));
  };
  const shown = scriptedRuns(gateway, crm);
  crm.account.script = [{ do: 'save', rows: [{ id: 'a' }] }];
  await operate('pause');
  succeeded(await crm.trigger('scripted'));
  const [run] = await eventually(shown.succeeded, ({ length }) => length === 1);
  expect(run).toMatchObject({ status: 'succeeded', records_readable: false });
  expect(await shown.one(run!.id)).toMatchObject({ status: 'succeeded', records_readable: false });
  expect(await crm.status('scripted')).toMatchObject({ records_readable: false });
  expect((await crm.records('Item')).records).toEqual([]);
  await operate('resume');
  await eventually(shown.succeeded, ([again]) => again?.records_readable === true);
  expect((await crm.records('Item')).records).toMatchObject([{ id: 'a' }]);
  expect(await shown.one(run!.id)).toMatchObject({ records_readable: true });
});
