import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { Addresses, BrokerConnection } from '#adapters/event-log/kafka/broker-connection.ts';
import { retried } from '#adapters/event-log/kafka/retry.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { EventLogHarness } from '#test/contract/event-log.contract.ts';
import { ownPrefix } from '#test/services/url.ts';
import { brokersOf, openTestLog } from './kafka-open.ts';
import { readAll } from './log.ts';

/** What happens in Kafka in its own time, made to happen now. */
class KafkaOperator implements Disposable {
  readonly #connection: BrokerConnection;
  readonly #kafka: kafkajs.Kafka;
  readonly #prefix: string;

  constructor(url: string, prefix: string) {
    const brokers = brokersOf(url);
    this.#connection = new BrokerConnection({ brokers, clientId: 'test' }, new Addresses());
    this.#kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
    this.#prefix = prefix;
  }

  /** Resolves when the end that readers see is the end: nothing is in a transaction. */
  async settled(topic: string): Promise<void> {
    const { topics } = await this.#connection.metadata([this.#inKafka(topic)]);
    for (const { topic: name, leaders, errorCode } of topics) {
      if (errorCode !== 0) continue;
      for (const [partition, leader] of leaders.entries()) {
        const end = await this.#end(name, partition, leader, false);
        while ((await this.#end(name, partition, leader, true)) < end) await sleep(2);
      }
    }
  }

  /** The cleanup policy and retention of a topic, or null. */
  async config(topic: string): Promise<ReadonlyMap<string, string> | null> {
    const name = this.#inKafka(topic);
    const { topics } = await this.#connection.metadata([name]);
    if (topics[0]?.errorCode !== 0) return null;
    const broker = await this.#connection.any();
    const { resources } = await broker.describeConfigs({ resources: [{ type: 2, name }] });
    const entries = resources[0]?.configEntries ?? [];
    return new Map(entries.map((one) => [one.configName, one.configValue ?? '']));
  }

  async setRetention(topic: string, retentionMs: string): Promise<void> {
    const admin = this.#kafka.admin();
    await admin.connect();
    const configEntries = [
      { name: 'cleanup.policy', value: 'delete' },
      { name: 'retention.ms', value: retentionMs },
    ];
    const type = kafkajs.ConfigResourceTypes.TOPIC;
    const resources = [{ type, name: this.#inKafka(topic), configEntries }];
    await admin.alterConfigs({ validateOnly: false, resources });
    await admin.disconnect();
  }

  /** Closes the segment that is written, by a message that no reader ever sees. */
  async roll(topic: string): Promise<void> {
    const transactionalId = `${this.#prefix}-roll`;
    const producer = this.#kafka.producer({ transactionalId, maxInFlightRequests: 1 });
    await producer.connect();
    const transaction = await producer.transaction();
    const messages = [{ key: 'roll', value: 'roll', partition: 0 }];
    await transaction.send({ topic: this.#inKafka(topic), messages });
    await transaction.abort();
    await producer.disconnect();
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }

  /** Tried again while a broker that is to lead the partition does not know of it yet. */
  #end(topic: string, partition: number, leader: number, isCommitted: boolean) {
    const ask = async (): Promise<number> => {
      const broker = await this.#connection.node(leader);
      const { responses } = await broker.listOffsets({
        replicaId: -1,
        isolationLevel: isCommitted ? 1 : 0,
        topics: [{ topic, partitions: [{ partition, timestamp: '-1' }] }],
      });
      return Number(responses[0]?.partitions[0]?.offset);
    };
    return retried(ask, { timeoutMs: 30_000 });
  }

  #inKafka(name: string): string {
    return `${this.#prefix}-${name}`;
  }
}

/** What the suite may have changed since it last asked to settle. */
const recentNames = 12;

/**
 * The log in Kafka for the contract suite: a client for each `open`. The broker is not restarted here. One that
 * runs already should clean as often as that of test/services, or forcing retention takes minutes.
 */
export function kafkaHarness(url: () => string): EventLogHarness {
  const prefix = ownPrefix();
  const names: string[] = [];
  let operator: KafkaOperator | null = null;
  const operate = (): KafkaOperator => (operator ??= new KafkaOperator(url(), prefix));
  const open = async (): Promise<EventLog> => (await openTestLog(url(), { prefix })).log;
  const withPolicy = async (policy: string): Promise<string[]> => {
    const found: string[] = [];
    for (const name of names.slice(-recentNames)) {
      const config = await operate().config(name);
      const isKept = config?.get('retention.ms') === '-1';
      if (config?.get('cleanup.policy') === policy && !isKept) found.push(name);
    }
    return found;
  };
  return {
    open,
    name: (label) => {
      names.push(`${label}-${names.length}`);
      return names.at(-1)!;
    },
    settle: async () => {
      for (const name of names.slice(-recentNames)) await operate().settled(name);
    },
    restart: () => Promise.resolve(),
    compact: async () => {
      await using log = await open();
      for (const topic of await withPolicy('compact')) await compacted(log, operate(), topic);
    },
    expire: async () => {
      await using log = await open();
      for (const topic of await withPolicy('delete')) await expired(log, operate(), topic);
    },
    close: () => Promise.resolve(operator?.[Symbol.dispose]()),
  };
}

/**
 * Until each key is there once and no tombstone is: segments are cleaned when closed for a second, and
 * tombstones go in a later pass than the messages before them.
 */
async function compacted(log: EventLog, operator: KafkaOperator, topic: string): Promise<void> {
  for (;;) {
    const messages = await readAll(log, topic);
    const keys = new Set(messages.map(({ key }) => key));
    const hasTombstone = messages.some(({ value }) => value === null);
    if (keys.size === messages.length && !hasTombstone) return;
    await sleep(1_100); // the lag and the time of tombstones of the suite's topics are a second
    await operator.roll(topic);
    await operator.settled(topic);
  }
}

async function expired(log: EventLog, operator: KafkaOperator, topic: string): Promise<void> {
  const retentionMs = (await operator.config(topic))?.get('retention.ms') ?? '';
  await operator.setRetention(topic, '1');
  while ((await log.startOffset(topic, 0)) < (await log.endOffset(topic, 0))) await sleep(50);
  await operator.setRetention(topic, retentionMs);
}
