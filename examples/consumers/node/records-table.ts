import { randomUUID } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import kafkajs, { type KafkaMessage } from 'kafkajs';

/** The fields of `svc.records.v1` that a table needs; see docs/reference/topics.md for all. */
interface Change {
  readonly event_id: string;
  readonly model: string;
  readonly record_id: string;
  readonly action: string;
  readonly stream_seq: number;
  readonly stream_generation: string;
  readonly owner_epoch: number;
  readonly occurred_at: number;
  readonly payload: Buffer | null;
  readonly payload_encoding: string;
}

/** A row, or why there is none. */
interface Row {
  readonly model: string;
  readonly id: string;
  readonly isDeleted: boolean;
  /** Null when it was pruned, or is sealed. */
  readonly record: unknown;
}

const dayMicros = 86_400_000_000;
const idsKept = 100_000;

/** The table, and what was met on the way. */
class RecordsTable {
  readonly rows = new Map<string, Row>();
  readonly met = { changes: 0, repeats: 0, stale: 0, tombstones: 0, gaps: [] as string[] };
  readonly #seen = new Set<string>();
  readonly #epochs = new Map<number, number>();
  readonly #streams = new Map<string, { generation: string; seq: number }>();

  tombstone(key: string): void {
    this.met.tombstones++;
    this.rows.delete(key);
  }

  apply(partition: number, key: string, stream: string, change: Change): void {
    const epoch = this.#epochs.get(partition) ?? 0;
    if (change.owner_epoch < epoch) {
      this.met.stale++;
      return;
    }
    this.#epochs.set(partition, change.owner_epoch);
    if (this.#seen.has(change.event_id)) {
      this.met.repeats++;
      return;
    }
    this.#remember(change.event_id);
    this.#count(stream, change);
    this.met.changes++;
    this.rows.set(key, rowOf(change));
  }

  #remember(id: string): void {
    this.#seen.add(id);
    const [oldest] = this.#seen;
    if (this.#seen.size > idsKept && oldest !== undefined) this.#seen.delete(oldest);
  }

  #count(
    stream: string,
    { stream_generation: generation, stream_seq: seq, occurred_at: at }: Change,
  ): void {
    const before = this.#streams.get(stream);
    this.#streams.set(stream, { generation, seq });
    if (before?.generation !== generation || seq === before.seq + 1) return;
    const ageDays = (Date.now() * 1000 - at) / dayMicros;
    if (ageDays < 28) this.met.gaps.push(`${stream}: ${before.seq} to ${seq}`);
  }
}

function rowOf({ model, record_id: id, action, payload, payload_encoding: encoding }: Change): Row {
  const record =
    payload !== null && encoding === 'json' ? (JSON.parse(payload.toString()) as unknown) : null;
  return { model, id, isDeleted: action === 'deleted', record };
}

kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
  compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer),
  decompress: async (buffer: Buffer) => zstdDecompressSync(buffer),
});

/** Reads the topic to where it ends at the call. */
async function readTable(
  brokers: string[],
  registryUrl: string,
  topic: string,
): Promise<RecordsTable> {
  const kafka = new kafkajs.Kafka({
    brokers,
    clientId: 'records-table',
    logLevel: kafkajs.logLevel.ERROR,
  });
  const registry = new SchemaRegistry({ host: registryUrl });
  const table = new RecordsTable();
  const admin = kafka.admin();
  await admin.connect();
  const ends = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const left = new Map(
    ends
      .filter(({ low, high }) => low !== high)
      .map(({ partition, high }) => [partition, Number(high)]),
  );
  if (left.size === 0) return table;

  // Without a commit the next start reads from the beginning again.
  const consumer = kafka.consumer({
    groupId: `data.records-table.${randomUUID()}`,
    readUncommitted: false,
  });
  const { promise: atEnd, resolve, reject } = Promise.withResolvers<undefined>();
  // Called for every batch, also for one that has only transaction markers.
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
    if (Number(lastOffset) + 1 >= (left.get(partition) ?? 0)) left.delete(partition);
    if (left.size === 0) resolve(undefined);
  });
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => reject(error));
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch: { partition, messages } }) => {
      for (const message of messages) await take(table, registry, partition, message);
    },
  });
  await atEnd;
  await consumer.disconnect();
  return table;
}

async function take(
  table: RecordsTable,
  registry: SchemaRegistry,
  partition: number,
  { key, value, headers = {} }: KafkaMessage,
): Promise<void> {
  const name = String(key);
  if (name === '-') return;
  if (value === null) {
    table.tombstone(name);
    return;
  }
  table.apply(
    partition,
    name,
    String(headers['svc-stream']),
    (await registry.decode(value)) as Change,
  );
}

if (import.meta.main) {
  const {
    KAFKA_BROKERS: brokers = 'localhost:9092',
    SCHEMA_REGISTRY_URL: registry = 'http://localhost:8081',
    TOPIC: topic = 'svc.records.v1',
  } = process.env;
  const { rows, met } = await readTable(brokers.split(','), registry, topic);
  for (const [key, row] of rows) console.log(JSON.stringify({ key, ...row }));
  console.error(JSON.stringify(met));
}
