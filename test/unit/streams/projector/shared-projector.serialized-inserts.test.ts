import { describe, expect, it } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Insert, ProjectionStore } from '#ports/projection-store.ts';
import { serializeInserts } from '#streams/projector/shared-projector.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const logger = { debug: () => undefined };
const store = await storeOfFile();

const insertOf = (table: string, value: number): Insert => ({
  table,
  columns: ['a'],
  rows: Buffer.from(`${value}\n`),
  deduplicationToken: String(value),
});

async function makeTable(name: string): Promise<void> {
  await store.create({
    name,
    columns: ['a UInt64'],
    engine: 'MergeTree',
    orderBy: ['a'],
    tokensKept: 10,
  });
}

/** The file's store, which says how many inserts of a table are under way at once. */
function counting() {
  const under = new Map<string, number>();
  let most = 0;
  const counted: ProjectionStore = {
    create: (definition) => store.create(definition),
    drop: (name) => store.drop(name),
    command: (sql, options) => store.command(sql, options),
    queryBinary: (sql, params, lane) => store.queryBinary(sql, params, lane),
    queryRows: (sql, params, lane) => store.queryRows(sql, params, lane),
    [Symbol.asyncDispose]: () => Promise.resolve(),
    insert: async (insert: Insert) => {
      const now = (under.get(insert.table) ?? 0) + 1;
      under.set(insert.table, now);
      most = Math.max(most, now);
      await store.insert(insert);
      under.set(insert.table, now - 1);
    },
  };
  return { store: counted, most: () => most };
}

describe('projectors of replicated tables', () => {
  it('insert into a table one after the other, and into two at once', async () => {
    await makeTable('first');
    await makeTable('second');
    const coordination = openInProcessCoordination();
    const { store: counted, most } = counting();
    const projectors = Array.from({ length: 4 }, () =>
      serializeInserts(counted, { coordination, logger }),
    );
    const values = Array.from({ length: 20 }, (_, at) => at);
    await Promise.all(
      values.map((value) =>
        projectors[value % 4]!.insert(insertOf(value % 2 === 0 ? 'first' : 'second', value)),
      ),
    );
    expect(most()).toBe(1);
    for (const table of ['first', 'second']) {
      expect(await store.queryRows(`SELECT count() AS n FROM ${table}`)).toEqual([{ n: '10' }]);
    }
  });

  it('give the turn back when an insert fails', async () => {
    await makeTable('failing');
    const coordination = openInProcessCoordination();
    const [one, other] = [0, 1].map(() => serializeInserts(store, { coordination, logger }));
    await expect(one!.insert({ ...insertOf('failing', 1), columns: ['no'] })).rejects.toThrow();
    await other!.insert(insertOf('failing', 2));
    expect(await store.queryRows('SELECT count() AS n FROM failing')).toEqual([{ n: '1' }]);
  });

  it('insert without a turn while they cannot reach one another', async () => {
    await makeTable('alone');
    const coordination = {
      acquire: () => Promise.reject(new GatewayError('coordination_unavailable')),
      release: () => Promise.resolve(),
    };
    await serializeInserts(store, { coordination, logger }).insert(insertOf('alone', 1));
    expect(await store.queryRows('SELECT count() AS n FROM alone')).toEqual([{ n: '1' }]);
  });
});
