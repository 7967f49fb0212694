import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { documentedViews } from '#modules/extensions/sql/documented-views.ts';
import { scopeOf, viewsOf } from '#modules/extensions/sql/views.ts';
import type { QueryableStore } from '#ports/projection-store.ts';
import {
  fillEnvironment,
  migrateAll,
  sqlRows,
  sqlTables,
} from '#test/support/worlds/sql-tables.ts';

const uid = '0b4e5f0a-3333-4aaa-8bbb-000000000003';

const stack = new AsyncDisposableStack();
let store: QueryableStore;
beforeAll(async () => {
  const path = await mkdtemp(join(tmpdir(), 'svc-sql-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  store = stack.use(await openClickHouseStore({ url: `embedded:${path}` }));
  await migrateAll(store);
  await fillEnvironment(store, uid, { word: 'own', stream: 1 });
  await store.showViews(viewsOf(uid, sqlTables));
});
afterAll(() => stack.disposeAsync());

type Columns = readonly (readonly [name: string, type: string, meaning: string])[];

/** By view of docs/sql.md: name, type and meaning of each column, in their order. */
async function documented(): Promise<Record<string, Columns>> {
  const page = await readFile(new URL('../../../../../../docs/sql.md', import.meta.url), 'utf8');
  const sections = page.split(/^### `/m).slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const rows = section.matchAll(/^\| `(\w+)` +\| `([^`]+)` +\| (\S.*\S) +\|$/gm);
      const columns = Array.from(rows, ([, name, type, meaning]) => [name, type, plain(meaning!)]);
      return [section.split('`')[0]!, columns as unknown as Columns];
    }),
  );
}

/** Without the marks of Markdown. */
const plain = (text: string): string =>
  text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '');

const namesAndTypes = (columns: Columns): string[] =>
  columns.map(([name, type]) => `${name} ${type}`);

describe('views of SQL queries', () => {
  it('have the columns that docs/sql.md lists', async () => {
    const columns = await store.queryRows<{ table: string; text: string }>(
      `SELECT table, name || ' ' || type AS text FROM system.columns
       WHERE database = {database:String} ORDER BY table, position`,
      { database: `svc_sql_${scopeOf(uid)}` },
    );
    const real = Map.groupBy(columns, ({ table }) => table);
    const listed = Object.entries(await documented());
    expect(Object.fromEntries(listed.map(([view, list]) => [view, namesAndTypes(list)]))).toEqual(
      Object.fromEntries([...real].map(([view, list]) => [view, list.map(({ text }) => text)])),
    );
  });

  it('are shown to callers as docs/sql.md has them', async () => {
    const shown = documentedViews.map(({ name, columns }) => [name, columns]);
    expect(Object.fromEntries(shown)).toEqual(await documented());
  });

  it('show a record as it is, and each of its changes', async () => {
    const [plain, sealed] = await sqlRows(store, uid, 'SELECT * FROM v_records ORDER BY record_id');
    expect(plain).toMatchObject({
      integration: 'crm',
      connection_id: 'c-own',
      model: 'Contact',
      variant: 'base',
      record_id: 'r-own',
      action: 'updated',
      seq: '2',
      position: '2',
      payload: '{"id":"r","name":"own"}',
      is_sealed: false,
      deleted_at: null,
    });
    expect(sealed).toMatchObject({ record_id: 's-own', payload: null, is_sealed: true });
    expect(
      await sqlRows(store, uid, 'SELECT record_id, action, seq FROM v_record_history ORDER BY seq'),
    ).toEqual([
      { record_id: 'r-own', action: 'added', seq: '1' },
      { record_id: 'r-own', action: 'updated', seq: '2' },
      { record_id: 's-own', action: 'added', seq: '3' },
    ]);
    expect(
      await sqlRows(store, uid, 'SELECT log_offset, action FROM v_changes ORDER BY log_offset'),
    ).toEqual([
      { log_offset: '1', action: 'added' },
      { log_offset: '2', action: 'updated' },
      { log_offset: '3', action: 'added' },
    ]);
  });

  it('show a run as one row', async () => {
    expect(await sqlRows(store, uid, 'SELECT * FROM v_runs')).toMatchObject([
      {
        run_id: 'run-own',
        kind: 'sync',
        function: 'contacts',
        status: 'succeeded',
        attempts: 1,
        trigger: 'api',
        duration_ms: '2000',
        error_code: null,
        added: '4',
        updated: '2',
        deleted: '1',
      },
    ]);
  });

  it('show attempts of webhooks and requests to providers', async () => {
    expect(
      await sqlRows(store, uid, 'SELECT * FROM v_webhook_attempts ORDER BY attempt'),
    ).toMatchObject([
      { message_id: 'm-own', endpoint: 'primary', kind: 'sync', attempt: 1, outcome: 'retried' },
      { message_id: 'm-own', attempt: 2, outcome: 'delivered', status: 200, duration_ms: 12 },
    ]);
    expect(await sqlRows(store, uid, 'SELECT * FROM v_provider_calls')).toMatchObject([
      { operation_id: 'run-own', method: 'GET', url: 'https://own.test/contacts', status: 200 },
    ]);
  });

  it('are made again only in another version', async () => {
    const views = viewsOf(uid, sqlTables);
    const stamp = async () =>
      store.queryRows(
        'SELECT uuid FROM system.tables WHERE database = {database:String} ORDER BY name',
        { database: `svc_sql_${views.scope}` },
      );
    const before = await stamp();
    await store.showViews(views);
    expect(await stamp()).toEqual(before);
    await store.showViews({ ...views, version: 'another' });
    expect(await stamp()).not.toEqual(before);
    expect(await store.shownScopes()).toEqual([views.scope]);
  });
});
