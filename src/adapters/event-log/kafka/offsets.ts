import type { ClusterMetadata } from './cluster-metadata.ts';
import { isTransient, kafkaError, KafkaFailure } from './failure.ts';
import type { BrokerConnection } from './broker-connection.ts';
import { retried } from './retry.ts';

const timeoutMs = 10_000;
const readCommitted = 1;
const latest = -1;
const earliest = -2;

/** Start and end of partitions. Topics by their Kafka names. */
export class Offsets {
  private readonly link: BrokerConnection;
  private readonly directory: ClusterMetadata;

  constructor(connection: BrokerConnection, clusterMetadata: ClusterMetadata) {
    this.link = connection;
    this.directory = clusterMetadata;
  }

  start(topic: string, partition: number): Promise<number> {
    return this.at(topic, partition, earliest);
  }

  /** The last stable offset: later messages may still be aborted. */
  end(topic: string, partition: number): Promise<number> {
    return this.at(topic, partition, latest);
  }

  /** The first offset with this time or a later one, or the end. */
  async since(topic: string, partition: number, timestamp: number): Promise<number> {
    const found = await this.at(topic, partition, Math.ceil(timestamp));
    return found >= 0 ? found : this.end(topic, partition);
  }

  /** Runs against the leader; retries with the new one when it has moved. */
  async atLeader<T>(
    topic: string,
    partition: number,
    run: (leader: number) => Promise<T>,
  ): Promise<T> {
    await this.directory.mustHave(topic, partition);
    return retried(
      async () => {
        try {
          const leader = this.directory.leader(topic, partition);
          if (leader === null) throw new KafkaFailure(leaderNotAvailable, `${topic}/${partition}`);
          return await run(leader);
        } catch (error) {
          if (isTransient(error)) await this.directory.refresh(topic);
          throw error;
        }
      },
      { timeoutMs },
    );
  }

  deleteBefore(topic: string, partition: number, offset: number): Promise<void> {
    return this.atLeader(topic, partition, async (leader) => {
      const broker = await this.link.node(leader);
      await broker.deleteRecords({
        topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }],
      });
    });
  }

  private at(topic: string, partition: number, timestamp: number): Promise<number> {
    return this.atLeader(topic, partition, async (leader) => {
      const broker = await this.link.node(leader);
      const { responses } = await broker.listOffsets({
        replicaId: -1,
        isolationLevel: readCommitted,
        topics: [{ topic, partitions: [{ partition, timestamp: String(timestamp) }] }],
      });
      const offset = responses[0]?.partitions[0]?.offset;
      if (offset === undefined) throw new KafkaFailure(kafkaError.unknownTopicOrPartition, topic);
      return Number(offset);
    });
  }
}

const leaderNotAvailable = 5;
