import { setTimeout as wait } from 'node:timers/promises';
import { type RecordChange, recordsTopic, reservedKey } from '#modules/records/model/events.ts';
import type {
  Batch,
  Message,
  PartitionMessages,
  ReadMessage,
  TransactionalWriter,
  EventLog,
} from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import type { Snapshot } from '../envelope.ts';
import { heartbeat } from '../heartbeat.ts';
import { typedProgressTopic, type TypedTopicProgress } from '../progress.ts';
import type { TypedTopic } from '../typed-topic.ts';
import { LastPayloads } from './last-payloads.ts';
import { typedTopicsGroup, type PublishingServices } from './shared.ts';
import { messagesOf, openTarget, type OpenTarget } from './targets.ts';

/** The progress of the typed topics of a partition, from the log. */
class Progress {
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

  /** Null when the requested snapshot was not begun. */
  ofSnapshot({ topic, typed }: OpenTarget): TypedTopicProgress | null {
    const entry = this.#entries.get(snapshotKey(topic));
    return entry?.opt_in === snapshotId(typed) ? entry : null;
  }

  snapshotTaken({ topic, typed }: OpenTarget, next: number, isWhole: boolean): void {
    const entry = { opt_in: snapshotId(typed), next, is_live: isWhole, owner_epoch: 0 };
    this.#put(snapshotKey(topic), entry);
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

/** Topic names contain no space. */
const snapshotKey = (topic: string): string => `${topic} snapshot`;

const snapshotId = ({ uid, snapshot }: TypedTopic): string => `${uid} ${snapshot ?? ''}`;

/** Small batches: their conversion to rows blocks the thread. */
const batchBytesMax = 128 * 1024;
/** How often the position is committed over changes of models that are not opted in. */
const positionEveryMs = 5_000;

/**
 * Fills the typed topics of one partition until the signal. Each transaction appends the messages of a batch of changes
 * and moves the group's position past it: exactly once, also after a crash.
 * @throws GatewayError `writer_fenced` when another process has acquired the partition
 */
export async function fillPartition(
  services: PublishingServices,
  partition: number,
  signal: AbortSignal,
): Promise<void> {
  await using writer = await services.log.openWriter(`typed-topics/${partition}`);
  const progress = new Progress(partition, services.progressCodec);
  await progress.read(services.log);
  const at = await startOf(services, partition, progress);
  const filling = new PartitionPublisher(services, { partition, writer, progress, at });
  while (!signal.aborted) await filling.whileTargetsStay(signal);
}

/**
 * Starts after the group's position. Without a position nothing was opted in when the partition was last assigned, or
 * the position is lost: then possibly missing changes are repeated.
 */
async function startOf(
  services: PublishingServices,
  partition: number,
  progress: Progress,
): Promise<number> {
  const committed = await services.log.committed(typedTopicsGroup, recordsTopic);
  const existing = committed.get(partition) ?? progress.lowestLive;
  return existing ?? services.log.endOffset(recordsTopic, partition);
}

interface OwnedPartition {
  readonly partition: number;
  readonly writer: TransactionalWriter;
  readonly progress: Progress;
  /** Offset of the next change. */
  readonly at: number;
}

class PartitionPublisher {
  readonly #services: PublishingServices;
  readonly #held: OwnedPartition;
  readonly #last = new LastPayloads();
  /** Of a monotonic clock, by heartbeat topic: when its next heartbeat is due. */
  readonly #heartbeatsDue = new Map<string, number>();
  #at: number;
  #committedAt = 0;

  constructor(services: PublishingServices, held: OwnedPartition) {
    this.#services = services;
    this.#held = held;
    this.#at = held.at;
  }

  /** Backfills every topic up to the position, then continues with all of them until the targets change. */
  async whileTargetsStay(signal: AbortSignal): Promise<void> {
    const { list, changed } = this.#services.targets.current();
    const until = AbortSignal.any([signal, changed]);
    const { progress } = this.#held;
    const optIns = list.map(({ typed }) => typed.uid);
    progress.keepOnly(new Set([...optIns, ...list.map(({ typed }) => snapshotId(typed))]));
    this.#last.keepOnly(new Set(optIns));
    if (list.length === 0) return this.#idle(until);
    const opened = await Promise.all(list.map((target) => openTarget(this.#services, target)));
    const open = opened.filter((target) => target !== null);
    for (const target of open) await this.#backfill(target, signal);
    for (const target of open) await this.#takeSnapshot(target, signal);
    const unread = open.filter(
      ({ typed: { uid, hasBefore, endedAt } }) =>
        hasBefore && endedAt === null && !this.#last.has(uid),
    );
    if (unread.length > 0) await this.#readPayloads(unread, signal);
    await this.#follow(open, until);
  }

  /** No stream has opted in: a later opt-in backfills these changes. */
  async #idle(until: AbortSignal): Promise<void> {
    const { log } = this.#services;
    while (!until.aborted) {
      this.#at = await log.endOffset(recordsTopic, this.#held.partition);
      await this.#commit([]);
      await wait(positionEveryMs, undefined, { signal: until }).catch(() => undefined);
    }
  }

  async #backfill(target: OpenTarget, signal: AbortSignal): Promise<void> {
    const { progress } = this.#held;
    const existing = progress.of(target);
    if (existing?.is_live === true || target.typed.endedAt !== null) return;
    const start = existing?.next ?? 0;
    for await (const { changes, next } of this.#changesUntilNow([target], start, signal)) {
      const placed = await this.#placed(changes, 'true');
      progress.filled(target, next, false);
      await this.#commit(placed);
    }
    if (signal.aborted) return;
    progress.filled(target, this.#at, true);
    // The filling is the snapshot of an opt-in that asks for one.
    if (target.typed.snapshot !== undefined) progress.snapshotTaken(target, this.#at, true);
    await this.#commit([]);
  }

  /**
   * Publishes the last change before the position of each record of the model, once more. Sinks never see an older state
   * than they have: changes that were replaced are left out, and those behind the position follow.
   */
  async #takeSnapshot(target: OpenTarget, signal: AbortSignal): Promise<void> {
    const { partition, progress } = this.#held;
    const { typed } = target;
    if (typed.snapshot === undefined || typed.endedAt !== null) return;
    const begun = progress.ofSnapshot(target);
    if (begun?.is_live === true) return;
    const last = new Map<string, number>();
    for await (const { changes } of this.#changesUntilNow([target], 0, signal)) {
      for (const { message, change } of changes) {
        if (change !== null) last.set(message.key, message.offset);
      }
    }
    const start = begun?.next ?? 0;
    for await (const { changes, next } of this.#changesUntilNow([target], start, signal)) {
      const latest = changes.filter(({ message }) => last.get(message.key) === message.offset);
      const placed = await this.#placed(latest, 'incremental');
      progress.snapshotTaken(target, next, false);
      await this.#commit(placed);
      this.#services.faultPoint('typed-topics:within-snapshot');
    }
    if (signal.aborted) return;
    progress.snapshotTaken(target, this.#at, true);
    await this.#commit([]);
    const { topic } = target;
    this.#services.logger.info({ topic, partition, records: last.size }, 'a snapshot is published');
  }

  /** The changes of the targets before the position, batch by batch. */
  async *#changesUntilNow(
    open: readonly OpenTarget[],
    offset: number,
    signal: AbortSignal,
  ): AsyncGenerator<{ readonly changes: readonly MatchedChange[]; readonly next: number }> {
    const { partition } = this.#held;
    const from = { topic: recordsTopic, partition, offset };
    let epoch = 0;
    for await (const batch of this.#services.log.read(from, { signal, maxBytes: batchBytesMax })) {
      if (signal.aborted) return;
      const messages = batch.messages.filter((message) => message.offset < this.#at);
      const changes = this.#changes(messages, open, (index) => {
        if (index < epoch) return false;
        epoch = index;
        return true;
      });
      yield { changes: [...changes], next: Math.min(batch.next, this.#at) };
      if (batch.next >= this.#at) return;
    }
  }

  /** Reads the payloads that the next changes replace. */
  async #readPayloads(open: readonly OpenTarget[], signal: AbortSignal): Promise<void> {
    for (const { typed } of open) this.#last.add(typed.uid);
    for await (const { changes } of this.#changesUntilNow(open, 0, signal)) {
      for (const { message, change, target } of changes) {
        if (change !== null && target !== null) {
          this.#last.apply(target.typed.uid, message.key, change);
        }
      }
    }
  }

  async #follow(open: readonly OpenTarget[], until: AbortSignal): Promise<void> {
    const { partition, progress } = this.#held;
    const { log, clock } = this.#services;
    const from = { topic: recordsTopic, partition, offset: this.#at };
    const batches = log.follow([from], { signal: until, maxBytes: batchBytesMax });
    for await (const batch of this.#withHeartbeats(batches, open, until)) {
      // The batch is read again, for the current targets.
      if (until.aborted) return;
      if (batch === null) {
        await this.#commit(this.#dueHeartbeats(open));
        continue;
      }
      const placed = await this.#placedOf(batch, open);
      this.#at = batch.next;
      const isDue = clock.now() - this.#committedAt >= positionEveryMs;
      if (placed.length > 0 || progress.hasChanges || isDue) await this.#commit(placed);
    }
  }

  /** The batches, and null when a heartbeat is due before the next of them. */
  async *#withHeartbeats(
    source: AsyncIterable<Batch>,
    open: readonly OpenTarget[],
    until: AbortSignal,
  ): AsyncGenerator<Batch | null> {
    if (open.every(({ heartbeats }) => heartbeats === null)) {
      yield* source;
      return;
    }
    const batches = source[Symbol.asyncIterator]();
    try {
      for (let next = batches.next(); ; next = batches.next()) {
        while (await this.#isHeartbeatFirst(next, open, until)) yield null;
        const read: IteratorResult<Batch, unknown> = await next;
        if (read.done === true) return;
        yield read.value;
      }
    } finally {
      await batches.return?.();
    }
  }

  async #isHeartbeatFirst(
    next: Promise<unknown>,
    open: readonly OpenTarget[],
    until: AbortSignal,
  ): Promise<boolean> {
    const now = performance.now();
    const due = open.flatMap(({ heartbeats }) =>
      heartbeats === null ? [] : [this.#heartbeatsDue.get(heartbeats.topic) ?? now],
    );
    const batchCame = new AbortController();
    const signal = AbortSignal.any([until, batchCame.signal]);
    try {
      const pause = wait(Math.max(0, Math.min(...due) - now), true, { signal }).catch(() => false);
      return await Promise.race([next.then(() => false), pause]);
    } finally {
      batchCame.abort();
    }
  }

  #dueHeartbeats(open: readonly OpenTarget[]): PartitionMessages[] {
    const { partition } = this.#held;
    const now = performance.now();
    return open.flatMap(({ topic, heartbeats }) => {
      if (heartbeats === null || (this.#heartbeatsDue.get(heartbeats.topic) ?? 0) > now) return [];
      this.#heartbeatsDue.set(heartbeats.topic, now + heartbeats.everyMs);
      const value = heartbeats.codec.encode(heartbeat(this.#services.clock, topic, this.#at));
      const message = { key: topic, value, headers: { 'content-type': 'application/avro' } };
      return [{ topic: heartbeats.topic, partition, messages: [message] }];
    });
  }

  async #placedOf(batch: Batch, open: readonly OpenTarget[]): Promise<PartitionMessages[]> {
    const { progress } = this.#held;
    const changes = this.#changes(batch.messages, open, (epoch) => {
      if (epoch < progress.epoch) return false;
      progress.seen(epoch);
      return true;
    });
    return this.#placed(changes, 'false');
  }

  /** The changes of opted-in models. Other changes are recognized by their key and not decoded. */
  *#changes(
    messages: readonly ReadMessage[],
    open: readonly OpenTarget[],
    counts: (epoch: number) => boolean,
  ): Generator<MatchedChange> {
    for (const message of messages) {
      const { key, value } = message;
      if (value === null || key === reservedKey) continue;
      const [environmentUid = '', , model = ''] = key.split('/');
      const near = open.filter(
        ({ typed }) =>
          typed.environmentUid === environmentUid && typed.model === decodeURIComponent(model),
      );
      if (near.length === 0) continue;
      const change = this.#decoded(message);
      if (change === null) {
        yield { message, change, target: null };
      } else if (counts(change.owner_epoch)) {
        const target = near.find(({ typed }) => typed.integrationKey === change.integration);
        if (target !== undefined) yield { message, change, target };
      }
    }
  }

  #decoded({ value }: ReadMessage): RecordChange | null {
    try {
      return value === null ? null : this.#services.changeCodec.decode(value);
    } catch {
      return null;
    }
  }

  async #placed(
    changes: Iterable<MatchedChange>,
    snapshot: Snapshot,
  ): Promise<PartitionMessages[]> {
    const { clock, version } = this.#services;
    const erased = new Map<string, boolean>();
    const byTopic = new Map<string, Message[]>();
    for (const { message, change, target } of changes) {
      if (change === null || target === null) {
        await this.#park(message);
        continue;
      }
      const isErased = change.action === 'purged' && (await this.#isErased(change, erased));
      const { uid } = target.typed;
      const isChange = snapshot === 'false';
      const previous = isChange ? this.#last.get(uid, message.key) : null;
      const context = { clock, version, snapshot, isErased, previous };
      if (isChange) this.#last.apply(uid, message.key, change);
      const made = messagesOf(change, message.headers, target, context);
      const list = byTopic.get(target.topic) ?? [];
      list.push(...made);
      if (list.length > 0) byTopic.set(target.topic, list);
    }
    const { partition } = this.#held;
    return [...byTopic].map(([topic, messages]) => ({ topic, partition, messages }));
  }

  async #isErased(change: RecordChange, existing: Map<string, boolean>): Promise<boolean> {
    const { connection_uid: uid } = change;
    let isErased = existing.get(uid);
    if (isErased === undefined) {
      isErased = await this.#services.isConnectionGone(uid);
      existing.set(uid, isErased);
    }
    return isErased;
  }

  async #park(message: ReadMessage): Promise<void> {
    const { partition } = this.#held;
    const reason = new Error('The change cannot be read.');
    await this.#services.park({ topic: recordsTopic, partition, message, replay: null }, reason, 1);
  }

  async #commit(placed: readonly PartitionMessages[]): Promise<void> {
    const { writer, progress, partition } = this.#held;
    const { faultPoint, clock } = this.#services;
    faultPoint('typed-topics:before-commit');
    await writer.commit([...placed, ...progress.take()], {
      group: typedTopicsGroup,
      positions: [{ topic: recordsTopic, partition, offset: this.#at }],
    });
    this.#committedAt = clock.now();
    faultPoint('typed-topics:after-commit');
  }
}

interface MatchedChange {
  readonly message: ReadMessage;
  /** Null: the change is unreadable. */
  readonly change: RecordChange | null;
  readonly target: OpenTarget | null;
}
