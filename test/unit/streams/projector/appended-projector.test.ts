import { expect, it } from 'vitest';
import { AvroCodec, schemaText } from '#adapters/event-log/avro-codec.ts';
import { migrate } from '#adapters/projection-store/migrate.ts';
import { systemClock } from '#kernel/time.ts';
import type { LogEntry } from '#modules/operations/logs/events.ts';
import { logs } from '#modules/operations/logs/projection.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import { startAppendedProjector, verifyAppended } from '#streams/projector/appended-projector.ts';
import { holdInserts } from '#test/support/fakes/held-inserts.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { silent } from '#test/support/worlds/control.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();
const partitions = 2;
const codec = new AvroCodec<LogEntry>(schemaText(logs.topic), 1, () => null);
const log = new MemoryLog(logs.topic, partitions);
const verify = { log, store, partitions };
const never = new AbortController().signal;

function entry(n: number): LogEntry {
  return {
    event_id: `e${n}`,
    type: 'svc.log.entry',
    occurred_at: systemClock.nowMicros(),
    environment_id: 'env',
    integration: 'crm',
    connection_id: 'acme',
    actor: 'system',
    run_id: null,
    operation_id: `o${n % 7}`,
    level: 'info',
    message: `line\t${n}\n`,
    operation_type: null,
    state: null,
    started_at: null,
    function: null,
    source: 'user',
    context: null,
  };
}

const append = (from: number, count: number): void => {
  for (let n = from; n < from + count; n++) {
    const value = codec.encode(entry(n));
    log.append(n % partitions, [{ key: `env/o${n % 7}`, value, headers: {} }], Date.now());
  }
};

async function start(
  generation: number,
  into: ProjectionStore,
  advanced: (partition: number, next: number) => void,
) {
  const tables = logs.tableSet(generation);
  await migrate(store, tables.migrations);
  return startAppendedProjector({
    log,
    store: into,
    projection: logs,
    tables,
    codec,
    clock: systemClock,
    logger: silent,
    partitions,
    advanced,
    pacePercent: () => 100,
  });
}

/** Feeds the generation until it has read all that is there. */
async function feed(generation: number): Promise<void> {
  const next = new Map<number, number>();
  await using projector = await start(generation, store, (partition, at) => {
    next.set(partition, at);
  });
  projector.stopped.catch(() => undefined);
  const ends = await Promise.all([0, 1].map((at) => log.endOffset(logs.topic, at)));
  await eventually(
    () => Promise.resolve(ends.every((end, at) => (next.get(at) ?? 0) >= end)),
    (isRead) => isRead,
  );
}

const rowsOf = async (table: string) =>
  (
    await store.queryRows<{ message: string }>(`SELECT message FROM ${table} ORDER BY event_id`)
  ).map(({ message }) => message);

it('writes each message once, over restarts, and leaves out what cannot be read', async () => {
  append(0, 30);
  log.append(0, [{ key: 'env/o1', value: Buffer.from('nonsense'), headers: {} }]);
  await feed(1);
  append(30, 15);
  await feed(1);
  expect((await rowsOf('logs')).sort()).toEqual(
    Array.from({ length: 45 }, (_, n) => `line\t${n}\n`).sort(),
  );
});

it('is rebuilt beside the one that is read, and compared row by row', async () => {
  await feed(1);
  await feed(2);
  const generations = { expected: 1, found: 2 };
  const parts = Object.values(await verifyAppended(verify, logs, generations, never));
  expect(
    parts.map(({ expectedRows, foundRows, differences }) => [expectedRows, foundRows, differences]),
  ).toEqual([
    [23, 23, 0],
    [22, 22, 0],
  ]);
  await store.command(
    "ALTER TABLE logs_g2 DELETE WHERE event_id = 'e3' SETTINGS mutations_sync = 2",
  );
  const found = Object.values(await verifyAppended(verify, logs, generations, never));
  expect(found.map(({ differences }) => differences)).toEqual([0, 1]);
  expect(found[1]?.examples).toMatchObject([{ expectedRows: 1, foundRows: 0, expectedLast: 1 }]);
});

it('stops while more is read than one insert takes', async () => {
  const held = holdInserts(store, 'logs_g3');
  log.batchSize = 1000;
  const before = log.followed;
  const projector = await start(3, held.store, () => undefined);
  await held.inserting;
  append(45, 42_000);
  // Those of the insert that waits, 20,000 that fill the next one, and some that have no room.
  await eventually(
    () => Promise.resolve(log.followed - before),
    (batches) => batches >= 23,
  );
  const stopped = projector[Symbol.asyncDispose]();
  held.release();
  await stopped;
  expect(await rowsOf('logs_g3')).toHaveLength(45);
});
