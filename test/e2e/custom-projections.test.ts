/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment -- a test looks into any answer */
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

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
  crm.account.contacts = [
    { id: 'c-1', name: 'Ada' },
    { id: 'c-2', name: 'Grace Hopper' },
  ];
  expect(await crm.run('contacts')).toMatchObject({ success: true });
});
afterAll(() => world[Symbol.asyncDispose]());

const gateway = () => world.gateway;
const listedOnceIs = (state: string) =>
  eventually(
    () => listedProjection(gateway(), 'contacts'),
    (one) => one?.state === state,
  );
const names = 'SELECT id, name FROM contacts ORDER BY id';

describe('a projection of a project', () => {
  it('has the rows of the records that exist, in the types of its columns', async () => {
    succeeded(await deployProjection(gateway(), 'contacts', contactNames(rowOfContact())));
    expect(
      await rowsOnceAre(gateway(), names, [
        ['c-1', 'Ada'],
        ['c-2', 'Grace Hopper'],
      ]),
    ).toEqual([
      ['c-1', 'Ada'],
      ['c-2', 'Grace Hopper'],
    ]);
    const types =
      "SELECT toTypeName(length), toTypeName(seen_at), toTypeName(words), length(words), seen_at > now() - INTERVAL 1 DAY FROM contacts WHERE id = 'c-2'";
    expect(await projectedRows(gateway(), types)).toEqual([
      ['Nullable(Int64)', "DateTime64(6, 'UTC')", 'Array(String)', '2', 1],
    ]);
  });

  it('follows updates and deletions', async () => {
    crm.account.contacts = [
      { id: 'c-1', name: 'Ada Lovelace' },
      { id: 'c-3', name: 'Edith' },
    ];
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    const expected = [
      ['c-1', 'Ada Lovelace'],
      ['c-3', 'Edith'],
    ];
    expect(await rowsOnceAre(gateway(), names, expected)).toEqual(expected);
  });

  it('is not seen by another environment', async () => {
    const { body } = await gateway().call('POST', '/sql', {
      body: { query: names },
      key: gateway().prodKey,
    });
    expect(body).toMatchObject({ error: { code: 'sql_failed' } });
  });

  it('goes on where it was after a restart', async () => {
    await world.restart();
    const expected = [
      ['c-1', 'Ada Lovelace'],
      ['c-3', 'Edith'],
    ];
    expect(await rowsOnceAre(gateway(), names, expected)).toEqual(expected);
    crm.account.contacts = [{ id: 'c-3', name: 'Edith C.' }];
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    expect(await rowsOnceAre(gateway(), names, [['c-3', 'Edith C.']])).toEqual([
      ['c-3', 'Edith C.'],
    ]);
  });

  it('is replaced by a changed mapping, over the whole history', async () => {
    const loud = contactNames(rowOfContact('change.record.name.toUpperCase()'));
    const { data } = succeeded(await deployProjection(gateway(), 'contacts', loud));
    expect(data).toMatchObject({ name: 'contacts', projection: 'dev.contacts' });
    expect(await rowsOnceAre(gateway(), names, [['c-3', 'EDITH C.']])).toEqual([
      ['c-3', 'EDITH C.'],
    ]);
    const shown = await gateway().call('GET', '/projections/dev.contacts', {
      key: gateway().accountKey,
    });
    expect(succeeded(shown).data).toMatchObject({
      active_generation: 2,
      generations: [{ state: 'kept' }, { state: 'active', schema_version: 2 }],
    });
  });

  it('names the records that its mapping throws on, and keeps the others', async () => {
    crm.account.contacts = [
      { id: 'c-3', name: 'Edith' },
      { id: 'c-4', name: 'broken' },
    ];
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    const picky = `{ if (change.record.name === 'broken') throw new Error('no such name'); return ${rowOfContact()}; }`;
    succeeded(await deployProjection(gateway(), 'contacts', contactNames(picky)));
    const failing = {
      failed_records: 1,
      failures: [{ record_id: 'c-4', error: 'no such name' }],
    };
    // The former mapping has a row of c-4, which a switch would hide.
    expect(await listedOnceIs('held')).toMatchObject(failing);
    expect(await projectedRows(gateway(), names)).toEqual([
      ['c-3', 'EDITH'],
      ['c-4', 'BROKEN'],
    ]);
    const force = { key: gateway().accountKey, body: { force: true } };
    succeeded(await gateway().call('POST', '/projections/dev.contacts/switch', force));
    expect(await rowsOnceAre(gateway(), names, [['c-3', 'Edith']])).toEqual([['c-3', 'Edith']]);
    expect(await listedOnceIs('failing')).toMatchObject(failing);
    const failures = 'SELECT projection, record_id, error FROM v_projection_failures';
    expect(await projectedRows(gateway(), failures)).toEqual([['contacts', 'c-4', 'no such name']]);
  });

  it('leaves nothing when it is deleted', async () => {
    succeeded(await gateway().call('DELETE', '/custom-projections/contacts'));
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
