import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '#adapters/projection-store/migrate.ts';
import type { MigrationStep, ProjectionStore, TableDefinition } from '#ports/projection-store.ts';
import { RowReader, TabWriter } from '#tables/rows.ts';

/** What every adapter of the port must do; the harness opens an empty store. */
export function projectionStoreContract(
  name: string,
  open: () => Promise<{ readonly store: ProjectionStore } & AsyncDisposable>,
): void {
  describe(`ProjectionStore contract: ${name}`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let store: ProjectionStore;
    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    });
    afterAll(() => opened[Symbol.asyncDispose]());

    const definition = (label: string): TableDefinition => ({
      name: label,
      columns: ['part UInt16', 'number UInt64', "at Nullable(DateTime64(6, 'UTC'))", 'text String'],
      engine: 'MergeTree',
      partitionBy: 'part',
      orderBy: ['number'],
      tokensKept: 100,
    });
    const table = async (label: string): Promise<string> => {
      await store.drop(label);
      await store.create(definition(label));
      return label;
    };
    const columns = ['part', 'number', 'at', 'text'];
    const rowsOf = (...texts: string[]): Uint8Array => {
      const rows = new TabWriter();
      texts.forEach((text, number) => {
        rows.uint(number % 2);
        rows.uint(number);
        rows.time(number === 0 ? null : 1_769_932_800_000_001);
        rows.string(text);
        rows.endRow();
      });
      return rows.text();
    };
    const count = async (label: string): Promise<number> => {
      const [row] = await store.queryRows<{ n: string }>(`SELECT count() AS n FROM ${label}`);
      return Number(row?.n);
    };

    it('gives back any text, any number and any time, byte by byte', async () => {
      const label = await table('texts');
      const texts = ['', '\\N', '\t\n\r\0\\', '日本語 🚀 "quoted"', '{"a":"b\\n\\u0000"}'];
      await store.insert({
        table: label,
        columns,
        rows: rowsOf(...texts),
        deduplicationToken: 'a',
      });
      const answer = await store.queryBinary(
        `SELECT number, at, text FROM ${label} ORDER BY number`,
      );
      const reader = new RowReader(answer);
      for (const [number, text] of texts.entries()) {
        expect(reader.int64()).toBe(number);
        expect(reader.nullableInt64()).toBe(number === 0 ? null : 1_769_932_800_000_001);
        expect(reader.string()).toBe(text);
      }
      expect(reader.hasMore).toBe(false);
    });

    it('inserts the same token once', async () => {
      const label = await table('tokens');
      const insert = { table: label, columns, rows: rowsOf('a', 'b'), deduplicationToken: 'same' };
      await store.insert(insert);
      await store.insert(insert);
      expect(await count(label)).toBe(2);
      await store.insert({ ...insert, deduplicationToken: 'other' });
      expect(await count(label)).toBe(4);
    });

    it('takes every insert into a table that keeps no tokens', async () => {
      const positions = { ...definition('positions'), tokensKept: 0 };
      await store.create(positions);
      const rows = rowsOf('a');
      const insert = { table: 'positions', columns, rows, deduplicationToken: 'same' };
      await store.insert(insert);
      await store.insert(insert);
      expect(await count('positions')).toBe(2);
      await store.drop('positions');
      await store.drop('positions');
      await expect(count('positions')).rejects.toMatchObject({ code: 'projection_unavailable' });
    });

    it('fills what a view feeds with the same insert, and once', async () => {
      const label = await table('viewed');
      const fed = { ...definition('fed'), columns: ['part UInt16', 'number UInt64'] };
      await store.create(fed);
      await store.create({
        name: 'fed_of_viewed',
        to: 'fed',
        select: `SELECT part, number FROM ${label} WHERE number > 0`,
      });
      const rows = rowsOf('a', 'b', 'c');
      const insert = { table: label, columns, rows, deduplicationToken: 'same' };
      await store.insert(insert);
      await store.insert(insert);
      expect(await count(label)).toBe(3);
      expect(await count('fed')).toBe(2);
      for (const name of ['fed_of_viewed', 'fed', label]) await store.drop(name);
    });

    it('takes the token again once its partition was emptied', async () => {
      const label = await table('emptied');
      const insert = { table: label, columns, rows: rowsOf('a'), deduplicationToken: 'same' };
      await store.insert(insert);
      await store.command(`ALTER TABLE ${label} DROP PARTITION 0`);
      expect(await count(label)).toBe(0);
      await store.insert(insert);
      expect(await count(label)).toBe(1);
    });

    it('refuses rows that do not fit, and writes none of them', async () => {
      const label = await table('refused');
      const rows = Buffer.from('0\t1\t\\N\tfine\n0\tno number\t\\N\tbad\n');
      await expect(
        store.insert({ table: label, columns, rows, deduplicationToken: 'x' }),
      ).rejects.toMatchObject({ code: 'projection_refused' });
      expect(await count(label)).toBe(0);
    });

    it('says projection_unavailable of a statement that fails', async () => {
      const failed = { code: 'projection_unavailable', details: { retryAfterS: 1 } };
      await expect(store.queryRows('SELECT * FROM nowhere')).rejects.toMatchObject(failed);
      await expect(store.queryBinary('SELECT nothing FROM nowhere')).rejects.toMatchObject(failed);
      await expect(store.command('OPTIMIZE TABLE nowhere')).rejects.toMatchObject(failed);
    });

    it('answers with nothing of a statement that failed on its way', async () => {
      const late = 'SELECT toString(number), throwIf(number = 500000) FROM numbers(1000000)';
      await expect(store.queryRows(late, {}, 'heavy')).rejects.toThrow();
      expect(await store.queryRows('SELECT 1 AS one', {}, 'heavy')).toEqual([{ one: 1 }]);
      await expect(store.queryBinary(late, {}, 'heavy')).rejects.toThrow();
      expect(await store.queryBinary('SELECT toUInt8(7)', {}, 'heavy')).toEqual(Buffer.of(7));
      await expect(store.command(late, { queryClass: 'heavy' })).rejects.toThrow();
      expect(await store.queryRows('SELECT 1 AS one', {}, 'heavy')).toEqual([{ one: 1 }]);
    });

    it('takes parameters of every kind', async () => {
      const [row] = await store.queryRows<Record<string, unknown>>(
        `SELECT {a:String} AS a, {b:UInt64} AS b, {c:Bool} AS c, {d:Array(String)} AS d, {e:Int64} AS e`,
        { a: "it's \\ \t", b: 2n ** 64n - 1n, c: true, d: ["'", 'b,c'], e: -5 },
      );
      expect(row).toEqual({
        a: "it's \\ \t",
        b: '18446744073709551615',
        c: true,
        d: ["'", 'b,c'],
        e: '-5',
      });
    });

    it('answers a page while a heavy question runs', async () => {
      let isHeavyDone = false;
      const heavy = store
        .queryRows('SELECT count() FROM numbers(60000000) WHERE sipHash64(number) = 1', {}, 'heavy')
        .then(() => (isHeavyDone = true));
      await store.queryBinary('SELECT 1', {}, 'page');
      expect(isHeavyDone).toBe(false);
      await heavy;
    });

    it('migrates once, and again without harm', async () => {
      const step = (number: number, one: MigrationStep) => ({
        projection: name,
        number,
        steps: [one],
      });
      const create: MigrationStep = {
        name: 'migrated',
        columns: ['a UInt8'],
        engine: 'MergeTree',
        orderBy: ['a'],
        tokensKept: 0,
      };
      await migrate(store, [step(2, 'INSERT INTO migrated VALUES (1)'), step(1, create)]);
      await migrate(store, [step(1, create), step(2, 'INSERT INTO migrated VALUES (1)')]);
      expect(await count('migrated')).toBe(1);
    });
  });
}
