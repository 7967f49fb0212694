import type { Batch, ReadMessage } from '#ports/event-log.ts';
import type { RecordSet } from './record-decoder.ts';

/** One partition that is being read: the fetched messages that were not returned yet. */
export class PartitionFeed {
  /** Name at the port. */
  readonly name: string;
  /** Name in Kafka. */
  readonly topic: string;
  readonly partition: number;
  /** The offset to fetch from. */
  fetchFrom: number;
  /** Exclusive upper bound. */
  readonly end: number;
  bufferedBytes = 0;
  /** Part of a fetch, or waiting after a failure. */
  isBusy = false;
  failures = 0;
  readonly #sets: RecordSet[] = [];
  #decoded: ReadMessage[] = [];
  #at = 0;
  /** End of the returned batches, and end of the decoded ones. */
  #position: number;
  #decodedTo: number;
  #failure: { readonly error: unknown } | null = null;

  constructor(name: string, topic: string, partition: number, from: number, end = Infinity) {
    this.name = name;
    this.topic = topic;
    this.partition = partition;
    this.fetchFrom = from;
    this.end = end;
    this.#position = from;
    this.#decodedTo = from;
  }

  get isReady(): boolean {
    return (
      this.#failure !== null || this.#at < this.#decoded.length || this.#position < this.fetchFrom
    );
  }

  get isFetched(): boolean {
    return this.fetchFrom >= this.end;
  }

  /** Everything before `end` was returned. */
  get isDone(): boolean {
    return this.#position >= this.end;
  }

  accept(set: RecordSet): void {
    if (set.next === null || set.next <= this.fetchFrom) return;
    this.#sets.push(set);
    this.bufferedBytes += set.bytes.length;
    this.fetchFrom = set.next;
  }

  /** Skips to the offset, before which nothing is retained. */
  skipTo(offset: number): void {
    this.fetchFrom = Math.max(this.fetchFrom, offset);
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** The next messages, with values of at most `maxBytes` unless it is a single one; null without progress. */
  take(maxBytes: number): Batch | null {
    if (this.#failure !== null) throw this.#failure.error;
    while (this.#at >= this.#decoded.length) {
      const [set] = this.#sets;
      if (set === undefined) break;
      this.#decode(set);
    }
    const from = this.#at;
    let bytes = 0;
    while (this.#at < this.#decoded.length) {
      bytes += this.#decoded[this.#at]?.value?.length ?? 0;
      if (bytes > maxBytes && this.#at > from) break;
      this.#at++;
    }
    const messages = this.#decoded.slice(from, this.#at);
    const next = this.#decoded[this.#at]?.offset ?? this.#after();
    if (next <= this.#position) return null;
    this.#position = next;
    return { topic: this.name, partition: this.partition, messages, next };
  }

  #after(): number {
    const reached = this.#sets.length > 0 ? this.#decodedTo : this.fetchFrom;
    return Math.min(reached, Math.max(this.end, this.#position));
  }

  #decode(set: RecordSet): void {
    const { messages, next } = set.decodeNext(this.#position);
    this.#decoded =
      next <= this.end ? messages : messages.filter(({ offset }) => offset < this.end);
    this.#at = 0;
    this.#decodedTo = next;
    if (!set.isEmpty) return;
    this.#sets.shift();
    this.bufferedBytes -= set.bytes.length;
  }
}
