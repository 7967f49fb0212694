import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '#kernel/time.ts';
import type { PartitionMessages } from '#ports/event-log.ts';
import type { BrokerConnection } from './broker-connection.ts';
import { requestTimeoutMs } from './broker-socket.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import {
  asRefusal,
  isTransient,
  KafkaFailure,
  kafkaError,
  logClosed,
  logUnavailable,
} from './failure.ts';
import { PartitionBatcher, PendingAppend } from './partition-batcher.ts';
import { Identities } from './producer-identity.ts';
import { produceCall, type ProduceAnswer, type ProducedBatch } from './protocol.ts';
import { recordBatch } from './record-encoder.ts';
import { pauseMs } from './retry.ts';

/** Requests in flight to one broker: while it processes one, the next is prepared. */
const requestsMax = 2;
const requestBytesMax = 4 * 1024 ** 2;

/** Errors after which the broker has lost the sequence: harmless unless a response was lost. */
const sequenceErrors: ReadonlySet<number> = new Set([
  kafkaError.outOfOrderSequence,
  kafkaError.unknownProducerId,
  kafkaError.invalidProducerEpoch,
  kafkaError.invalidProducerIdMapping,
]);

/**
 * Appends without a transaction. Messages that arrive during a request go into the next one, so that many small
 * appends cost few requests. A batch whose response is lost is sent again under its sequence number until the
 * broker reports its outcome.
 */
export class Appender {
  readonly #connection: BrokerConnection;
  readonly #metadata: ClusterMetadata;
  readonly #clock: Clock;
  readonly #identities: Identities;
  readonly #lanes = new Map<string, PartitionBatcher>();
  readonly #ready = new Set<PartitionBatcher>();
  /** Batchers that retry after a pause. */
  readonly #waiting = new Set<PartitionBatcher>();
  readonly #requests = new Map<number, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isScheduled = false;
  #isClosed = false;

  constructor(connection: BrokerConnection, clusterMetadata: ClusterMetadata, clock: Clock) {
    this.#connection = connection;
    this.#metadata = clusterMetadata;
    this.#clock = clock;
    this.#identities = new Identities(connection);
  }

  /** Topics by their Kafka names, known to the metadata. Resolves with the first offset of each. */
  append(batch: readonly PartitionMessages[], timeoutMs: number): Promise<number[]> {
    if (this.#isClosed) return Promise.reject(logClosed());
    const all = batch.map(({ topic, partition, messages }) => {
      const pending = new PendingAppend(messages);
      const batcher = this.#batcherOf(topic, partition);
      if (messages.length === 0) pending.written.resolve(batcher.end);
      else batcher.add(pending);
      this.#ready.add(batcher);
      return pending;
    });
    this.#schedule();
    const timer = setTimeout(() => {
      const error = logUnavailable(new Error(`no answer within ${timeoutMs} ms`));
      for (const pending of all) pending.fail(error);
    }, timeoutMs);
    return Promise.all(all.map(({ written }) => written.promise)).finally(() =>
      clearTimeout(timer),
    );
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const batcher of this.#lanes.values()) batcher.failAll(logClosed());
  }

  #batcherOf(topic: string, partition: number): PartitionBatcher {
    const name = `${topic}/${partition}`;
    let batcher = this.#lanes.get(name);
    if (batcher === undefined) {
      batcher = new PartitionBatcher(topic, partition, this.#identities);
      this.#lanes.set(name, batcher);
    }
    return batcher;
  }

  /** Once for all appends of this turn of the event loop. */
  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#startRequests();
    });
  }

  #startRequests(): void {
    const byLeader = new Map<number, PartitionBatcher[]>();
    for (const batcher of this.#ready) {
      if (batcher.isBusy || !batcher.hasWork) {
        this.#ready.delete(batcher);
        continue;
      }
      const leader = this.#metadata.leader(batcher.topic, batcher.partition);
      if (leader === null) this.#later(batcher);
      else byLeader.set(leader, [...(byLeader.get(leader) ?? []), batcher]);
    }
    for (const [leader, batchers] of byLeader) {
      if ((this.#requests.get(leader) ?? 0) >= requestsMax) continue;
      this.#requests.set(leader, (this.#requests.get(leader) ?? 0) + 1);
      for (const lane of batchers) this.#take(lane);
      void this.#request(leader, batchers).finally(() => {
        this.#requests.set(leader, (this.#requests.get(leader) ?? 1) - 1);
        this.#schedule();
      });
    }
  }

  #take(batcher: PartitionBatcher): void {
    batcher.isBusy = true;
    this.#ready.delete(batcher);
  }

  #giveBack(batcher: PartitionBatcher): void {
    batcher.isBusy = false;
    if (batcher.hasWork) this.#ready.add(batcher);
  }

  async #request(leader: number, batchers: readonly PartitionBatcher[]): Promise<void> {
    const sent = new Set<PartitionBatcher>();
    try {
      const batches = await this.#encode(batchers, sent);
      if (batches.length > 0) await this.#send(leader, batches, sent);
    } catch (error) {
      for (const batcher of sent) batcher.mayBeWritten();
      for (const lane of batchers)
        if (!sent.has(lane) || lane.outgoing !== null) this.#failed(lane, error);
    }
    for (const lane of batchers) if (!this.#waiting.has(lane)) this.#giveBack(lane);
  }

  async #encode(
    batchers: readonly PartitionBatcher[],
    sent: Set<PartitionBatcher>,
  ): Promise<ProducedBatch[]> {
    const identity = await this.#identities.current();
    const batches: ProducedBatch[] = [];
    let bytes = 0;
    for (const batcher of batchers) {
      if (bytes >= requestBytesMax) break;
      const outgoing = batcher.next(identity, this.#clock.now());
      if (outgoing === null) continue;
      const { producerId, producerEpoch } = outgoing.identity;
      const { sequence, records } = outgoing;
      const owner = { producerId, producerEpoch, sequence, isTransactional: false };
      const { topic, partition } = batcher;
      batches.push({ topic, partition, batch: recordBatch(records, owner) });
      sent.add(batcher);
      bytes += records.bytes.length;
      // A large request is encoded in steps, so that it does not block the thread.
      if (batches.length < batchers.length && bytes > requestBytesMax / 16) await breathe();
    }
    return batches;
  }

  async #send(
    leader: number,
    batches: readonly ProducedBatch[],
    sent: ReadonlySet<PartitionBatcher>,
  ): Promise<void> {
    const answers = await this.#connection.send(
      leader,
      produceCall(batches, null, requestTimeoutMs),
    );
    const byName = new Map(answers.map((one) => [`${one.topic}/${one.partition}`, one]));
    for (const batcher of sent) {
      const answer = byName.get(`${batcher.topic}/${batcher.partition}`);
      if (answer !== undefined) this.#answered(batcher, answer);
    }
  }

  #answered(batcher: PartitionBatcher, { errorCode, baseOffset }: ProduceAnswer): void {
    const failure = new KafkaFailure(errorCode, `${batcher.topic}/${batcher.partition}`);
    if (errorCode === kafkaError.none && batcher.isAfterLast(baseOffset)) {
      batcher.acknowledged(baseOffset);
    } else if (errorCode === kafkaError.none || errorCode === kafkaError.duplicateSequence) {
      batcher.lost(logUnavailable(new Error('the response was for another batch')));
    } else if (isTransient(failure)) {
      batcher.mayBeWritten();
      this.#failed(batcher, failure);
    } else if (!sequenceErrors.has(errorCode)) batcher.refused(asRefusal(errorCode, batcher.topic));
    else if (batcher.outgoing?.isUncertain === true) batcher.lost(logUnavailable(failure));
    else batcher.renewed();
  }

  /** Retries the batcher a little later, with the leader that the brokers then report. */
  #failed(batcher: PartitionBatcher, error: unknown): void {
    if (isTransient(error)) this.#later(batcher);
    else batcher.failAll(logUnavailable(error));
  }

  #later(batcher: PartitionBatcher): void {
    this.#take(batcher);
    this.#waiting.add(batcher);
    batcher.failures++;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#waiting.delete(batcher);
      void this.#metadata
        .refresh(batcher.topic)
        .catch(() => undefined) // no leader yet: it is retried
        .then(() => {
          this.#giveBack(batcher);
          this.#schedule();
        });
    }, pauseMs(batcher.failures));
    this.#timers.add(timer);
  }
}
