/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import {
  contactNames,
  deployProjection,
  listedProjection,
  openProjectionWorld,
  projectedRows,
  rowOfContact,
  rowsOnceAre,
  type ProjectionWorld,
} from '#test/support/worlds/custom-projection.ts';

const contacts = [
  { id: 'c-1', name: 'Ada' },
  { id: "c-2'; DROP TABLE contacts; --\\", name: 'Gr\tace\n\\N \u0000 \u{1f600} `"' },
  { id: 'c-3', name: 'Edith' },
];
let opened: ProjectionWorld;
beforeAll(async () => {
  opened = await openProjectionWorld({ contacts });
});
afterAll(() => opened[Symbol.asyncDispose]());

const deploy = async (name: string, map: string): Promise<void> => {
  succeeded(await deployProjection(opened.world.gateway, name, contactNames(map)));
};
const failing = (name: string, count: number) =>
  eventually(
    () => listedProjection(opened.world.gateway, name),
    (one) => one?.failed_records === count,
  );
/** For one record; the others as usual. */
const ofAda = (row: string): string => `change.record_id === 'c-1' ? ${row} : ${rowOfContact()}`;

describe('a hostile projection', () => {
  it.each([
    "x'; DROP TABLE y; --",
    '../records',
    'contacts`',
    'Contacts',
    'v_records',
    '',
    'a'.repeat(300),
    'system.tables',
  ])('is refused by its name: %s', async (name) => {
    const path = encodeURIComponent(name);
    const { status } = await deployProjection(
      opened.world.gateway,
      path,
      contactNames(rowOfContact()),
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  it('keeps texts of any characters, and those of another environment apart', async () => {
    await deploy('texts', rowOfContact());
    const names = 'SELECT id, name FROM texts ORDER BY id';
    const expected = contacts.map(({ id, name }) => [id, name]);
    expect(await rowsOnceAre(opened.world.gateway, names, expected)).toEqual(expected);
    const prod = { key: opened.world.gateway.prodKey };
    const { data } = succeeded(await opened.world.gateway.call('GET', '/custom-projections', prod));
    expect(data).toEqual([]);
    const other = contactNames("({ ...change.record, id: 'prod' })");
    const path = '/custom-projections/texts';
    succeeded(await opened.world.gateway.call('PUT', path, { ...prod, body: other }));
    expect(await rowsOnceAre(opened.world.gateway, names, expected)).toEqual(expected);
    succeeded(await opened.world.gateway.call('DELETE', path, prod));
    expect(await projectedRows(opened.world.gateway, names)).toEqual(expected);
  });

  it('may make 10,000 rows of a record', async () => {
    await deploy(
      'many',
      `Array.from({ length: 10_000 }, (_, n) => ({ ...${rowOfContact()}, length: n }))`,
    );
    const count = 'SELECT toUInt32(count()), toUInt32(uniqExact(length)) FROM many';
    expect(await rowsOnceAre(opened.world.gateway, count, [[30_000, 10_000]])).toEqual([
      [30_000, 10_000],
    ]);
  });

  it.each([
    ['NaN', `({ ...${rowOfContact()}, length: NaN })`],
    ['a number beyond 53 bits', `({ ...${rowOfContact()}, length: 2 ** 60 })`],
    ['text for a number', `({ ...${rowOfContact()}, length: '1' })`],
    ['a date that is none', `({ ...${rowOfContact()}, seen_at: 'soon' })`],
    ['another key than its columns alone', `({ id: 'only' })`],
    ['a promise', `Promise.resolve(${rowOfContact()})`],
    ['a cycle', '(() => { const row = {}; row.id = row; return row; })()'],
    ['an end without end', '(() => { for (;;); })()'],
    ['all memory', '(() => { const all = []; for (;;) all.push(new Array(1e6).fill(1.5)); })()'],
    ['more than a run may return', `({ ...${rowOfContact()}, name: 'x'.repeat(70e6) })`],
  ])('names the record for which it returns %s, and keeps the others', async (_what, row) => {
    await deploy('odd', ofAda(row));
    await failing('odd', 1);
    expect(
      await rowsOnceAre(opened.world.gateway, 'SELECT toUInt32(count()) FROM odd', [[2]]),
    ).toEqual([[2]]);
    succeeded(await opened.world.gateway.call('DELETE', '/custom-projections/odd'));
    await eventually(
      () => opened.world.gateway.call('POST', '/sql', { body: { query: 'SELECT 1 FROM odd' } }),
      ({ status }) => status === 400,
    );
  });

  it('keeps a value of five megabytes', async () => {
    await deploy('large', ofAda(`({ ...${rowOfContact()}, name: 'x'.repeat(5e6) })`));
    const length = 'SELECT toUInt32(max(length(name))), toUInt32(count()) FROM large';
    expect(await rowsOnceAre(opened.world.gateway, length, [[5_000_000, 3]])).toEqual([
      [5_000_000, 3],
    ]);
  });
});
