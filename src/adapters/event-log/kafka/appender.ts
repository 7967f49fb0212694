import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '../../../kernel/time.ts';
import type { Placed } from '../../../ports/event-log.ts';
import type { Directory } from './directory.ts';
import {
  asRefusal,
  isTransient,
  KafkaFailure,
  kafkaError,
  logClosed,
  logUnavailable,
} from './failure.ts';
import { Lane, Pending } from './lane.ts';
import { requestTimeoutMs } from './broker-socket.ts';
import type { Link } from './link.ts';
import { Identities } from './producer-identity.ts';
import { recordBatch } from './record-encoder.ts';
import { pauseMs } from './retry.ts';
import { produceCall, type ProduceAnswer, type ProducedBatch } from './wire.ts';

/** Requests on their way to one broker: while it works on one, the next is made. */
const requestsMax = 2;
const requestBytesMax = 4 * 1024 ** 2;

/** Errors after which the broker knows nothing of the sequence: harmless unless an answer was lost. */
const sequenceErrors: ReadonlySet<number> = new Set([
  kafkaError.outOfOrderSequence,
  kafkaError.unknownProducerId,
  kafkaError.invalidProducerEpoch,
  kafkaError.invalidProducerIdMapping,
]);

/**
 * Appends without a transaction. What arrives while a request is under way goes into the next one, so that
 * many small appends cost few requests; a batch whose answer is lost is sent again under its old number
 * until the broker says what became of it.
 */
export class Appender {
  private readonly link: Link;
  private readonly directory: Directory;
  private readonly clock: Clock;
  private readonly identities: Identities;
  private readonly lanes = new Map<string, Lane>();
  private readonly ready = new Set<Lane>();
  /** Lanes that are tried again a little later. */
  private readonly waiting = new Set<Lane>();
  private readonly requests = new Map<number, number>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private isScheduled = false;
  private isClosed = false;

  constructor(link: Link, directory: Directory, clock: Clock) {
    this.link = link;
    this.directory = directory;
    this.clock = clock;
    this.identities = new Identities(link);
  }

  /** Topics as Kafka names them, known to the directory. Resolves with the first offset of each. */
  append(batch: readonly Placed[], timeoutMs: number): Promise<number[]> {
    if (this.isClosed) return Promise.reject(logClosed());
    const all = batch.map(({ topic, partition, messages }) => {
      const pending = new Pending(messages);
      const lane = this.lane(topic, partition);
      if (messages.length === 0) pending.written.resolve(lane.end);
      else lane.add(pending);
      this.ready.add(lane);
      return pending;
    });
    this.schedule();
    const timer = setTimeout(() => {
      const error = logUnavailable(new Error(`no answer within ${timeoutMs} ms`));
      for (const pending of all) pending.fail(error);
    }, timeoutMs);
    return Promise.all(all.map(({ written }) => written.promise)).finally(() =>
      clearTimeout(timer),
    );
  }

  close(): void {
    this.isClosed = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const lane of this.lanes.values()) lane.failAll(logClosed());
  }

  private lane(topic: string, partition: number): Lane {
    const name = `${topic}/${partition}`;
    let lane = this.lanes.get(name);
    if (lane === undefined) {
      lane = new Lane(topic, partition, this.identities);
      this.lanes.set(name, lane);
    }
    return lane;
  }

  /** Once for all appends of this turn of the event loop. */
  private schedule(): void {
    if (this.isScheduled || this.isClosed) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      this.startRequests();
    });
  }

  private startRequests(): void {
    const byLeader = new Map<number, Lane[]>();
    for (const lane of this.ready) {
      if (lane.isBusy || !lane.hasWork) {
        this.ready.delete(lane);
        continue;
      }
      const leader = this.directory.leader(lane.topic, lane.partition);
      if (leader === null) this.later(lane);
      else byLeader.set(leader, [...(byLeader.get(leader) ?? []), lane]);
    }
    for (const [leader, lanes] of byLeader) {
      if ((this.requests.get(leader) ?? 0) >= requestsMax) continue;
      this.requests.set(leader, (this.requests.get(leader) ?? 0) + 1);
      for (const lane of lanes) this.take(lane);
      void this.request(leader, lanes).finally(() => {
        this.requests.set(leader, (this.requests.get(leader) ?? 1) - 1);
        this.schedule();
      });
    }
  }

  private take(lane: Lane): void {
    lane.isBusy = true;
    this.ready.delete(lane);
  }

  private giveBack(lane: Lane): void {
    lane.isBusy = false;
    if (lane.hasWork) this.ready.add(lane);
  }

  private async request(leader: number, lanes: readonly Lane[]): Promise<void> {
    const sent = new Set<Lane>();
    try {
      const batches = await this.encode(lanes, sent);
      if (batches.length > 0) await this.send(leader, batches, sent);
    } catch (error) {
      for (const lane of sent) lane.mayBeWritten();
      for (const lane of lanes)
        if (!sent.has(lane) || lane.outgoing !== null) this.failed(lane, error);
    }
    for (const lane of lanes) if (!this.waiting.has(lane)) this.giveBack(lane);
  }

  private async encode(lanes: readonly Lane[], sent: Set<Lane>): Promise<ProducedBatch[]> {
    const identity = await this.identities.current();
    const batches: ProducedBatch[] = [];
    let bytes = 0;
    for (const lane of lanes) {
      if (bytes >= requestBytesMax) break;
      const outgoing = lane.next(identity, this.clock.now());
      if (outgoing === null) continue;
      const { producerId, producerEpoch } = outgoing.identity;
      const { sequence, records } = outgoing;
      const owner = { producerId, producerEpoch, sequence, isTransactional: false };
      const { topic, partition } = lane;
      batches.push({ topic, partition, batch: recordBatch(records, owner) });
      sent.add(lane);
      bytes += records.bytes.length;
      // A large request is made in steps, so that it does not hold up the thread.
      if (batches.length < lanes.length && bytes > requestBytesMax / 16) await breathe();
    }
    return batches;
  }

  private async send(
    leader: number,
    batches: readonly ProducedBatch[],
    sent: ReadonlySet<Lane>,
  ): Promise<void> {
    const answers = await this.link.send(leader, produceCall(batches, null, requestTimeoutMs));
    const byName = new Map(answers.map((one) => [`${one.topic}/${one.partition}`, one]));
    for (const lane of sent) {
      const answer = byName.get(`${lane.topic}/${lane.partition}`);
      if (answer !== undefined) this.answered(lane, answer);
    }
  }

  private answered(lane: Lane, { errorCode, baseOffset }: ProduceAnswer): void {
    const failure = new KafkaFailure(errorCode, `${lane.topic}/${lane.partition}`);
    if (errorCode === kafkaError.none && lane.isAfterLast(baseOffset)) {
      lane.acknowledged(baseOffset);
    } else if (errorCode === kafkaError.none || errorCode === kafkaError.duplicateSequence) {
      lane.lost(logUnavailable(new Error('the answer was about another batch')));
    } else if (isTransient(failure)) {
      lane.mayBeWritten();
      this.failed(lane, failure);
    } else if (!sequenceErrors.has(errorCode)) lane.refused(asRefusal(errorCode, lane.topic));
    else if (lane.outgoing?.isUncertain === true) lane.lost(logUnavailable(failure));
    else lane.renewed();
  }

  /** Tries the lane again a little later, with what the brokers then say about its leader. */
  private failed(lane: Lane, error: unknown): void {
    if (isTransient(error)) this.later(lane);
    else lane.failAll(logUnavailable(error));
  }

  private later(lane: Lane): void {
    this.take(lane);
    this.waiting.add(lane);
    lane.failures++;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.waiting.delete(lane);
      void this.directory
        .refresh(lane.topic)
        .catch(() => undefined) // it stays without a leader, and is tried again
        .then(() => {
          this.giveBack(lane);
          this.schedule();
        });
    }, pauseMs(lane.failures));
    this.timers.add(timer);
  }
}
