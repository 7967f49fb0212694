import type { GroupPositions, Position } from '#ports/event-log.ts';
import { coordinatorKind, type BrokerConnection } from './broker-connection.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { codeOf, kafkaError, KafkaFailure } from './failure.ts';
import type { MemberIdentity } from './membership.ts';
import { byTopic, committedCall } from './protocol.ts';
import { retried } from './retry.ts';

const timeoutMs = 30_000;

/** Codes by which a group with members refuses a commit from outside, or of another generation. */
const refusedBesideMembers: ReadonlySet<number | null> = new Set([
  kafkaError.unknownMember,
  kafkaError.illegalGeneration,
  kafkaError.rebalanceInProgress,
]);

/** Positions by topic, in the form of requests. */
export const topicOffsets = (positions: readonly Position[]) =>
  byTopic(positions).map(([topic, ofTopic]) => ({
    topic,
    partitions: ofTopic.map(({ partition, offset }) => ({
      partition,
      offset: String(offset),
      metadata: '',
    })),
  }));

/** Committed positions of groups. Kafka names. */
export class Positions {
  readonly #connection: BrokerConnection;
  readonly #metadata: ClusterMetadata;
  readonly #commitInTransaction: (positions: GroupPositions) => Promise<unknown>;

  /** A group with members accepts a position from outside only in a transaction. */
  constructor(
    connection: BrokerConnection,
    clusterMetadata: ClusterMetadata,
    commitInTransaction: (positions: GroupPositions) => Promise<unknown>,
  ) {
    this.#connection = connection;
    this.#metadata = clusterMetadata;
    this.#commitInTransaction = commitInTransaction;
  }

  async committed(group: string, topic: string): Promise<Map<number, number>> {
    const partitions = await this.#metadata.partitions(topic);
    return retried(() => this.#request(group, topic, partitions), { timeoutMs });
  }

  /** `member`: the group's member that commits, if this process has one. */
  async commit(consumed: GroupPositions, member: MemberIdentity | null): Promise<void> {
    const { group, positions } = consumed;
    if (positions.length === 0) return;
    for (const { topic, partition } of positions) await this.#metadata.mustHave(topic, partition);
    try {
      await retried(() => this.#send(group, positions, member), { timeoutMs });
    } catch (error) {
      if (!refusedBesideMembers.has(codeOf(error))) throw error;
      await this.#commitInTransaction(consumed);
    }
  }

  #send(
    group: string,
    positions: readonly Position[],
    member: MemberIdentity | null,
  ): Promise<unknown> {
    return this.#connection.atCoordinator(coordinatorKind.group, group, (broker) =>
      broker.offsetCommit({
        groupId: group,
        groupGenerationId: member?.generation ?? -1,
        memberId: member?.memberId ?? '',
        topics: topicOffsets(positions),
      }),
    );
  }

  #request(group: string, topic: string, partitions: number): Promise<Map<number, number>> {
    return this.#connection.atCoordinator(
      coordinatorKind.group,
      group,
      async ({ connectionPool }) => {
        const answer = await connectionPool.send(committedCall(group, topic, partitions));
        const codes = [answer.errorCode, ...answer.partitions.map(({ errorCode }) => errorCode)];
        const code = codes.find((one) => one !== kafkaError.none);
        if (code !== undefined) throw new KafkaFailure(code, `the group ${group}`);
        const found = answer.partitions.filter(({ offset }) => offset >= 0);
        return new Map(found.map(({ partition, offset }) => [partition, offset]));
      },
    );
  }
}
