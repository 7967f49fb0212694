import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { audit } from '#modules/access/audit/projection.ts';
import { runs } from '#modules/functions/runs/ledger/projection.ts';
import { logs } from '#modules/operations/logs/projection.ts';
import { records } from '#modules/records/projection/definition.ts';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { statementsOf } from '#test/support/judges/sql.ts';

const fileOf = (name: string): Promise<string> =>
  readFile(new URL(`../../../deploy/clickhouse/${name}`, import.meta.url), 'utf8');

describe('deploy/clickhouse', () => {
  it.each(['setup.sql', 'setup-cluster.sql', 'reader.sql', 'kafka-records.sql'])(
    '%s can be read by the engine',
    async (name) => {
      await using front = await startClickHouseFront();
      await using store = await openClickHouseStore({ url: front.url });
      const statements = statementsOf(await fileOf(name));
      expect(statements).not.toEqual([]);
      for (const statement of statements) {
        const [row] = await store.queryRows<{ text: string }>(
          'SELECT formatQuerySingleLine({statement:String}) AS text',
          { statement },
        );
        expect(row?.text.split(' ')[0]).toBe(statement.split(' ')[0]);
      }
      await expect(
        store.queryRows('SELECT formatQuerySingleLine({statement:String})', {
          statement: 'GRANT x y',
        }),
      ).rejects.toThrow();
    },
  );

  it('setup.sql grants what the migrations of the tables alter', async () => {
    const granted = /GRANT SELECT, INSERT,([^;]*?)ON gateway/.exec(await fileOf('setup.sql'))?.[1];
    const grants = (granted ?? '').split(',').map((one) => one.replaceAll(/\s+/g, ' ').trim());
    const altered = [records, runs, logs, audit]
      .flatMap((projection) => projection.tableSet(1).migrations)
      .flatMap(({ steps }) => steps)
      .filter((step) => typeof step === 'string')
      .flatMap((step) => /^ALTER TABLE \w+ (\w+ \w+)/.exec(step)?.[1] ?? []);
    expect(new Set(altered)).toEqual(
      new Set(['ADD COLUMN', 'MODIFY SETTING', 'ADD INDEX', 'MATERIALIZE INDEX']),
    );
    for (const change of altered) {
      const grant = change === 'MODIFY SETTING' ? 'ALTER SETTINGS' : `ALTER ${change}`;
      expect(grants).toContain(grant);
    }
  });

  it('cluster.xml names a cluster that the gateway takes', async () => {
    await using front = await startClickHouseFront({ config: await fileOf('cluster.xml') });
    await using store = await openClickHouseStore({ url: front.url });
    expect(
      await store.queryRows(
        `SELECT shard_num, count() AS replicas FROM system.clusters WHERE cluster = 'gateway' GROUP BY shard_num`,
      ),
    ).toEqual([{ shard_num: 1, replicas: '3' }]);
    expect(await store.queryRows('SELECT macro FROM system.macros ORDER BY macro')).toEqual([
      { macro: 'replica' },
      { macro: 'shard' },
    ]);
  });

  it('server.xml changes the settings that it names', async () => {
    await using front = await startClickHouseFront({ config: await fileOf('server.xml') });
    await using store = await openClickHouseStore({ url: front.url });
    const settings = await store.queryRows<{ name: string; value: string }>(
      'SELECT name, value FROM system.merge_tree_settings WHERE changed ORDER BY name',
    );
    expect(settings).toContainEqual({
      name: 'max_bytes_to_merge_at_max_space_in_pool',
      value: '53687091200',
    });
  });
});
