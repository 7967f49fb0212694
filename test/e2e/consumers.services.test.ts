import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import { installKcat, pythonWith } from '#test/services/clients.ts';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { statementsOf } from '#test/support/judges/sql.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { readAll } from '#test/support/worlds/log.ts';
import { openRecordsInKafka, type RecordsInKafka } from '#test/support/worlds/records-in-kafka.ts';
import { anOrigin, aStream } from '#test/support/worlds/records.ts';

const folder = (name: string) =>
  fileURLToPath(new URL(`../../examples/consumers/${name}`, import.meta.url));

const contacts = aStream();
const others = aStream({ connectionUid: 'connection-2', connectionId: 'customer-2' });
const closed = aStream({ connectionUid: 'connection-3', connectionId: 'customer-3' });
const person = (id: string, name = id) => ({ id, name, note: 'Grüße, 世界 '.repeat(40) });
const many = (count: number) => Array.from({ length: count }, (_, n) => person(`m-${n}`));

let world: RecordsInKafka;
let topic: string;
/** The table that the topic comes to. */
let expected: ReadonlyMap<string, unknown>;

/** Changes of every kind, twice of some, and a stream that is emptied for good: tombstones. */
beforeAll(async () => {
  world = await openRecordsInKafka();
  topic = `${world.prefix}.records.v1`;
  const { writer } = world;
  const origin = anOrigin();
  await writer.save(contacts, origin, [person('a'), person('b'), person('c/1 ü')]);
  await writer.save(others, origin, many(500));
  await writer.save(closed, origin, [person('gone-1'), person('gone-2')]);
  await writer.save(contacts, origin, [person('a', 'Ada'), person('b')]);
  await writer.delete(contacts, origin, [{ id: 'b' }]);
  const { offset } = await writer.barrier(contacts, origin);
  expect(offset).toBeGreaterThan(0);
  await writer.prune(contacts, 'system', { position: 3, limit: 10 });
  await writer.close(closed, 'system');
  await writer.barrier(others, origin);
  expected = await tableByTheLog();
  await distort();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Input that a consumer has to handle: a repeated change, one of a fenced writer, the filler's key. */
async function distort(): Promise<void> {
  const { log, schemas } = world;
  const codec = await schemas.codec<RecordChange>(recordsTopic);
  for (let partition = 0; partition < 2; partition++) {
    const messages = await readAll(log, recordsTopic, partition);
    const told = messages.findLast(({ value }) => value !== null);
    if (told?.value == null) continue;
    const { key, headers, value } = told;
    const change = codec.decode(value);
    const stale = codec.encode({
      ...change,
      event_id: `stale-${partition}`,
      owner_epoch: 0,
      payload: Buffer.from('{}'),
    });
    const placed = [
      { key, value, headers },
      { key, value: stale, headers },
      { key: '-', value: null, headers: {} },
    ];
    await log.append([{ topic: recordsTopic, partition, messages: placed }]);
  }
}

interface Ran {
  readonly lines: readonly string[];
  readonly errors: string;
}

async function run(command: string, args: readonly string[]): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'],
    KAFKA_BROKERS: world.brokers.join(','),
    SCHEMA_REGISTRY_URL: world.registryUrl,
    TOPIC: topic,
  };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const told = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (told.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told.err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, told.err).toBe(0);
  return { lines: told.out.split('\n').filter((line) => line !== ''), errors: told.err };
}

/** By the log's own reader. */
async function tableByTheLog(): Promise<Map<string, unknown>> {
  const codec = await world.schemas.codec<RecordChange>(recordsTopic);
  const rows = new Map<string, unknown>();
  for (let partition = 0; partition < 2; partition++) {
    for (const { key, value } of await readAll(world.log, recordsTopic, partition)) {
      if (value === null) {
        rows.delete(key);
        continue;
      }
      const { model, record_id: id, action, payload } = codec.decode(value);
      const text = payload === null ? 'null' : Buffer.from(payload).toString();
      const record = JSON.parse(text) as unknown;
      rows.set(key, { key, model, id, isDeleted: action === 'deleted', record });
    }
  }
  return rows;
}

function expectTable({ lines, errors }: Ran): void {
  const rows = new Map(
    lines.map((line) => [(JSON.parse(line) as { key: string }).key, JSON.parse(line) as unknown]),
  );
  expect(rows).toEqual(expected);
  expect(rows.size).toBe(503);
  const [deleted] = [...rows.values()].filter((row) => (row as { id: string }).id === 'b');
  expect(deleted).toMatchObject({ isDeleted: true, record: { name: 'b' } });
  const met = JSON.parse(errors.trim().split('\n').at(-1)!) as Record<string, unknown>;
  expect(met).toMatchObject({ tombstones: 2, gaps: [] });
  // One repeated change and one of a fenced writer on each partition that has changes.
  expect(met['repeats']).toBe(met['stale']);
  expect(met['repeats']).toBeGreaterThan(0);
}

describe('consumers that know nothing of the gateway', () => {
  it('kafkajs makes the table', async () => {
    expectTable(await run(process.execPath, [`${folder('node')}/records-table.ts`]));
  });

  it("Python with Confluent's client makes the same", async () => {
    const python = await pythonWith(`${folder('python')}/requirements.txt`);
    expectTable(await run(python, [`${folder('python')}/records_table.py`]));
  });

  it('kcat shows each message, with its headers and the id of its schema', async () => {
    await installKcat();
    const args = [world.brokers.join(','), topic];
    const { lines } = await run(`${folder('kcat')}/records.sh`, args);
    const shown = lines.map((line) => line.split('\t'));
    const all = await Promise.all([0, 1].map((of) => readAll(world.log, recordsTopic, of)));
    const places = all.flatMap((messages, partition) =>
      messages.map(({ offset, key }) => `${partition} ${offset} ${key}`),
    );
    expect(shown.map(([partition, offset, key]) => `${partition} ${offset} ${key}`).sort()).toEqual(
      places.sort(),
    );
    expect(shown.filter(([, , , bytes]) => bytes === '-1')).toHaveLength(4);
    const [, , , bytes, framing = '', headers] = shown.find(([, , key]) => key?.endsWith('/a'))!;
    expect(Number(bytes)).toBeGreaterThan(100);
    expect(headers).toContain('ce_type=svc.record.added');
    const id = framing.trim().split(/\s+/).at(-1);
    const response = await fetch(`${world.registryUrl}/schemas/ids/${id}`);
    const { schema } = (await response.json()) as { schema: string };
    expect(JSON.parse(schema)).toMatchObject({ type: 'record', name: 'RecordChange' });
  });

  it('ClickHouse makes the table with its Kafka engine', async () => {
    await using front = await startClickHouseFront();
    await using store = await openClickHouseStore({ url: front.url });
    const file = new URL('../../deploy/clickhouse/kafka-records.sql', import.meta.url);
    for (const statement of statementsOf(await readFile(file, 'utf8'))) {
      await store.command(
        statement
          .replace('localhost:9092', world.brokers.join(','))
          .replace('http://localhost:8081', world.registryUrl)
          .replace(recordsTopic, topic),
      );
    }
    const rowsOf = () =>
      store.queryRows<Record<string, string>>(
        `SELECT concat(environment_id, '/', connection_uid, '/', model, '/', variant, '/',
          encodeURLComponent(record_id)) AS key, model, record_id AS id, action, payload
        FROM records FINAL`,
      );
    const table = async () =>
      new Map(
        (await rowsOf()).map(({ key, action, payload, ...names }) => {
          const record = JSON.parse(payload ?? 'null') as unknown;
          return [key, { key, ...names, isDeleted: action === 'deleted', record }];
        }),
      );
    // It reads in its own time; what it has in the end is the same.
    await eventually(table, (rows) => isDeepStrictEqual(rows, expected));
    expect(await store.queryRows('SELECT count() AS live FROM records_live')).toEqual([
      { live: '502' },
    ]);
    expect(await store.queryRows('SELECT error FROM records_errors')).toEqual([]);
  });
});
