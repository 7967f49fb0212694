import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import {
  contactsNamed,
  figures,
  openProjectionWorld,
  rowOfContact,
  type ProjectionWorld,
} from '#test/support/worlds/custom-projection.ts';

let opened: ProjectionWorld;
beforeAll(async () => {
  opened = await openProjectionWorld({ contacts: contactsNamed('Ada', 500) });
  await opened.deploy(rowOfContact());
});
afterAll(() => opened[Symbol.asyncDispose]());

describe('a projection of a project', () => {
  it.each(['custom-projector:before-insert', 'custom-projector:after-insert'])(
    'neither misses nor doubles a row after a kill at %s',
    async (point) => {
      expect(await opened.rowsOnceAre(figures, [[500, 500]])).toEqual([[500, 500]]);
      await opened.world.restart(undefined, { SVC_TEST_FAULT_POINT: point });
      const { crm, world } = opened;
      const { exited } = world.gateway;
      crm.account.contacts = [...contactsNamed(point, 400), { id: 'c-more', name: 'More' }];
      await crm.trigger('contacts').catch(() => undefined);
      await exited;
      await world.restart();
      await eventually(
        () => crm.records('Contact', { filter: 'added' }),
        ({ records }) => records.some(({ id }) => id === 'c-more'),
      ).catch(() => crm.run('contacts'));
      expect(await opened.rowsOnceAre(figures, [[401, 401]])).toEqual([[401, 401]]);
      const named = `SELECT toUInt32(countIf(startsWith(name, '${point}'))) FROM contacts`;
      expect(await opened.rows(named)).toEqual([[400]]);
      await opened.save(contactsNamed('Ada', 500));
    },
  );

  it('is read without a gap while a changed mapping is built under load', async () => {
    const { gateway } = opened.world;
    expect(await opened.rowsOnceAre(figures, [[500, 500]])).toEqual([[500, 500]]);
    let isOver = false;
    let rounds = 0;
    const write = async (): Promise<void> => {
      for (; !isOver; rounds += 1) {
        await opened.save(contactsNamed(`Round ${rounds}`, 500 + rounds));
      }
    };
    const counts: number[] = [];
    const read = async (): Promise<void> => {
      while (!isOver) {
        const body = { query: 'SELECT toUInt32(count()) FROM contacts' };
        const answer = await gateway.call('POST', '/sql', { body });
        // One query of an environment runs at a time.
        if (answer.status !== 429) {
          const { rows } = succeeded(answer) as { readonly rows: readonly [readonly [number]] };
          counts.push(rows[0][0]);
        }
        await sleep(50);
      }
    };
    const load = [write(), read()];
    await sleep(500);
    await opened.deploy(rowOfContact('change.record.name.toUpperCase()'));
    const isLoud =
      'SELECT toUInt32(count() > 0 AND countIf(name != upper(name)) = 0) FROM contacts';
    expect(await opened.rowsOnceAre(isLoud, [[1]])).toEqual([[1]]);
    await sleep(500);
    isOver = true;
    await Promise.all(load);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(500);
    const total = 499 + rounds;
    expect(await opened.rowsOnceAre(figures, [[total, total]])).toEqual([[total, total]]);
  });

  it('leaves no table, view, position or step of a migration', async () => {
    const { gateway } = opened.world;
    await opened.delete();
    await eventually(
      () => gateway.call('POST', '/sql', { body: { query: 'SELECT 1 FROM contacts' } }),
      ({ status }) => status !== 200,
    );
    await sleep(1_000);
    await opened.world.restart(async (dataDir) => {
      await using store = await openClickHouseStore({ url: `embedded:${dataDir}/clickhouse` });
      const names = async (sql: string): Promise<string[]> =>
        (await store.queryRows<{ name: string }>(sql)).map(({ name }) => name);
      expect(await names("SELECT name FROM system.tables WHERE name = 'contacts'")).toEqual([]);
      for (const source of ['system.tables', 'projector_positions', 'projection_migrations']) {
        const sql = `SELECT name FROM ${source} WHERE startsWith(name, 'custom_')`;
        expect(await names(sql)).toEqual([]);
      }
    });
  });
});
