import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { ClickHouseLogLevel, createClient, type ClickHouseSettings } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { isAtLeast } from '#adapters/projection-store/server.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';

let front: ClickHouseFront;
beforeAll(async () => {
  front = await startClickHouseFront();
});
afterAll(() => front[Symbol.asyncDispose]());

const unavailable = { code: 'projection_unavailable', details: { retryAfterS: 1 } };
const one = async (store: ProjectionStore): Promise<unknown> =>
  (await store.queryRows<{ n: number }>('SELECT 1 AS n'))[0]?.n;

describe('a ClickHouse server', () => {
  it('gets its database from who opens it first', async () => {
    await using store = await openClickHouseStore({ url: front.url });
    const [row] = await store.queryRows<{ name: string }>('SELECT currentDatabase() AS name');
    expect(row?.name).toBe('gateway');
  });

  it('ends a query itself when the gateway no longer waits for it', async () => {
    await using store = await openClickHouseStore({ url: front.url });
    const sql = "SELECT toUInt32(getSetting('max_execution_time')) AS seconds";
    const [row] = await store.queryRows<{ seconds: number }>(sql);
    expect(row?.seconds).toBeGreaterThan(0);
  });

  it.each([
    ['a wrong password', (url: URL) => (url.password = 'wrong'), /refuses the user "svc@test"/],
    [
      'a database with a strange name',
      (url: URL) => (url.pathname = '/a-b'),
      /not a valid database name/,
    ],
    ['a part after the database', (url: URL) => (url.search = '?x=secret'), /nothing may follow/],
    ['a name half encoded', (url: URL) => (url.pathname = '/%zz'), /percent-encoded/],
  ])('refuses %s at once, without repeating the password', async (_, change, message) => {
    const url = new URL(front.url);
    change(url);
    const opening = openClickHouseStore({ url: url.href });
    await expect(opening).rejects.toMatchObject({ name: 'UnusableServer' });
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.not.toThrow(/wrong|secret|p@ss/);
  });

  it('refuses a cluster that it does not know, and one without a server', async () => {
    const opening = openClickHouseStore({ url: front.url, cluster: 'nowhere' });
    await expect(opening).rejects.toThrow(/knows no cluster "nowhere"/);
    const embedded = openClickHouseStore({ url: 'embedded:/nowhere', cluster: 'gateway' });
    await expect(embedded).rejects.toThrow('a cluster needs the URL of a server');
  });

  it('refuses a cluster of several shards', async () => {
    const shard = '<shard><replica><host>localhost</host><port>9000</port></replica></shard>';
    const servers = `<remote_servers><split>${shard.repeat(2)}</split></remote_servers>`;
    await using sharded = await startClickHouseFront({
      config: `<clickhouse>${servers}</clickhouse>`,
    });
    const opening = openClickHouseStore({ url: sharded.url, cluster: 'split' });
    await expect(opening).rejects.toThrow(/the cluster "split" .* has 2 shards/);
  });

  it('of a cluster is asked for a quorum of inserts and reads in their order', async () => {
    const replica = '<replica><host>localhost</host><port>9000</port></replica>';
    const servers = `<remote_servers><one><shard>${replica}</shard></one></remote_servers>`;
    await using clustered = await startClickHouseFront({
      config: `<clickhouse>${servers}</clickhouse>`,
    });
    const url = new URL(clustered.url);
    // The engine makes no database on a cluster.
    url.pathname = '/default';
    const settingsOf = async (cluster: string | null): Promise<unknown> => {
      await using store = await openClickHouseStore({ url: url.href, cluster });
      const [row] = await store.queryRows(
        `SELECT toString(getSetting('insert_quorum')) AS quorum,
           toUInt8(getSetting('insert_quorum_parallel')) AS parallel,
           toUInt8(getSetting('select_sequential_consistency')) AS sequential`,
      );
      return row;
    };
    expect(await settingsOf('one')).toEqual({ quorum: 'auto', parallel: 0, sequential: 1 });
    expect(await settingsOf(null)).toMatchObject({ quorum: '0', sequential: 0 });
  });

  it.each([
    ['25.8.2.29', true],
    ['26.3.1.1', true],
    ['25.10.1.1', true],
    ['25.7.9.9', false],
    ['24.12.1.1', false],
    ['', false],
  ])('of version %s is new enough: %s', (version, isEnough) => {
    expect(isAtLeast(version, '25.8')).toBe(isEnough);
  });

  it('that is away says so, and is used again once it is back', async () => {
    await using store = await openClickHouseStore({ url: front.url });
    await store.create({
      name: 'kept',
      columns: ['a UInt8'],
      engine: 'MergeTree',
      orderBy: ['a'],
      tokensKept: 10,
    });
    const insert = { table: 'kept', columns: ['a'], rows: Buffer.from('7\n') };
    await store.insert({ ...insert, deduplicationToken: 'first' });
    await front.kill();
    await expect(one(store)).rejects.toMatchObject(unavailable);
    await expect(store.insert({ ...insert, deduplicationToken: 'second' })).rejects.toMatchObject(
      unavailable,
    );
    {
      await using opened = await openClickHouseStore({ url: front.url });
      await expect(one(opened)).rejects.toMatchObject(unavailable);
      await front.start();
      expect(await one(opened)).toBe(1);
    }
    await store.insert({ ...insert, deduplicationToken: 'first' });
    await store.insert({ ...insert, deduplicationToken: 'second' });
    expect(await store.queryRows('SELECT count() AS n FROM kept')).toEqual([{ n: '2' }]);
  });

  it('that closes idle connections is asked again on a new one', async () => {
    await using proxy = await startIdleCutter(new URL(front.url));
    const url = new URL(front.url);
    url.port = String(proxy.port);
    await using store = await openClickHouseStore({ url: url.href });
    for (let n = 0; n < 5; n++) expect(await one(store)).toBe(1);
    expect(proxy.cut()).toBeGreaterThan(0);
  });

  it('answers a page while others take long', async () => {
    await using store = await openClickHouseStore({ url: front.url });
    const ended: string[] = [];
    const page = async (name: string, sql: string): Promise<void> => {
      await store.queryBinary(sql);
      ended.push(name);
    };
    const slow = Array.from({ length: 5 }, () => page('slow', 'SELECT sleep(1)'));
    await Promise.all([...slow, page('quick', 'SELECT 1')]);
    expect(ended[0]).toBe('quick');
  });
});

describe('a ClickHouse server that stands still', () => {
  it('is not waited for by more than can be answered, and answers the others later', async () => {
    await using store = await openClickHouseStore({ url: front.url });
    front.pause();
    const answers = Array.from({ length: 5_000 }, () => one(store));
    const refused: unknown[] = [];
    for (const answer of answers) answer.catch((error: unknown) => refused.push(error));
    await new Promise((resolve) => setImmediate(resolve));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject(unavailable);
    front.resume();
    const settled = await Promise.allSettled(answers);
    expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    expect(await one(store)).toBe(1);
  });
});

describe('the front that stands in for a server', () => {
  it('speaks gzip both ways, takes parameters and settings, and forgets them', async () => {
    const url = new URL(front.url);
    const client = createClient({
      url: front.origin,
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      compression: { request: true, response: true },
      log: { level: ClickHouseLogLevel.OFF },
    });
    const rows = async (settings: ClickHouseSettings): Promise<unknown> => {
      const answer = await client.query({
        query: `SELECT {a:String} AS a, toInt32(getSetting('max_block_size')) AS size`,
        query_params: { a: "it's \\ \t" },
        format: 'JSONEachRow',
        clickhouse_settings: settings,
      });
      return answer.json();
    };
    expect(await rows({ max_block_size: '77' })).toEqual([{ a: "it's \\ \t", size: 77 }]);
    expect(await rows({})).not.toEqual([{ a: "it's \\ \t", size: 77 }]);
    await expect(client.command({ query: 'SELECT nothing' })).rejects.toMatchObject({
      code: '47',
      type: 'UNKNOWN_IDENTIFIER',
    });
    await client.close();
  });
});

/** Passes one request of each connection on, and cuts the connection when a second one comes. */
async function startIdleCutter({ hostname, port }: URL) {
  let cut = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isAnswered = false;
    upstream.on('data', (chunk) => {
      isAnswered = true;
      client.write(chunk);
    });
    client.on('data', (chunk) => {
      if (isAnswered) {
        cut++;
        client.resetAndDestroy();
        upstream.destroy();
      } else upstream.write(chunk);
    });
    const close = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const side of [client, upstream]) side.on('error', close).on('close', close);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => cut,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
