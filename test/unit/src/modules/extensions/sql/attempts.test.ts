import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { GatewayError } from '#kernel/errors.ts';
import { scopeOf, viewsOf } from '#modules/extensions/sql/views.ts';
import type { QueryableStore } from '#ports/projection-store.ts';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { attemptsOf, placesOf, secret } from '#test/support/judges/sql-attempts.ts';
import {
  askSql,
  fillEnvironment,
  migrateAll,
  sqlRows,
  sqlTables,
} from '#test/support/worlds/sql-tables.ts';

const own = '0b4e5f0a-1111-4aaa-8bbb-000000000001';
const other = '0b4e5f0a-2222-4aaa-8bbb-000000000002';

const stores = {
  'in process': async (stack: AsyncDisposableStack) => {
    const path = await mkdtemp(join(tmpdir(), 'svc-sql-'));
    stack.defer(() => rm(path, { recursive: true, force: true }));
    return {
      store: stack.use(await openClickHouseStore({ url: `embedded:${path}` })),
      names: { database: 'default', other: `svc_sql_${scopeOf(other)}` },
    };
  },
  'on a server': async (stack: AsyncDisposableStack) => {
    const front = stack.use(await startClickHouseFront());
    return {
      store: stack.use(await openClickHouseStore({ url: front.url })),
      names: { database: 'gateway', other: `gateway_sql_${scopeOf(other)}` },
    };
  },
};

describe.each(Object.entries(stores))('SQL of an environment, %s', (_, open) => {
  const stack = new AsyncDisposableStack();
  let store: QueryableStore;
  let names: { database: string; other: string };
  beforeAll(async () => {
    ({ store, names } = await open(stack));
    await migrateAll(store);
    await fillEnvironment(store, own, { word: 'own', stream: 1 });
    await fillEnvironment(store, other, { word: secret, stream: 2 });
    for (const uid of [own, other]) await store.showViews(viewsOf(uid, sqlTables));
  });
  afterAll(() => stack.disposeAsync());

  it('reads its own rows, and the other environment its own', async () => {
    const names = ['v_records', 'v_record_history', 'v_changes', 'v_runs'];
    for (const view of [...names, 'v_webhook_attempts', 'v_provider_calls']) {
      expect(await askSql(store, own, `SELECT * FROM ${view}`)).toContain('own');
      expect(await askSql(store, own, `SELECT * FROM ${view}`)).not.toContain(secret);
      expect(await askSql(store, other, `SELECT * FROM ${view}`)).toContain(secret);
    }
  });

  it('reads nothing of another environment, whatever it tries', async () => {
    const attempts = attemptsOf({ ...names, uid: other });
    expect(attempts.length).toBeGreaterThanOrEqual(50);
    const outcomes: Record<string, string> = {};
    for (const sql of attempts) {
      try {
        const read = await askSql(store, own, sql);
        expect(read, sql).not.toContain(secret);
        outcomes[sql] = 'read';
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        expect(error.code, `${sql}: ${error.message}`).toMatch(/^sql_/);
        expect(error.message, sql).not.toContain(secret);
        outcomes[sql] = error.code;
      }
    }
    const refused = Object.values(outcomes).filter((outcome) => outcome === 'sql_refused');
    expect(refused.length).toBeGreaterThanOrEqual(50);
    expect(Object.keys(outcomes).filter((sql) => outcomes[sql] === 'read')).toEqual([
      attempts.at(-1),
    ]);
    expect(existsSync('/tmp/svc-sql-attempt')).toBe(false);
    // Neither environment has lost anything.
    for (const uid of [own, other])
      expect(await sqlRows(store, uid, 'SELECT count() AS n FROM v_records')).toEqual([{ n: '2' }]);
  });

  it.each([
    ['v_records', ['connection_id', 'record_id', 'payload']],
    ['v_record_history', ['connection_id', 'record_id']],
    ['v_changes', ['connection_id', 'record_id']],
    ['v_runs', ['connection_id', 'run_id']],
    ['v_webhook_attempts', ['connection_id', 'message_id', 'origin']],
    ['v_provider_calls', ['connection_id', 'run_id', 'url']],
  ])('evaluates no condition on rows of another environment: %s', async (view, columns) => {
    for (const column of columns) {
      // Divides by zero where it sees one.
      const fails = `intDiv(1, ifNull(${column}, '') NOT LIKE '%${secret}%') = 1`;
      for (const condition of [fails, `${column} NOT LIKE '%own%' AND ${fails}`])
        await askSql(store, own, `SELECT count() FROM ${view} WHERE ${condition}`);
      const sql = `SELECT count() FROM ${view} WHERE ${fails}`;
      await expect(askSql(store, other, sql), sql).rejects.toMatchObject({ code: 'sql_failed' });
    }
  });

  it('finds what is not allowed wherever it stands, and allows the rest there', async () => {
    const outcome = async (sql: string): Promise<string> => {
      try {
        await askSql(store, own, sql);
        return 'ran';
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        return error.code;
      }
    };
    const outcomes = (expression: string): Promise<string[]> =>
      Promise.all(placesOf(expression).map(outcome));
    const allowed = await outcomes("lower('X')");
    const ran = allowed.flatMap((code, at) => (code === 'ran' ? [at] : []));
    expect(ran.length).toBeGreaterThanOrEqual(45);
    const table = `(SELECT any(payload) FROM ${names.database}.records)`;
    for (const expression of ['hostName()', table, "dictGet('x', 'y', 1)"]) {
      const refused = await outcomes(expression);
      expect(refused).not.toContain('ran');
      // Because of the expression, where another one runs.
      expect(ran.filter((at) => refused[at] !== 'sql_refused')).toEqual([]);
    }
  });
});
