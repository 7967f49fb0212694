import type { BrokerConnection } from './broker-connection.ts';
import { codeOf, kafkaError, KafkaFailure, unknownTopic } from './failure.ts';
import { retried } from './retry.ts';

/** How long the brokers may take to describe a topic. */
const metadataTimeoutMs = 10_000;

/** Topics by their Kafka name: the number of partitions, and the leader of each. */
export class ClusterMetadata {
  readonly #connection: BrokerConnection;
  readonly #topics = new Map<string, readonly number[]>();
  readonly #refreshing = new Map<string, Promise<readonly number[]>>();

  constructor(connection: BrokerConnection) {
    this.#connection = connection;
  }

  /**
   * The number of partitions.
   * @throws GatewayError `unknown_topic`, or `log_unavailable` when no broker responds in time
   */
  async partitions(topic: string): Promise<number> {
    return (this.#topics.get(topic) ?? (await this.refresh(topic))).length;
  }

  /** As `partitions`, if cached. */
  knownPartitions(topic: string): number | undefined {
    return this.#topics.get(topic)?.length;
  }

  /** @throws GatewayError `unknown_topic` */
  async mustHave(topic: string, partition: number): Promise<void> {
    const count = this.knownPartitions(topic) ?? (await this.partitions(topic));
    if (partition < 0 || partition >= count) throw unknownTopic(`${topic}/${partition}`);
  }

  /** The node that leads the partition, or null without a known leader. */
  leader(topic: string, partition: number): number | null {
    const leader = this.#topics.get(topic)?.[partition] ?? -1;
    return leader < 0 ? null : leader;
  }

  /** Queries the brokers again; concurrent calls share the response. */
  refresh(topic: string): Promise<readonly number[]> {
    const present = this.#refreshing.get(topic);
    if (present !== undefined) return present;
    const partitions = this.#askLong(topic).finally(() => this.#refreshing.delete(topic));
    this.#refreshing.set(topic, partitions);
    return partitions;
  }

  async #askLong(topic: string): Promise<readonly number[]> {
    try {
      return await retried(() => this.#load(topic), { timeoutMs: metadataTimeoutMs });
    } catch (error) {
      if (codeOf(error) !== kafkaError.unknownTopicOrPartition) throw error;
      this.#topics.delete(topic);
      throw unknownTopic(topic);
    }
  }

  async #load(topic: string): Promise<readonly number[]> {
    const { topics } = await this.#connection.metadata([topic]);
    const found = topics.find((one) => one.topic === topic);
    const code = found?.errorCode ?? kafkaError.unknownTopicOrPartition;
    // A broker that has just started may not know an existing topic yet.
    const isNew = !this.#topics.has(topic);
    if (code === kafkaError.unknownTopicOrPartition && isNew) throw unknownTopic(topic);
    if (code !== kafkaError.none || found === undefined) throw new KafkaFailure(code, topic);
    this.#topics.set(topic, found.leaders);
    return found.leaders;
  }
}
