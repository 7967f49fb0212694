import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { sizeOf } from './batches.ts';
import { coordinatorKind, type BrokerConnection } from './broker-connection.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { logClosed, logUnavailable } from './failure.ts';
import { retried } from './retry.ts';
import {
  Transaction,
  type Commit,
  type TransactionContext,
  transactionTimeoutMs,
} from './transaction.ts';

/** How long pending commits may take when the writer is closed; then they are aborted. */
const endTimeoutMs = 5_000;
/** Bytes of one transaction, so that a follower does not wait long for its end. A single commit may exceed it. */
const groupBytesMax = 4 * 1024 ** 2;

interface QueuedCommit extends Commit {
  readonly bytes: number;
  readonly answer: PromiseWithResolvers<number[]>;
}

/**
 * The only writer of a transactional id. Waiting commits become one transaction; a refused one is removed and the
 * others are retried alone. After a failure with an unknown outcome it accepts no more commits: opening the writer
 * again ends the open transaction.
 */
export class KafkaWriter implements AsyncDisposable {
  readonly #context: TransactionContext;
  readonly #metadata: ClusterMetadata;
  readonly #clock: Clock;
  readonly #queue: QueuedCommit[] = [];
  #running: Promise<void> | null = null;
  #failure: GatewayError | null = null;

  constructor(context: TransactionContext, clusterMetadata: ClusterMetadata, clock: Clock) {
    this.#context = context;
    this.#metadata = clusterMetadata;
    this.#clock = clock;
  }

  /** Kafka names. Resolves with the offset of the first message of each. */
  commit({ placed, positions }: Commit): Promise<number[]> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const answer = Promise.withResolvers<number[]>();
    let bytes = 0;
    for (const { messages } of placed) for (const message of messages) bytes += sizeOf(message);
    this.#queue.push({ placed, positions, bytes, answer });
    this.#running ??= this.#run();
    return answer.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#running !== null) {
      await Promise.race([this.#running, sleep(endTimeoutMs, undefined, { ref: false })]);
    }
    this.#failure ??= logClosed();
    this.#context.connection[Symbol.dispose]();
  }

  async #run(): Promise<void> {
    // Commits of the same turn of the event loop go together.
    await Promise.resolve();
    while (this.#queue.length > 0 && this.#failure === null)
      await this.#together(this.#takeGroup());
    for (const { answer } of this.#queue.splice(0)) answer.reject(this.#failure ?? logClosed());
    this.#running = null;
  }

  #takeGroup(): QueuedCommit[] {
    let bytes = 0;
    let count = 0;
    for (const queued of this.#queue) {
      bytes += queued.bytes;
      if (count > 0 && bytes > groupBytesMax) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  async #together(group: readonly QueuedCommit[]): Promise<void> {
    const existing = await this.#withKnownTopics(group);
    if (existing.length === 0) return;
    const transaction = new Transaction(this.#context, existing, this.#clock.now());
    try {
      const offsets = await transaction.commit();
      existing.forEach(({ answer }, i) => answer.resolve(offsets[i] ?? []));
    } catch (error) {
      await this.#failed(existing, error);
    }
  }

  async #failed(group: readonly QueuedCommit[], error: unknown): Promise<void> {
    if (!isRefusal(error)) this.#failure = asFinal(error);
    else if (group.length > 1) {
      for (const queued of group) if (this.#failure === null) await this.#together([queued]);
    }
    const failure = this.#failure;
    // Most of those that were retried alone are settled already.
    for (const { answer } of group) answer.reject(failure ?? error);
  }

  async #withKnownTopics(group: readonly QueuedCommit[]): Promise<QueuedCommit[]> {
    const existing: QueuedCommit[] = [];
    for (const queued of group) {
      try {
        for (const { topic, partition } of [
          ...queued.placed,
          ...(queued.positions?.positions ?? []),
        ]) {
          await this.#metadata.mustHave(topic, partition);
        }
        existing.push(queued);
      } catch (error) {
        queued.answer.reject(error);
      }
    }
    return existing;
  }
}

/** The transaction was certainly aborted, and the writer continues. */
const isRefusal = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'request_too_large';

const asFinal = (error: unknown): GatewayError =>
  error instanceof GatewayError ? error : logUnavailable(error);

const timeoutMs = 30_000;

/**
 * Fences the former owner of the transactional id, and ends its open transaction: when this resolves, none of its
 * messages can appear any more.
 */
export async function openWriter(
  {
    connection,
    transactionalId,
  }: { readonly connection: BrokerConnection; readonly transactionalId: string },
  clusterMetadata: ClusterMetadata,
  clock: Clock,
): Promise<KafkaWriter> {
  try {
    const identity = await retried(
      () =>
        connection.atCoordinator(coordinatorKind.transaction, transactionalId, (broker) =>
          broker.initProducerId({ transactionalId, transactionTimeout: transactionTimeoutMs }),
        ),
      { timeoutMs },
    );
    const context = {
      connection,
      metadata: clusterMetadata,
      transactionalId,
      identity,
      sequences: new Map(),
    };
    return new KafkaWriter(context, clusterMetadata, clock);
  } catch (error) {
    connection[Symbol.dispose]();
    throw error;
  }
}
