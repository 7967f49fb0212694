import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { topics } from '#streams/topics.ts';
import { openLogOf } from '../processes/deployment.ts';

/** A piece of what the service keeps: where it lies, and its bytes. */
export interface Kept {
  readonly place: string;
  readonly bytes: Buffer;
}

/** Everything that a gateway which has stopped has left anywhere. */
export async function* everythingKept(dataDir: string): AsyncIterable<Kept> {
  yield* filesIn(dataDir);
  yield* messagesIn(dataDir);
  yield* rowsOfStores(dataDir);
  yield* rowsOfTables(dataDir);
  yield* keysInRedis();
}

async function filePaths(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name));
}

async function* filesIn(folder: string): AsyncIterable<Kept> {
  for (const path of await filePaths(folder)) {
    yield { place: `file ${path.slice(folder.length + 1)}`, bytes: await readFile(path) };
  }
}

/** Keys, headers and values of every topic, unpacked. */
async function* messagesIn(dataDir: string): AsyncIterable<Kept> {
  await using opened = await openLogOf(dataDir);
  const { log } = opened;
  for (const topic of Object.keys(topics)) {
    for (let partition = 0; partition < (await log.partitions(topic)); partition += 1) {
      const offset = await log.startOffset(topic, partition);
      for await (const { messages } of log.read({ topic, partition, offset })) {
        for (const { key, value, headers } of messages) {
          const text = Buffer.from(`${key} ${JSON.stringify(headers)} `);
          yield { place: `topic ${topic}`, bytes: Buffer.concat([text, value ?? Buffer.alloc(0)]) };
        }
      }
    }
  }
}

/** Views and state stores, row by row; what is packed there is unpacked. */
async function* rowsOfStores(dataDir: string): AsyncIterable<Kept> {
  for (const path of await filePaths(dataDir)) {
    if (!/\.(db|sqlite)$/.test(path) || path.startsWith(join(dataDir, 'log'))) continue;
    const db = new DatabaseSync(path, { readOnly: true });
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const name of tables.map((table) => String(table['name']))) {
      const place = `store ${path.slice(dataDir.length + 1)} ${name}`;
      const rows = db.prepare(`SELECT * FROM "${name}"`);
      rows.setReadBigInts(true);
      for (const row of rows.iterate()) {
        for (const value of Object.values(row)) yield* cell(place, value);
      }
    }
    db.close();
  }
}

const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

function* cell(place: string, value: unknown): Iterable<Kept> {
  if (typeof value === 'string') yield { place, bytes: Buffer.from(value) };
  if (!(value instanceof Uint8Array)) return;
  const bytes = Buffer.from(value);
  yield { place, bytes };
  const packed = bytes.indexOf(zstdMagic);
  if (packed >= 0) yield { place, bytes: zstdDecompressSync(bytes.subarray(packed)) };
}

async function* rowsOfTables(dataDir: string): AsyncIterable<Kept> {
  await using store = await openClickHouseStore({ url: `embedded:${join(dataDir, 'clickhouse')}` });
  const named = await store.queryRows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  for (const { name } of named) {
    const rows = await store.queryRows<object>(`SELECT * FROM \`${name}\``);
    for (const row of rows) {
      for (const value of Object.values(row)) {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        yield { place: `table ${name}`, bytes: Buffer.from(text) };
      }
    }
  }
}

/** Nothing where Coordination is in process. */
async function* keysInRedis(): AsyncIterable<Kept> {
  const url = process.env['SVC_TEST_REDIS_URL'];
  if (url === undefined) return;
  const redis = new Redis(url);
  try {
    // What is dumped must not be packed.
    await redis.config('SET', 'rdbcompression', 'no');
    for (const key of await redis.keys('*')) {
      yield {
        place: 'redis',
        bytes: Buffer.concat([Buffer.from(`${key} `), await dump(redis, key)]),
      };
    }
  } finally {
    redis.disconnect();
  }
}

/** As Redis itself serializes a value of any type; empty when it has ended meanwhile. */
async function dump(redis: Redis, key: string): Promise<Buffer> {
  const value = (await redis.dumpBuffer(key)) as Buffer | null;
  return value ?? Buffer.alloc(0);
}
