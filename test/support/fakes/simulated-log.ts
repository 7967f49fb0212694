import { randomUUID } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { partitionNumbers } from '#kernel/partition.ts';
import type { Clock } from '#kernel/time.ts';
import type {
  Batch,
  GroupPositions,
  EventLog,
  FollowOptions,
  GroupHandler,
  Membership,
  PartitionMessages,
  Position,
  ReadMessage,
  TopicSpec,
  TransactionalWriter,
} from '#ports/event-log.ts';

/** What may go wrong with a write: refused, written without an answer, or lost without one. */
export type Fault = 'none' | 'unsure-written' | 'unsure-lost';

interface Partition {
  messages: ReadMessage[];
  start: number;
  end: number;
}

/**
 * An event log in memory for simulations: the promises of the port, with faults where the test asks for
 * them and holes between offsets as transactions leave them.
 */
export class SimulatedLog {
  readonly identity = randomUUID();
  readonly #clock: Clock;
  readonly #topics = new Map<string, Partition[]>();
  readonly #writers = new Map<string, number>();
  readonly #committed = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  readonly #members: { readonly handler: GroupHandler; readonly client: Client }[] = [];
  #generation = 0;
  /** Asked before each write. */
  fault: (kind: 'append' | 'commit') => Fault = () => 'none';
  #sparing = 0;
  readonly #faults = new WeakMap<object, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  addTopics(specs: readonly TopicSpec[]): void {
    for (const { name, partitions } of specs) {
      const empty = () => ({ messages: [], start: 0, end: 0 });
      this.#topics.set(name, Array.from({ length: partitions }, empty));
    }
  }

  /** For calls that may not be tried again. */
  async withoutFaults<T>(part: () => Promise<T>): Promise<T> {
    this.#sparing++;
    try {
      return await part();
    } finally {
      this.#sparing--;
    }
  }

  /** An append fails at most twice: it is tried three times. */
  faultOf(kind: 'append' | 'commit', batch: readonly PartitionMessages[]): Fault {
    const messages = batch[0]?.messages ?? batch;
    const faults = this.#faults.get(messages) ?? 0;
    const isSpared = kind === 'append' && (this.#sparing > 0 || faults >= 2);
    const fault = isSpared ? 'none' : this.fault(kind);
    if (fault !== 'none') this.#faults.set(messages, faults + 1);
    return fault;
  }

  /** The log as one process has it. */
  client(): Client {
    return new Client(this);
  }

  partitionsOf(topic: string): readonly Partition[] {
    const partitions = this.#topics.get(topic);
    if (partitions === undefined) throw new GatewayError('unknown_topic', { message: topic });
    return partitions;
  }

  partition(topic: string, partition: number): Partition {
    return this.partitionsOf(topic)[partition]!;
  }

  write(batch: readonly PartitionMessages[], hasMarker: boolean): Position[] {
    const places = batch.map(({ topic, partition, messages }) => {
      const kept = this.partition(topic, partition);
      const offset = kept.end;
      for (const { key, value, headers, timestamp } of messages) {
        const at = timestamp ?? this.#clock.now();
        const bytes = value === null ? null : Buffer.from(value);
        kept.messages.push({ offset: kept.end++, key, value: bytes, headers, timestamp: at });
      }
      if (hasMarker) kept.end++;
      return { topic, partition, offset };
    });
    this.wake();
    return places;
  }

  consumed({ group, positions }: GroupPositions): void {
    for (const { topic, partition, offset } of positions) {
      this.#committed.set(`${group}/${topic}/${partition}`, offset);
    }
  }

  committedOf(group: string, topic: string): Map<number, number> {
    const found = this.partitionsOf(topic).flatMap((_, partition): [number, number][] => {
      const offset = this.#committed.get(`${group}/${topic}/${partition}`);
      return offset === undefined ? [] : [[partition, offset]];
    });
    return new Map(found);
  }

  openWriter(name: string): number {
    const epoch = (this.#writers.get(name) ?? 0) + 1;
    this.#writers.set(name, epoch);
    return epoch;
  }

  isFenced(name: string, epoch: number): boolean {
    return this.#writers.get(name) !== epoch;
  }

  /** The newest member gets every partition; the previous one is notified, unless its process is gone. */
  async join(client: Client, topic: string, handler: GroupHandler): Promise<() => Promise<void>> {
    const all = this.partitionsOf(topic).map((_, partition) => partition);
    const former = this.#members.at(-1);
    const member = { handler, client };
    this.#members.push(member);
    if (former !== undefined && !former.client.isGone && !former.client.isDeaf)
      await former.handler.revoked(all);
    await handler.assigned(all, ++this.#generation);
    return async () => {
      const isHolder = this.#members.at(-1) === member;
      this.#members.splice(this.#members.indexOf(member), 1);
      if (isHolder) await handler.revoked(all);
    };
  }

  wake(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }

  appended(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else this.#waiting.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

export class Client implements EventLog {
  readonly erasureMs = 0;
  readonly #log: SimulatedLog;
  isGone = false;
  /** It is not notified of the loss of its partitions. */
  isDeaf = false;

  constructor(log: SimulatedLog) {
    this.#log = log;
  }

  /** As if the process had died: nothing it does reaches the log any more. */
  kill(): void {
    this.isGone = true;
    this.#log.wake();
  }

  async identity(): Promise<string> {
    await this.#turn();
    return this.#log.identity;
  }

  ensureTopics(specs: readonly TopicSpec[]): Promise<void> {
    this.#log.addTopics(specs);
    return Promise.resolve();
  }

  async partitions(topic: string): Promise<number> {
    await this.#turn();
    return this.#log.partitionsOf(topic).length;
  }

  async append(batch: readonly PartitionMessages[]): Promise<Position[]> {
    await this.#turn();
    return this.#faulty('append', batch, () => this.#log.write(batch, false));
  }

  async openWriter(name: string): Promise<TransactionalWriter> {
    await this.#turn();
    const epoch = this.#log.openWriter(name);
    const commit = async (
      batch: readonly PartitionMessages[],
      consumed?: GroupPositions,
    ): Promise<Position[]> => {
      await this.#turn();
      if (this.#log.isFenced(name, epoch)) throw new GatewayError('writer_fenced');
      return this.#faulty('commit', batch, () => {
        if (consumed !== undefined) this.#log.consumed(consumed);
        return this.#log.write(batch, true);
      });
    };
    return { commit, [Symbol.asyncDispose]: () => Promise.resolve() };
  }

  async startOffset(topic: string, partition: number): Promise<number> {
    await this.#turn();
    return this.#log.partition(topic, partition).start;
  }

  async endOffset(topic: string, partition: number): Promise<number> {
    await this.#turn();
    return this.#log.partition(topic, partition).end;
  }

  async startOffsets(topic: string): Promise<readonly number[]> {
    const numbers = partitionNumbers(await this.partitions(topic));
    return Promise.all(numbers.map((partition) => this.startOffset(topic, partition)));
  }

  async endOffsets(topic: string): Promise<readonly number[]> {
    const numbers = partitionNumbers(await this.partitions(topic));
    return Promise.all(numbers.map((partition) => this.endOffset(topic, partition)));
  }

  async offsetAt(topic: string, partition: number, timestamp: number): Promise<number> {
    await this.#turn();
    const { messages, end } = this.#log.partition(topic, partition);
    return messages.find((message) => message.timestamp >= timestamp)?.offset ?? end;
  }

  async *follow(from: readonly Position[], { signal }: FollowOptions): AsyncGenerator<Batch> {
    const next = from.map((position) => ({ ...position }));
    while (!signal.aborted) {
      await this.#turn();
      let isIdle = true;
      for (const position of next) {
        const batch = this.#batch(position);
        if (batch.next === position.offset) continue;
        position.offset = batch.next;
        isIdle = false;
        yield batch;
      }
      if (isIdle) await this.#log.appended(signal);
    }
  }

  async *read(from: Position): AsyncGenerator<Batch> {
    await this.#turn();
    const batch = this.#batch(from);
    if (batch.next > from.offset) yield batch;
  }

  async join(group: string, topics: readonly string[], handler: GroupHandler): Promise<Membership> {
    await this.#turn();
    const leave = await this.#log.join(this, topics[0]!, handler);
    return { group, [Symbol.asyncDispose]: leave };
  }

  async committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    await this.#turn();
    return this.#log.committedOf(group, topic);
  }

  async commit(consumed: GroupPositions): Promise<void> {
    await this.#turn();
    this.#log.consumed(consumed);
  }

  async deleteBefore({ topic, partition, offset }: Position): Promise<void> {
    await this.#turn();
    const kept = this.#log.partition(topic, partition);
    kept.messages = kept.messages.filter((message) => message.offset >= offset);
    kept.start = Math.max(kept.start, offset);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  #batch({ topic, partition, offset }: Position): Batch {
    const { messages, end } = this.#log.partition(topic, partition);
    const found = messages.filter((message) => message.offset >= offset);
    return { topic, partition, messages: found, next: Math.max(offset, end) };
  }

  /** Nothing happens at once, so that everything can happen in between. */
  async #turn(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.isGone) throw new GatewayError('log_unavailable', { message: 'The process is gone.' });
  }

  async #faulty(
    kind: 'append' | 'commit',
    batch: readonly PartitionMessages[],
    write: () => Position[],
  ): Promise<Position[]> {
    const fault = this.#log.faultOf(kind, batch);
    const places = fault === 'unsure-lost' ? [] : write();
    await this.#turn();
    if (fault !== 'none') throw new GatewayError('log_unavailable', { message: fault });
    return places;
  }
}
