import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import {
  contactsNamed,
  figures,
  listedProjection,
  openProjectionWorld,
  rowOfContact,
  type ProjectionWorld,
} from '#test/support/worlds/custom-projection.ts';

let opened: ProjectionWorld;
beforeAll(async () => {
  opened = await openProjectionWorld({ contacts: contactsNamed('Ada', 60) });
});
afterAll(() => opened[Symbol.asyncDispose]());

/** Takes a while for each change. */
const slowly = (name: string): string =>
  `{ for (let n = 0; n < 3e6; n += 1); return ${rowOfContact(name)}; }`;
const named = (start: string): string =>
  `SELECT toUInt32(countIf(startsWith(name, '${start}'))) FROM contacts`;

describe('a new projection of a project', () => {
  it('is read while it is filled, and says so', async () => {
    await opened.deploy(slowly('change.record.name'));
    expect(await opened.stateOnceIs('filling', 'current')).toMatchObject({ state: 'filling' });
    expect((await opened.generations()).generations).toMatchObject([
      { generation: 1, state: 'building' },
    ]);
    expect(await opened.order('rebuild')).toMatchObject({ status: 409 });
    const query = { body: { query: figures } };
    const { rows } = succeeded(await opened.world.gateway.call('POST', '/sql', query)) as {
      readonly rows: readonly (readonly [number, number])[];
    };
    expect(rows[0]?.[0]).toBeLessThanOrEqual(60);
    expect(await opened.rowsOnceAre(figures, [[60, 60]])).toEqual([[60, 60]]);
    await opened.stateOnceIs('current');
    expect(await opened.generations()).toMatchObject({
      active_generation: 1,
      generations: [{ generation: 1, state: 'active' }],
    });
  });

  it('is dropped, not kept, when a changed mapping is whole before it', async () => {
    await opened.delete();
    await opened.deploy(slowly('change.record.name'));
    await opened.stateOnceIs('filling', 'current');
    succeeded(await opened.order('pause'));
    await opened.deploy(rowOfContact('change.record.name.toUpperCase()'));
    succeeded(await opened.order('resume', { generation: 1 }));
    await eventually(opened.generations, ({ active_generation: active }) => active === 2);
    expect(await opened.rowsOnceAre(named('ADA'), [[60]])).toEqual([[60]]);
    await opened.stateOnceIs('current');
  });
});

describe('a changed mapping', () => {
  it('that fails for all records does not hide their rows, and gives way to the next one', async () => {
    await opened.deploy("{ throw new Error('never'); }");
    expect(await opened.stateOnceIs('held')).toMatchObject({
      failed_records: 60,
      failures: expect.arrayContaining([expect.objectContaining({ error: 'never' })]) as unknown,
    });
    await opened.save(contactsNamed('Grace', 61));
    expect(await opened.rowsOnceAre(named('GRACE'), [[61]])).toEqual([[61]]);
    expect(await opened.order('switch')).toMatchObject({ status: 409 });
    await opened.deploy(rowOfContact());
    expect(await opened.rowsOnceAre(named('Grace'), [[61]])).toEqual([[61]]);
    expect(await opened.stateOnceIs('current')).toMatchObject({ failed_records: 0 });
  });

  it('replaces one that failed for the same records', async () => {
    const fails = (name: string): string =>
      `{ if (change.record_id === 'c-7') throw new Error('${name}'); return ${rowOfContact()}; }`;
    await opened.deploy(fails('first'));
    await opened.stateOnceIs('held');
    succeeded(await opened.order('switch', { force: true }));
    await opened.stateOnceIs('failing');
    await opened.deploy(fails('second'));
    await eventually(
      () => listedProjection(opened.world.gateway, 'contacts'),
      (one) => one?.failures[0]?.error === 'second',
    );
    expect(await opened.stateOnceIs('failing', 'held')).toMatchObject({ state: 'failing' });
    await opened.deploy(rowOfContact());
    await opened.stateOnceIs('current');
  });

  it.each(['custom-projector:before-switch', 'the switch'])(
    'is whole after a kill at %s',
    async (point) => {
      const before = await opened.generations();
      const isPoint = point.startsWith('custom');
      if (isPoint) await opened.world.restart(undefined, { SVC_TEST_FAULT_POINT: point });
      const { exited, process } = opened.world.gateway;
      await opened.deploy(rowOfContact(`'${point} ' + change.record.name`));
      if (!isPoint) {
        const { active_generation: active } = before;
        await eventually(opened.generations, (now) => now.active_generation > active);
        process.kill('SIGKILL');
      }
      await exited;
      await opened.world.restart();
      expect(await opened.rowsOnceAre(named(point), [[61]])).toEqual([[61]]);
      expect(await opened.rowsOnceAre(figures, [[61, 61]])).toEqual([[61, 61]]);
      await opened.stateOnceIs('current');
      expect((await opened.rows(figures))[0]).toEqual([61, 61]);
    },
  );

  it('fills its first table to the end after a kill meanwhile', async () => {
    await opened.delete();
    await opened.world.restart(undefined, {
      SVC_TEST_FAULT_POINT: 'custom-projector:after-insert',
    });
    const { exited } = opened.world.gateway;
    await opened.deploy(rowOfContact()).catch(() => undefined);
    await exited;
    await opened.world.restart();
    expect(await opened.rowsOnceAre(figures, [[61, 61]])).toEqual([[61, 61]]);
    await opened.stateOnceIs('current');
    expect((await opened.generations()).generations).toMatchObject([
      { generation: 1, state: 'active' },
    ]);
  });
});
