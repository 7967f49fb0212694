/**
 * The log in Kafka, and records saved through it, beside the bare Kafka client on the same broker, which it starts:
 * `node test/bench/kafka.ts [messages]`. Prints its figures as one line of JSON; `_pct` are of the bare client's best
 * rate.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { openKafkaLog } from '#adapters/event-log/kafka/open.ts';
import type { EventLog, Message, PartitionMessages } from '#ports/event-log.ts';
import { startKafka } from '#test/services/kafka.ts';
import { startRedis } from '#test/services/redis.ts';
import { startRegistry } from '#test/services/registry.ts';
import { percentile, report, round, seconds, withFolder, type Figures } from './measure.ts';
import { startNode } from './node.ts';
import { contact } from './payloads.ts';
import { batchesOf, named, rates } from './save-rates.ts';

const messages = Number(process.argv[2] ?? 200_000);
const perCall = 1000;
const callsUnderWay = 5;
const partitions = 8;

const calls: Message[][] = Array.from({ length: messages / perCall }, (_, call) =>
  Array.from({ length: perCall }, (_, at) => {
    const record = contact(call * perCall + at);
    const headers = { ce_type: 'svc.record.updated', 'svc-seq': String(at) };
    return { key: String(record['id']), value: Buffer.from(JSON.stringify(record)), headers };
  }),
);

/** Runs `work` for each number below `count`, `width` at a time. */
async function inTurn(count: number, width: number, work: (nth: number) => Promise<unknown>) {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let nth = next++; nth < count; nth = next++) await work(nth);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

const perSecond = async (count: number, work: () => Promise<unknown>): Promise<number> =>
  Math.round(count / (await seconds(work)));

async function bareClient(
  broker: string,
  topic: string,
  compression: kafkajs.CompressionTypes,
): Promise<number> {
  const kafka = new kafkajs.Kafka({ brokers: [broker], logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: callsUnderWay });
  await producer.connect();
  const rate = await perSecond(messages, () =>
    inTurn(calls.length, callsUnderWay, (nth) => {
      const batch = (calls[nth] ?? []).map(({ key, value, headers }) => ({
        key,
        headers,
        partition: nth % partitions,
        value: value === null ? null : Buffer.from(value),
      }));
      return producer.send({ topic, acks: -1, compression, messages: batch });
    }),
  );
  await producer.disconnect();
  return rate;
}

const placed = (
  topic: string,
  partition: number,
  some: readonly Message[],
): PartitionMessages[] => [{ topic, partition, messages: some }];

const appendCalls = (log: EventLog, topic: string, spread: number): Promise<number> =>
  perSecond(messages, () =>
    inTurn(calls.length, callsUnderWay, (nth) =>
      log.append(placed(topic, nth % spread, calls[nth] ?? [])),
    ),
  );

/** One message per call: alone, and a hundred at a time. */
async function singles(log: EventLog, topic: string) {
  const all = calls.flat().slice(0, 20_000);
  const one = (nth: number) => log.append(placed(topic, nth % partitions, [all[nth] as Message]));
  const samples: number[] = [];
  for (let nth = 0; nth < 500; nth++) samples.push(1000 * (await seconds(() => one(nth))));
  return {
    append_1_message_ms_p50: round(percentile(samples, 50)),
    append_1_message_ms_p99: round(percentile(samples, 99)),
    append_1_message_100_under_way_per_s: await perSecond(all.length, () =>
      inTurn(all.length, 100, one),
    ),
  };
}

/** Transactions of ten messages and a position. */
async function commits(log: EventLog, topic: string) {
  await using writer = await log.openWriter('bench');
  const some = calls[0]?.slice(0, 10) ?? [];
  const commit = (nth: number) =>
    writer.commit(placed(topic, 0, some), {
      group: 'bench',
      positions: [{ topic, partition: 0, offset: nth }],
    });
  const samples: number[] = [];
  const rate = await perSecond(300, async () => {
    for (let nth = 0; nth < 300; nth++) samples.push(1000 * (await seconds(() => commit(nth))));
  });
  return {
    commits_per_s: rate,
    commit_ms_p50: round(percentile(samples, 50)),
    commit_ms_p99: round(percentile(samples, 99)),
    commits_20_under_way_per_s: await perSecond(3000, () => inTurn(3000, 20, commit)),
  };
}

async function followAll(log: EventLog, topic: string, count: number): Promise<number> {
  const abort = new AbortController();
  const from = Array.from({ length: count }, (_, partition) => ({ topic, partition, offset: 0 }));
  let left = messages;
  return perSecond(messages, async () => {
    for await (const batch of log.follow(from, { signal: abort.signal })) {
      left -= batch.messages.length;
      if (left <= 0) abort.abort();
    }
  });
}

const readAll = (log: EventLog, topic: string): Promise<number> =>
  perSecond(messages, async () => {
    for await (const _ of log.read({ topic, partition: 0, offset: 0 }));
  });

/** Of one processor core, with a follower of every partition and a group member, and nothing to do. */
async function idle(log: EventLog, topic: string): Promise<number> {
  const abort = new AbortController();
  const from = Array.from({ length: partitions }, (_, partition) => ({
    topic,
    partition,
    offset: messages,
  }));
  const following = (async () => {
    for await (const _ of log.follow(from, { signal: abort.signal }));
  })();
  const handler = { assigned: () => undefined, revoked: () => undefined };
  const member = await log.join('idle', [topic], handler);
  await sleep(1000);
  const before = process.cpuUsage();
  await sleep(5000);
  const { user, system } = process.cpuUsage(before);
  abort.abort();
  await following;
  await member[Symbol.asyncDispose]();
  return round((user + system) / 50_000);
}

/** New records saved by a whole gateway over Kafka, registry and Redis: by one and by four writers. */
async function saves(kafkaUrl: string, mode: 'plain' | 'sealed', best: number): Promise<Figures> {
  await using registry = await startRegistry();
  await using redis = await startRedis();
  const env = {
    SVC_LOG_URL: kafkaUrl,
    SVC_REGISTRY_URL: registry.url,
    SVC_REDIS_URL: redis.url,
    SVC_TOPIC_PREFIX: `bench-${randomUUID().slice(0, 8)}`,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  const fresh = batchesOf((index) => contact(index), messages);
  const figures: Record<string, number> = {};
  await withFolder(async (folder) => {
    await using node = await startNode(folder, mode, env);
    const { writer } = node.running.services.records;
    for (const writers of [1, 4]) {
      const streams = await Promise.all(Array.from({ length: writers }, () => node.newStream()));
      const rate = await rates(node, streams, fresh, (stream, origin, batch) =>
        writer.save(stream, origin, batch),
      );
      const prefix = `${mode}_save_${writers}`;
      Object.assign(figures, named(prefix, rate));
      figures[`${prefix}_acknowledged_pct`] = round((100 * rate.acknowledged) / best, 1);
    }
  });
  return figures;
}

async function main(): Promise<void> {
  await using kafka = await startKafka();
  const broker = kafka.url.replace('kafka://', '');
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  const compress = promisify(zstdCompress);
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => compress(buffer, { params }),
    decompress: () => Promise.reject(new Error('The bare client only produces here.')),
  });
  const prefix = `bench-${randomUUID().slice(0, 8)}`;
  await using opened = await openKafkaLog({ brokers: [broker], prefix });
  const { log } = opened;
  const names = ['bare', 'bare-zstd', 'eight', 'one', 'singles', 'commits'];
  const cleanup = { policy: 'none' } as const;
  await log.ensureTopics(names.map((name) => ({ name, partitions, cleanup })));
  const bare = await bareClient(broker, `${prefix}-bare`, kafkajs.CompressionTypes.None);
  const packed = await bareClient(broker, `${prefix}-bare-zstd`, kafkajs.CompressionTypes.ZSTD);
  const best = Math.max(bare, packed);
  const eight = await appendCalls(log, 'eight', partitions);
  const one = await appendCalls(log, 'one', 1);
  report({
    client_produces_per_s: bare,
    client_produces_zstd_per_s: packed,
    append_8_partitions_per_s: eight,
    append_8_partitions_pct: round((100 * eight) / best, 1),
    append_1_partition_per_s: one,
    append_1_partition_pct: round((100 * one) / best, 1),
    ...(await singles(log, 'singles')),
    ...(await commits(log, 'commits')),
    follow_8_partitions_per_s: await followAll(log, 'eight', partitions),
    follow_1_partition_per_s: await followAll(log, 'one', 1),
    read_1_partition_per_s: await readAll(log, 'one'),
    idle_cpu_pct: await idle(log, 'singles'),
    ...(await saves(kafka.url, 'plain', best)),
    ...(await saves(kafka.url, 'sealed', best)),
  });
}

await main();
