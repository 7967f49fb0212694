/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import {
  contactNames,
  deployProjection,
  listedProjection,
  projectedRows,
  rowOfContact,
  rowsOnceAre,
} from '#test/support/worlds/custom-projection.ts';

const contacts = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, name: `${name} ${n}` }));

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
  crm.account.contacts = contacts(60, 'Ada');
  expect(await crm.run('contacts')).toMatchObject({ success: true });
});
afterAll(() => world[Symbol.asyncDispose]());

/** Takes a while for each change. */
const slowly = (name: string): string =>
  `{ for (let n = 0; n < 3e6; n += 1); return ${rowOfContact(name)}; }`;
const deploy = async (map: string): Promise<void> => {
  succeeded(await deployProjection(world.gateway, 'contacts', contactNames(map)));
};
const stateOnceIs = (...states: readonly string[]) =>
  eventually(
    () => listedProjection(world.gateway, 'contacts'),
    (one) => states.includes(one?.state ?? ''),
  );

interface Generation {
  readonly generation: number;
  readonly state: string;
}
interface Shown {
  readonly active_generation: number;
  readonly generations: readonly Generation[];
}
async function shown(): Promise<Shown> {
  const { accountKey: key } = world.gateway;
  const answer = await world.gateway.call('GET', '/projections/dev.contacts', { key });
  return succeeded(answer).data as Shown;
}
const order = (path: string, body: object = {}) =>
  world.gateway.call('POST', `/projections/dev.contacts/${path}`, {
    key: world.gateway.accountKey,
    body,
  });

const figures = 'SELECT toUInt32(count()), toUInt32(uniqExact(id)) FROM contacts';
const named = (start: string): string =>
  `SELECT toUInt32(countIf(startsWith(name, '${start}'))) FROM contacts`;

describe('a new projection of a project', () => {
  it('is read while it is filled, and says so', async () => {
    await deploy(slowly('change.record.name'));
    expect(await stateOnceIs('filling', 'current')).toMatchObject({ state: 'filling' });
    expect((await shown()).generations).toMatchObject([{ generation: 1, state: 'building' }]);
    expect(await order('rebuild')).toMatchObject({ status: 409 });
    const query = { body: { query: figures } };
    const { rows } = succeeded(await world.gateway.call('POST', '/sql', query)) as {
      readonly rows: readonly (readonly [number, number])[];
    };
    expect(rows[0]?.[0]).toBeLessThanOrEqual(60);
    expect(await rowsOnceAre(world.gateway, figures, [[60, 60]])).toEqual([[60, 60]]);
    await stateOnceIs('current');
    expect(await shown()).toMatchObject({
      active_generation: 1,
      generations: [{ generation: 1, state: 'active' }],
    });
  });

  it('is dropped, not kept, when a changed mapping is whole before it', async () => {
    succeeded(await world.gateway.call('DELETE', '/custom-projections/contacts'));
    await deploy(slowly('change.record.name'));
    await stateOnceIs('filling', 'current');
    succeeded(await order('pause'));
    await deploy(rowOfContact('change.record.name.toUpperCase()'));
    succeeded(await order('resume', { generation: 1 }));
    await eventually(shown, ({ active_generation: active }) => active === 2);
    expect(await rowsOnceAre(world.gateway, named('ADA'), [[60]])).toEqual([[60]]);
    await stateOnceIs('current');
  });
});

describe('a changed mapping', () => {
  it('that fails for all records does not hide their rows, and gives way to the next one', async () => {
    await deploy("{ throw new Error('never'); }");
    expect(await stateOnceIs('held')).toMatchObject({
      failed_records: 60,
      failures: expect.arrayContaining([expect.objectContaining({ error: 'never' })]) as unknown,
    });
    crm.account.contacts = contacts(61, 'Grace');
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    expect(await rowsOnceAre(world.gateway, named('GRACE'), [[61]])).toEqual([[61]]);
    expect(await order('switch')).toMatchObject({ status: 409 });
    await deploy(rowOfContact());
    expect(await rowsOnceAre(world.gateway, named('Grace'), [[61]])).toEqual([[61]]);
    expect(await stateOnceIs('current')).toMatchObject({ failed_records: 0 });
  });

  it('replaces one that failed for the same records', async () => {
    const fails = (name: string): string =>
      `{ if (change.record_id === 'c-7') throw new Error('${name}'); return ${rowOfContact()}; }`;
    await deploy(fails('first'));
    await stateOnceIs('held');
    succeeded(await order('switch', { force: true }));
    await stateOnceIs('failing');
    await deploy(fails('second'));
    await eventually(
      () => listedProjection(world.gateway, 'contacts'),
      (one) => one?.failures[0]?.error === 'second',
    );
    expect(await stateOnceIs('failing', 'held')).toMatchObject({ state: 'failing' });
    await deploy(rowOfContact());
    await stateOnceIs('current');
  });

  it.each(['custom-projector:before-switch', 'the switch'])(
    'is whole after a kill at %s',
    async (point) => {
      const before = await shown();
      const isPoint = point.startsWith('custom');
      if (isPoint) await world.restart(undefined, { SVC_TEST_FAULT_POINT: point });
      const { exited, process } = world.gateway;
      await deploy(rowOfContact(`'${point} ' + change.record.name`));
      if (!isPoint) {
        const { active_generation: active } = before;
        await eventually(shown, (now) => now.active_generation > active);
        process.kill('SIGKILL');
      }
      await exited;
      await world.restart();
      expect(await rowsOnceAre(world.gateway, named(point), [[61]])).toEqual([[61]]);
      expect(await rowsOnceAre(world.gateway, figures, [[61, 61]])).toEqual([[61, 61]]);
      await stateOnceIs('current');
      expect((await projectedRows(world.gateway, figures))[0]).toEqual([61, 61]);
    },
  );

  it('fills its first table to the end after a kill meanwhile', async () => {
    succeeded(await world.gateway.call('DELETE', '/custom-projections/contacts'));
    await world.restart(undefined, { SVC_TEST_FAULT_POINT: 'custom-projector:after-insert' });
    const { exited } = world.gateway;
    await deploy(rowOfContact()).catch(() => undefined);
    await exited;
    await world.restart();
    expect(await rowsOnceAre(world.gateway, figures, [[61, 61]])).toEqual([[61, 61]]);
    await stateOnceIs('current');
    expect((await shown()).generations).toMatchObject([{ generation: 1, state: 'active' }]);
  });
});
