import { partitionNumbers } from '#kernel/partition.ts';
import type { BrokerConnection } from './broker-connection.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { isTransient, kafkaError, KafkaFailure } from './failure.ts';
import { retried } from './retry.ts';

const timeoutMs = 10_000;
const readCommitted = 1;
const latest = -1;
const earliest = -2;

/** Start and end of partitions. Topics by their Kafka names. */
export class Offsets {
  readonly #connection: BrokerConnection;
  readonly #metadata: ClusterMetadata;

  constructor(connection: BrokerConnection, clusterMetadata: ClusterMetadata) {
    this.#connection = connection;
    this.#metadata = clusterMetadata;
  }

  start(topic: string, partition: number): Promise<number> {
    return this.#at(topic, partition, earliest);
  }

  /** The last stable offset: later messages may still be aborted. */
  end(topic: string, partition: number): Promise<number> {
    return this.#at(topic, partition, latest);
  }

  /** The starts of all partitions of the topic, by number. */
  starts(topic: string): Promise<readonly number[]> {
    return this.#ofTopic(topic, earliest);
  }

  /** The ends of all partitions of the topic, by number. */
  ends(topic: string): Promise<readonly number[]> {
    return this.#ofTopic(topic, latest);
  }

  /** The first offset with this time or a later one, or the end. */
  async since(topic: string, partition: number, timestamp: number): Promise<number> {
    // To a broker, a negative time has a meaning of its own, such as the end.
    if (timestamp < 0) return this.start(topic, partition);
    const found = await this.#at(topic, partition, Math.ceil(timestamp));
    return found >= 0 ? found : this.end(topic, partition);
  }

  /** Runs against the leader; retries with the new one when it has moved. */
  async atLeader<T>(
    topic: string,
    partition: number,
    run: (leader: number) => Promise<T>,
  ): Promise<T> {
    await this.#metadata.mustHave(topic, partition);
    return this.#withLeaders(topic, async () => run(this.#leaderOf(topic, partition)));
  }

  deleteBefore(topic: string, partition: number, offset: number): Promise<void> {
    return this.atLeader(topic, partition, async (leader) => {
      const broker = await this.#connection.node(leader);
      await broker.deleteRecords({
        topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }],
      });
    });
  }

  #at(topic: string, partition: number, timestamp: number): Promise<number> {
    return this.atLeader(topic, partition, async (leader) => {
      const offsets = await this.#list(leader, topic, [partition], timestamp);
      return found(offsets, topic, partition);
    });
  }

  /** One request to each leader. */
  async #ofTopic(topic: string, timestamp: number): Promise<readonly number[]> {
    const numbers = partitionNumbers(await this.#metadata.partitions(topic));
    return this.#withLeaders(topic, async () => {
      const led = Map.groupBy(numbers, (partition) => this.#leaderOf(topic, partition));
      const listed = [...led].map(([leader, partitions]) =>
        this.#list(leader, topic, partitions, timestamp),
      );
      const offsets = new Map((await Promise.all(listed)).flatMap((one) => [...one]));
      return numbers.map((partition) => found(offsets, topic, partition));
    });
  }

  /** Offsets of partitions that the node leads, by partition. */
  async #list(
    leader: number,
    topic: string,
    numbers: readonly number[],
    timestamp: number,
  ): Promise<ReadonlyMap<number, number>> {
    const broker = await this.#connection.node(leader);
    const partitions = numbers.map((partition) => ({ partition, timestamp: String(timestamp) }));
    const { responses } = await broker.listOffsets({
      replicaId: -1,
      isolationLevel: readCommitted,
      topics: [{ topic, partitions }],
    });
    const listed = responses[0]?.partitions ?? [];
    return new Map(listed.map(({ partition, offset }) => [partition, Number(offset)]));
  }

  #leaderOf(topic: string, partition: number): number {
    const leader = this.#metadata.leader(topic, partition);
    if (leader === null) throw new KafkaFailure(leaderNotAvailable, `${topic}/${partition}`);
    return leader;
  }

  /** Retries with the leaders of the moment when one has moved. */
  #withLeaders<T>(topic: string, run: () => Promise<T>): Promise<T> {
    return retried(
      async () => {
        try {
          return await run();
        } catch (error) {
          if (isTransient(error)) await this.#metadata.refresh(topic);
          throw error;
        }
      },
      { timeoutMs },
    );
  }
}

const leaderNotAvailable = 5;

function found(offsets: ReadonlyMap<number, number>, topic: string, partition: number): number {
  const offset = offsets.get(partition);
  if (offset === undefined) {
    throw new KafkaFailure(kafkaError.unknownTopicOrPartition, `${topic}/${partition}`);
  }
  return offset;
}
