import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showStatements } from '#adapters/projection-store/caller-views.ts';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { scopeOf, viewsOf } from '#modules/extensions/sql/views.ts';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import { attemptsOf, secret } from '#test/support/judges/sql-attempts.ts';
import { statementsOf } from '#test/support/judges/sql.ts';
import { fillEnvironment, migrateAll, sqlTables } from '#test/support/worlds/sql-tables.ts';

const own = '0b4e5f0a-5555-4aaa-8bbb-000000000005';
const other = '0b4e5f0a-6666-4aaa-8bbb-000000000006';
const everything = '<access_management>1</access_management>';

/** The engine has one user at a time: `rights` are those of the caller, `svc` is the gateway's user. */
const users = (rights: string): string => `<clickhouse>
  <profiles><default/></profiles><quotas><default/></quotas>
  <users>
    <default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>${rights}</default>
    <svc><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>${everything}</svc>
  </users>
</clickhouse>`;

const stack = new AsyncDisposableStack();
let front: ClickHouseFront;
let usersFile: string;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-reader-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  usersFile = join(folder, 'users.xml');
  await writeFile(usersFile, users(everything));
  const config = `<clickhouse><users_config>${usersFile}</users_config></clickhouse>`;
  front = stack.use(await startClickHouseFront({ config }));
  await using store = await openClickHouseStore({ url: front.url });
  await migrateAll(store);
  await fillEnvironment(store, own, { word: 'own', stream: 1 });
  await fillEnvironment(store, other, { word: secret, stream: 2 });
  for (const uid of [own, other]) {
    for (const statement of showStatements('gateway', viewsOf(uid, sqlTables), [], null))
      await store.command(statement.replace('CURRENT_USER', 'svc'));
  }
});
afterAll(() => stack.disposeAsync());

async function ask(sql: string): Promise<{ readonly status: number; readonly text: string }> {
  const { username, password, origin } = new URL(front.url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const response = await fetch(`${origin}/?database=gateway_sql_${scopeOf(own)}`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: sql,
  });
  return { status: response.status, text: await response.text() };
}

describe('the user of reader.sql', () => {
  it('reads the views of one environment, and nothing else', async () => {
    const page = new URL('../../../deploy/clickhouse/reader.sql', import.meta.url);
    const grants = statementsOf(await readFile(page, 'utf8')).filter((one) => /^GRANT/.test(one));
    expect(grants).toEqual(['GRANT SELECT ON gateway_sql_ENVIRONMENT.* TO dashboard_ENVIRONMENT']);
    // The user before may do everything: the attempts would read it.
    expect((await ask(`SELECT * FROM gateway.records`)).text).toContain(secret);
    await front.kill();
    const granted = grants.map((one) =>
      one.replace(/ TO .*/, '').replace('ENVIRONMENT', scopeOf(own)),
    );
    const rights = granted.map((one) => `<query>${one}</query>`).join('');
    await writeFile(usersFile, users(`<grants>${rights}</grants>`));
    await front.start();

    for (const view of ['v_records', 'v_runs', 'v_changes', 'v_webhook_attempts']) {
      const read = await ask(`SELECT * FROM ${view}`);
      expect(read.text).toContain('own');
      expect(read.text).not.toContain(secret);
    }
    const names = { database: 'gateway', other: `gateway_sql_${scopeOf(other)}`, uid: other };
    // A client writes files, not a server.
    const attempts = attemptsOf(names).filter((sql) => !sql.includes('OUTFILE'));
    for (const sql of attempts) {
      const { status, text } = await ask(sql);
      // An error repeats the statement, and some of these contain the word.
      if (status === 200) expect(text, sql).not.toContain(secret);
    }
    expect(await ask('SELECT * FROM gateway.records')).toMatchObject({
      text: expect.stringContaining('ACCESS_DENIED') as string,
    });
  });

  it('has no views where the server was set up for an earlier release', async () => {
    const setup = new URL('../../../deploy/clickhouse/setup.sql', import.meta.url);
    const grants = statementsOf(await readFile(setup, 'utf8'))
      .filter((one) => /^GRANT.* TO svc$/s.test(one) && !one.includes('gateway_sql_'))
      .map((one) => `<query>${one.replace(/ TO svc$/, '')}</query>`);
    await front.kill();
    await writeFile(usersFile, users(`<grants>${grants.join('')}</grants>`));
    await front.start();
    await using store = await openClickHouseStore({ url: front.url });
    await expect(
      store.showViews({ ...viewsOf(own, sqlTables), version: 'later' }),
    ).rejects.toMatchObject({
      code: 'sql_failed',
      details: { fix: 'Run deploy/clickhouse/setup.sql on the server again.' },
    });
  });
});
