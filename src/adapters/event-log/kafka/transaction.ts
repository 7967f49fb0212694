import { GatewayError } from '#kernel/errors.ts';
import type { GroupPositions, Message, PartitionMessages, Position } from '#ports/event-log.ts';
import { fitting } from './batches.ts';
import { coordinatorKind, type BrokerConnection } from './broker-connection.ts';
import { requestTimeoutMs } from './broker-socket.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import {
  asRefusal,
  isFenced,
  isLostAnswer,
  isTransient,
  kafkaError,
  KafkaFailure,
  logUnavailable,
} from './failure.ts';
import { topicOffsets } from './positions.ts';
import type { ProducerIdentity } from './producer-identity.ts';
import { byTopic, type ProduceAnswer, produceCall, type ProducedBatch } from './protocol.ts';
import { encodeRecords, recordBatch } from './record-encoder.ts';
import { retried } from './retry.ts';

/** A commit that takes longer is given up. */
const commitTimeoutMs = 30_000;
/**
 * The coordinator aborts a transaction that is open for longer, unless a new owner did so before. Longer than a
 * commit and its last request take, because an abort looks like fencing.
 */
export const transactionTimeoutMs = commitTimeoutMs + requestTimeoutMs + 10_000;
const sequences = 2 ** 31;

export interface TransactionContext {
  readonly connection: BrokerConnection;
  readonly metadata: ClusterMetadata;
  readonly transactionalId: string;
  readonly identity: ProducerIdentity;
  /** The next sequence number of the producer, by partition. */
  readonly sequences: Map<string, number>;
}

export interface Commit {
  readonly placed: readonly PartitionMessages[];
  readonly positions: GroupPositions | undefined;
}

/** Position of the messages of one `PartitionMessages` among those of the transaction for its partition. */
interface Share {
  readonly count: number;
  readonly wrote: (offset: number) => void;
}

interface PartitionWork {
  readonly topic: string;
  readonly partition: number;
  readonly messages: Message[];
  readonly shares: Share[];
}

/** Several commits as one Kafka transaction. */
export class Transaction {
  readonly #context: TransactionContext;
  readonly #commits: readonly Commit[];
  readonly #now: number;
  readonly #produce: GatheredProduce;
  readonly #work = new Map<string, PartitionWork>();
  readonly #offsets: readonly number[][];
  readonly #deadline = performance.now() + commitTimeoutMs;

  constructor(context: TransactionContext, commits: readonly Commit[], now: number) {
    this.#context = context;
    this.#commits = commits;
    this.#produce = new GatheredProduce(context.connection, context.transactionalId);
    this.#now = now;
    this.#offsets = commits.map(({ placed }) => {
      const offsets = placed.map(() => 0);
      placed.forEach(({ topic, partition, messages }, index) => {
        if (messages.length === 0) return;
        const name = `${topic}/${partition}`;
        const task = this.#work.get(name) ?? { topic, partition, messages: [], shares: [] };
        this.#work.set(name, task);
        for (const message of messages) task.messages.push(message);
        const wrote = (offset: number): void => void (offsets[index] = offset);
        task.shares.push({ count: messages.length, wrote });
      });
      return offsets;
    });
  }

  /**
   * Resolves with the first offset of each `PartitionMessages` of each commit.
   * @throws GatewayError `writer_fenced`, `request_too_large`: the transaction has no effect; another error:
   *   unknown outcome
   */
  async commit(): Promise<readonly number[][]> {
    const positions = this.#positions();
    if (this.#work.size === 0 && positions.size === 0) return this.#offsets;
    try {
      if (this.#work.size > 0) await this.#register();
      const parts = [...this.#work.values()].map((task) => this.#write(task));
      for (const [group, ofGroup] of positions) parts.push(this.#moveGroup(group, ofGroup));
      await settled(parts);
    } catch (error) {
      if (isFenced(error)) throw fenced(error);
      if (error instanceof GatewayError && error.code === 'request_too_large')
        await this.#end(false);
      throw error;
    }
    await this.#end(true);
    return this.#offsets;
  }

  /** The last position of each group and partition. */
  #positions(): Map<string, Position[]> {
    const groups = new Map<string, Map<string, Position>>();
    for (const { positions } of this.#commits) {
      if (positions === undefined) continue;
      const group = groups.get(positions.group) ?? new Map<string, Position>();
      for (const at of positions.positions) group.set(`${at.topic}/${at.partition}`, at);
      if (group.size > 0) groups.set(positions.group, group);
    }
    return new Map([...groups].map(([group, positions]) => [group, [...positions.values()]]));
  }

  get #producer() {
    const { transactionalId, identity } = this.#context;
    const { producerId, producerEpoch } = identity;
    return { transactionalId, producerId, producerEpoch };
  }

  get #leftMs(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  #register(): Promise<unknown> {
    const topics = byTopic([...this.#work.values()]).map(([topic, work]) => ({
      topic,
      partitions: work.map(({ partition }) => partition),
    }));
    return this.#atCoordinator((broker) =>
      broker.addPartitionsToTxn({ ...this.#producer, topics }),
    );
  }

  async #write(task: PartitionWork): Promise<void> {
    const bases: { readonly from: number; readonly base: number }[] = [];
    for (let from = 0; from < task.messages.length;) {
      const { to } = fitting(task.messages, from);
      bases.push({ from, base: await this.#writeBatch(task, task.messages.slice(from, to)) });
      from = to;
    }
    let at = 0;
    for (const { count, wrote } of task.shares) {
      const { from, base } = bases.findLast((one) => one.from <= at) ?? { from: 0, base: 0 };
      wrote(base + at - from);
      at += count;
    }
  }

  async #writeBatch(task: PartitionWork, messages: readonly Message[]): Promise<number> {
    const { metadata, sequences: next } = this.#context;
    const { topic, partition } = task;
    const name = `${topic}/${partition}`;
    const sequence = next.get(name) ?? 0;
    const { producerId, producerEpoch } = this.#producer;
    const owner = { producerId, producerEpoch, sequence, isTransactional: true };
    const batch = recordBatch(encodeRecords(messages, this.#now), owner);
    const base = await retried(
      async () => {
        const leader = metadata.leader(topic, partition);
        if (leader === null) throw new KafkaFailure(leaderNotAvailable, name);
        return offsetOf(await this.#produce.send(leader, { topic, partition, batch }), topic);
      },
      {
        timeoutMs: this.#leftMs,
        onFailure: () => void metadata.refresh(topic).catch(() => 0),
      },
    );
    next.set(name, (sequence + messages.length) % sequences);
    return base;
  }

  async #moveGroup(group: string, positions: readonly Position[]): Promise<void> {
    await this.#atCoordinator((broker) =>
      broker.addOffsetsToTxn({ ...this.#producer, groupId: group }),
    );
    const topics = topicOffsets(positions);
    await retried(
      () =>
        this.#context.connection.atCoordinator(coordinatorKind.group, group, (broker) =>
          broker.txnOffsetCommit({ ...this.#producer, groupId: group, topics }),
        ),
      { timeoutMs: this.#leftMs },
    );
  }

  /** Once a response was lost, fencing no longer implies that nothing was written. */
  async #end(isCommit: boolean): Promise<void> {
    const lost: unknown[] = [];
    try {
      await this.#atCoordinator(
        (broker) => broker.endTxn({ ...this.#producer, transactionResult: isCommit }),
        (error) => lost.push(error),
      );
    } catch (error) {
      if (isFenced(error) && !lost.some(isLostAnswer)) throw fenced(error);
      throw error;
    }
  }

  #atCoordinator(
    run: Parameters<BrokerConnection['atCoordinator']>[2],
    onFailure: (error: unknown) => void = () => undefined,
  ): Promise<unknown> {
    const { connection, transactionalId } = this.#context;
    return retried(
      () => connection.atCoordinator(coordinatorKind.transaction, transactionalId, run),
      {
        timeoutMs: this.#leftMs,
        onFailure,
      },
    );
  }
}

const leaderNotAvailable = 5;

function offsetOf({ errorCode, baseOffset }: ProduceAnswer, topic: string): number {
  if (errorCode === kafkaError.none && baseOffset >= 0) return baseOffset;
  const failure = new KafkaFailure(errorCode, topic);
  if (isTransient(failure) || isFenced(failure)) throw failure;
  throw asRefusal(errorCode, topic);
}

const fenced = (cause: unknown): GatewayError => new GatewayError('writer_fenced', {}, { cause });

/** Waits for all, so that nothing is in flight when the first error is thrown. */
async function settled(parts: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(parts)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

interface PendingBatch {
  readonly batch: ProducedBatch;
  readonly answer: PromiseWithResolvers<ProduceAnswer>;
}

/**
 * Batches for one broker in one turn of the event loop go in one request: a broker processes the requests of a
 * connection sequentially. At most one batch of a partition may be in flight.
 */
class GatheredProduce {
  readonly #connection: BrokerConnection;
  readonly #transactionalId: string;
  readonly #waiting = new Map<number, PendingBatch[]>();

  constructor(connection: BrokerConnection, transactionalId: string) {
    this.#connection = connection;
    this.#transactionalId = transactionalId;
  }

  /** The leader's response for the batch, with any error code. @throws Error without a response */
  send(leader: number, batch: ProducedBatch): Promise<ProduceAnswer> {
    const answer = Promise.withResolvers<ProduceAnswer>();
    const waiting = this.#waiting.get(leader);
    if (waiting !== undefined) waiting.push({ batch, answer });
    else {
      this.#waiting.set(leader, [{ batch, answer }]);
      queueMicrotask(() => void this.#flush(leader));
    }
    return answer.promise;
  }

  async #flush(leader: number): Promise<void> {
    const sent = this.#waiting.get(leader) ?? [];
    this.#waiting.delete(leader);
    const batches = sent.map(({ batch }) => batch);
    try {
      const call = produceCall(batches, this.#transactionalId, requestTimeoutMs);
      const answers = await this.#connection.send(leader, call);
      const byName = new Map(answers.map((one) => [nameOf(one), one]));
      for (const { batch, answer } of sent) {
        const one = byName.get(nameOf(batch));
        if (one === undefined)
          answer.reject(logUnavailable(new Error('a partition is unanswered')));
        else answer.resolve(one);
      }
    } catch (error) {
      for (const { answer } of sent) answer.reject(error);
    }
  }
}

const nameOf = ({ topic, partition }: { readonly topic: string; readonly partition: number }) =>
  `${topic}/${partition}`;
