/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { succeeded } from '#test/support/worlds/crm-world.ts';
import {
  contactNames,
  deployProjection,
  listedProjection,
  openProjectionWorld,
  rowOfContact,
  type ProjectionWorld,
} from '#test/support/worlds/custom-projection.ts';

let opened: ProjectionWorld;
beforeAll(async () => {
  opened = await openProjectionWorld({
    contacts: [
      { id: 'c-1', name: 'Ada' },
      { id: 'c-2', name: 'Grace Hopper' },
    ],
  });
});
afterAll(() => opened[Symbol.asyncDispose]());

const gateway = () => opened.world.gateway;
const names = 'SELECT id, name FROM contacts ORDER BY id';

describe('a projection of a project', () => {
  it('has the rows of the records that exist, in the types of its columns', async () => {
    await opened.deploy(rowOfContact());
    expect(
      await opened.rowsOnceAre(names, [
        ['c-1', 'Ada'],
        ['c-2', 'Grace Hopper'],
      ]),
    ).toEqual([
      ['c-1', 'Ada'],
      ['c-2', 'Grace Hopper'],
    ]);
    const types =
      "SELECT toTypeName(length), toTypeName(seen_at), toTypeName(words), length(words), seen_at > now() - INTERVAL 1 DAY FROM contacts WHERE id = 'c-2'";
    expect(await opened.rows(types)).toEqual([
      ['Nullable(Int64)', "DateTime64(6, 'UTC')", 'Array(String)', '2', 1],
    ]);
  });

  it('follows updates and deletions', async () => {
    await opened.save([
      { id: 'c-1', name: 'Ada Lovelace' },
      { id: 'c-3', name: 'Edith' },
    ]);
    const expected = [
      ['c-1', 'Ada Lovelace'],
      ['c-3', 'Edith'],
    ];
    expect(await opened.rowsOnceAre(names, expected)).toEqual(expected);
  });

  it('is not seen by another environment', async () => {
    const { body } = await gateway().call('POST', '/sql', {
      body: { query: names },
      key: gateway().prodKey,
    });
    expect(body).toMatchObject({ error: { code: 'sql_failed' } });
  });

  it('goes on where it was after a restart', async () => {
    await opened.world.restart();
    const expected = [
      ['c-1', 'Ada Lovelace'],
      ['c-3', 'Edith'],
    ];
    expect(await opened.rowsOnceAre(names, expected)).toEqual(expected);
    await opened.save([{ id: 'c-3', name: 'Edith C.' }]);
    expect(await opened.rowsOnceAre(names, [['c-3', 'Edith C.']])).toEqual([['c-3', 'Edith C.']]);
  });

  it('is replaced by a changed mapping, over the whole history', async () => {
    const loud = contactNames(rowOfContact('change.record.name.toUpperCase()'));
    const { data } = succeeded(await deployProjection(gateway(), 'contacts', loud));
    expect(data).toMatchObject({ name: 'contacts', projection: 'dev.contacts' });
    expect(await opened.rowsOnceAre(names, [['c-3', 'EDITH C.']])).toEqual([['c-3', 'EDITH C.']]);
    expect(await opened.generations()).toMatchObject({
      active_generation: 2,
      generations: [{ state: 'kept' }, { state: 'active', schema_version: 2 }],
    });
  });

  it('names the records that its mapping throws on, and keeps the others', async () => {
    await opened.save([
      { id: 'c-3', name: 'Edith' },
      { id: 'c-4', name: 'broken' },
    ]);
    const picky = `{ if (change.record.name === 'broken') throw new Error('no such name'); return ${rowOfContact()}; }`;
    await opened.deploy(picky);
    const failing = {
      failed_records: 1,
      failures: [{ record_id: 'c-4', error: 'no such name' }],
    };
    // The former mapping has a row of c-4, which a switch would hide.
    expect(await opened.stateOnceIs('held')).toMatchObject(failing);
    expect(await opened.rows(names)).toEqual([
      ['c-3', 'EDITH'],
      ['c-4', 'BROKEN'],
    ]);
    succeeded(await opened.order('switch', { force: true }));
    expect(await opened.rowsOnceAre(names, [['c-3', 'Edith']])).toEqual([['c-3', 'Edith']]);
    expect(await opened.stateOnceIs('failing')).toMatchObject(failing);
    const failures = 'SELECT projection, record_id, error FROM v_projection_failures';
    expect(await opened.rows(failures)).toEqual([['contacts', 'c-4', 'no such name']]);
  });

  it('leaves nothing when it is deleted', async () => {
    await opened.delete();
    expect(await listedProjection(gateway(), 'contacts')).toBeUndefined();
    const query = { body: { query: names } };
    const { body } = await gateway().call('POST', '/sql', query);
    expect(body).toMatchObject({ error: { code: 'sql_failed' } });
    const shown = await gateway().call('GET', '/projections/dev.contacts', {
      key: gateway().accountKey,
    });
    expect(shown.status).toBe(404);
  });
});
