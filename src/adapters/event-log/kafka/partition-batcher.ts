import type { GatewayError } from '#kernel/errors.ts';
import type { Message } from '#ports/event-log.ts';
import { fitting, batchBytesMax } from './batches.ts';
import type { Identities, ProducerIdentity } from './producer-identity.ts';
import { encodeRecords, type EncodedRecords } from './record-encoder.ts';

/** The messages of one `PartitionMessages`. */
export class PendingAppend {
  readonly messages: readonly Message[];
  readonly written = Promise.withResolvers<number>();
  /** Number of messages already in batches. */
  taken = 0;
  #acknowledged = 0;
  #first = -1;
  /** Already settled: its remainder is not sent. */
  isOver = false;
  /** Shares no batch: it was in a refused one. */
  isAlone = false;

  constructor(messages: readonly Message[]) {
    this.messages = messages;
  }

  get isTaken(): boolean {
    return this.taken === this.messages.length;
  }

  wrote(count: number, offset: number): void {
    if (this.#acknowledged === 0) this.#first = offset;
    this.#acknowledged += count;
    if (this.#acknowledged < this.messages.length || this.isOver) return;
    this.isOver = true;
    this.written.resolve(this.#first);
  }

  fail(error: GatewayError): void {
    if (this.isOver) return;
    this.isOver = true;
    this.written.reject(error);
  }
}

interface Part {
  readonly pending: PendingAppend;
  readonly count: number;
}

/** One record batch in flight, with its place in the sequence of the producer. */
export interface BatchInFlight {
  readonly parts: readonly Part[];
  readonly records: EncodedRecords;
  readonly identity: ProducerIdentity;
  readonly sequence: number;
  /** The broker may have written it although no response arrived. */
  isUncertain: boolean;
}

const sequences = 2 ** 31;

/** The appends to one partition: one batch in flight at a time, in the order of the calls. */
export class PartitionBatcher {
  readonly topic: string;
  readonly partition: number;
  readonly #queue: PendingAppend[] = [];
  outgoing: BatchInFlight | null = null;
  /** Part of a request right now, or waiting after a failure. */
  isBusy = false;
  failures = 0;
  readonly #identities: Pick<Identities, 'renew'>;
  #identity: ProducerIdentity | null = null;
  /** Never used again here: its sequence number in this partition is unknown. */
  #spent: ProducerIdentity | null = null;
  #sequence = 0;
  #lastOffset = -1;

  constructor(topic: string, partition: number, identities: Pick<Identities, 'renew'>) {
    this.topic = topic;
    this.partition = partition;
    this.#identities = identities;
  }

  get hasWork(): boolean {
    return this.outgoing !== null || this.#queue.length > 0;
  }

  /** The offset after the last message that was appended here. */
  get end(): number {
    return this.#lastOffset + 1;
  }

  add(pending: PendingAppend): void {
    this.#queue.push(pending);
  }

  /**
   * The batch to send next: the previous one while it has no response, or a new one. Null when there is none, or
   * when the identity cannot be used here.
   */
  next(identity: ProducerIdentity, now: number): BatchInFlight | null {
    if (this.outgoing !== null && this.#isGivenUp(this.outgoing)) this.#giveUp();
    if (identity !== this.#spent) this.outgoing ??= this.#gather(identity, now);
    return this.outgoing;
  }

  /** The batch was sent, and no response denied that it was written. */
  mayBeWritten(): void {
    if (this.outgoing !== null) this.outgoing.isUncertain = true;
  }

  /** The broker wrote the batch at the offset. */
  acknowledged(offset: number): void {
    const { outgoing } = this;
    if (outgoing === null) return;
    this.outgoing = null;
    this.failures = 0;
    this.#lastOffset = offset + outgoing.records.count - 1;
    this.#sequence = (outgoing.sequence + outgoing.records.count) % sequences;
    let at = offset;
    for (const { pending, count } of outgoing.parts) {
      pending.wrote(count, at);
      at += count;
    }
  }

  /** Whether a response can be about this batch: an earlier offset means that the broker took it for another batch. */
  isAfterLast(offset: number): boolean {
    return offset > this.#lastOffset;
  }

  /** The broker wrote nothing, and never will: each call of the batch is retried alone, a single one fails. */
  refused(error: GatewayError): void {
    const { outgoing } = this;
    if (outgoing === null) return;
    this.outgoing = null;
    const [only] = outgoing.parts;
    if (outgoing.parts.length === 1) only?.pending.fail(error);
    else this.#requeue(outgoing, true);
  }

  /** The batch can be sent again unchanged except for its producer: nothing of it was written. */
  renewed(): void {
    const { outgoing } = this;
    this.outgoing = null;
    this.#spendIdentity();
    if (outgoing !== null) this.#requeue(outgoing, false);
  }

  /** Whether it was written is unknown and cannot be determined. */
  lost(error: GatewayError): void {
    for (const { pending } of this.outgoing?.parts ?? []) pending.fail(error);
    this.mayBeWritten();
    this.#giveUp();
  }

  failAll(error: GatewayError): void {
    this.lost(error);
    for (const pending of this.#queue.splice(0)) pending.fail(error);
  }

  #requeue({ parts }: BatchInFlight, isAlone: boolean): void {
    for (const { pending, count } of [...parts].reverse()) {
      pending.isAlone = isAlone;
      pending.taken -= count;
      if (this.#queue[0] !== pending) this.#queue.unshift(pending);
    }
  }

  #isGivenUp({ parts }: BatchInFlight): boolean {
    return parts.every(({ pending }) => pending.isOver);
  }

  /** A batch that may have been written has used its sequence number: continue as another producer. */
  #giveUp(): void {
    if (this.outgoing?.isUncertain === true) this.#spendIdentity();
    this.outgoing = null;
  }

  #spendIdentity(): void {
    this.#spent = this.#identity;
    this.#identity = null;
    this.#identities.renew();
  }

  #gather(identity: ProducerIdentity, now: number): BatchInFlight | null {
    const parts: Part[] = [];
    const messages: Message[] = [];
    let room = batchBytesMax;
    for (let head = this.#head(); head !== undefined; head = this.#head()) {
      if (head.isAlone && parts.length > 0) break;
      const { to, bytes } = fitting(head.messages, head.taken);
      // A call that fits into one batch is never split: its messages are contiguous.
      if (parts.length > 0 && (bytes > room || to < head.messages.length)) break;
      const count = to - head.taken;
      parts.push({ pending: head, count });
      for (const message of head.messages.slice(head.taken, to)) messages.push(message);
      head.taken = to;
      room -= bytes;
      if (!head.isTaken || head.isAlone) break;
    }
    if (parts.length === 0) return null;
    this.#takeIdentity(identity);
    const records = encodeRecords(messages, now);
    return { parts, records, identity, sequence: this.#sequence, isUncertain: false };
  }

  #head(): PendingAppend | undefined {
    while (this.#queue[0] !== undefined && (this.#queue[0].isTaken || this.#queue[0].isOver)) {
      this.#queue.shift();
    }
    return this.#queue[0];
  }

  #takeIdentity(identity: ProducerIdentity): void {
    if (this.#identity === identity) return;
    this.#identity = identity;
    this.#sequence = 0;
  }
}
