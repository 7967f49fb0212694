import { reservedKey } from '#modules/records/model/stream-head.ts';
import type { EventLog, Message, PartitionMessages } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { typedProgressTopic, type TypedTopicProgress } from '../progress.ts';
import type { OpenTarget } from './targets.ts';

/** The progress of the typed topics of a partition, from the log. */
export class Progress {
  readonly #partition: number;
  readonly #codec: Codec<TypedTopicProgress>;
  readonly #entries = new Map<string, TypedTopicProgress>();
  /** The progress for the next transaction. */
  #news: Message[] = [];

  constructor(partition: number, codec: Codec<TypedTopicProgress>) {
    this.#partition = partition;
    this.#codec = codec;
  }

  async read(log: EventLog): Promise<void> {
    const from = { topic: typedProgressTopic, partition: this.#partition, offset: 0 };
    for await (const batch of log.read(from)) {
      for (const { key, value } of batch.messages) {
        if (value === null) this.#entries.delete(key);
        else this.#entries.set(key, this.#codec.decode(value));
      }
    }
  }

  /** The highest epoch of an owner seen in the partition: changes of a lower one do not count. */
  get epoch(): number {
    return this.#entries.get(reservedKey)?.owner_epoch ?? 0;
  }

  /** Null when it was never filled for this opt-in. */
  of({ topic, typed }: OpenTarget): TypedTopicProgress | null {
    const entry = this.#entries.get(topic);
    return entry?.opt_in === typed.uid ? entry : null;
  }

  /** The smallest end of a backfill among live topics; null when none is live. */
  get lowestLive(): number | null {
    const live = [...this.#entries].filter(
      ([key, { is_live: isLive }]) => key !== reservedKey && isLive,
    );
    return live.length === 0 ? null : Math.min(...live.map(([, { next }]) => next));
  }

  get hasChanges(): boolean {
    return this.#news.length > 0;
  }

  seen(epoch: number): void {
    if (epoch <= this.epoch) return;
    this.#put(reservedKey, { opt_in: '', next: 0, is_live: false, owner_epoch: epoch });
  }

  filled({ topic, typed }: OpenTarget, next: number, isLive: boolean): void {
    this.#put(topic, { opt_in: typed.uid, next, is_live: isLive, owner_epoch: 0 });
  }

  /** Drops progress of models that are no longer opted in. */
  keepOnly(optIns: ReadonlySet<string>): void {
    for (const [key, { opt_in: optIn }] of this.#entries) {
      if (key === reservedKey || optIns.has(optIn)) continue;
      this.#entries.delete(key);
      this.#news.push({ key, value: null, headers: {} });
    }
  }

  /** The changed progress, for the transaction that contains its messages. */
  take(): PartitionMessages[] {
    const messages = this.#news;
    this.#news = [];
    const position = { topic: typedProgressTopic, partition: this.#partition };
    return messages.length === 0 ? [] : [{ ...position, messages }];
  }

  #put(key: string, value: TypedTopicProgress): void {
    this.#entries.set(key, value);
    const headers = { 'content-type': 'application/avro' };
    this.#news.push({ key, value: this.#codec.encode(value), headers });
  }
}
