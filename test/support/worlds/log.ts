import type {
  Batch,
  EventLog,
  FollowOptions,
  GroupHandler,
  Headers,
  Message,
  PartitionMessages,
  Position,
  ReadMessage,
  TopicSpec,
} from '#ports/event-log.ts';

/** A message with text as its value; null is a tombstone. */
export function message(key: string, value: string | null = key, headers: Headers = {}): Message {
  return { key, value: value === null ? null : Buffer.from(value), headers };
}

export const placed = (
  topic: string,
  partition: number,
  ...messages: Message[]
): PartitionMessages => ({
  topic,
  partition,
  messages,
});

export const position = (topic: string, partition = 0, offset = 0): Position => ({
  topic,
  partition,
  offset,
});

export const keptTopic = (name: string, partitions = 1): TopicSpec => ({
  name,
  partitions,
  cleanup: { policy: 'none' },
});

export const textOf = ({ value }: ReadMessage): string | null =>
  value === null ? null : Buffer.from(value).toString();

export async function collect(batches: AsyncIterable<Batch>): Promise<ReadMessage[]> {
  const messages: ReadMessage[] = [];
  for await (const batch of batches) messages.push(...batch.messages);
  return messages;
}

/** All messages of the partition from the offset to its end. */
export const readAll = (
  log: EventLog,
  topic: string,
  partition = 0,
  offset = 0,
): Promise<ReadMessage[]> => collect(log.read(position(topic, partition, offset)));

export async function keysOf(log: EventLog, topic: string, partition = 0, offset = 0) {
  return (await readAll(log, topic, partition, offset)).map(({ key }) => key);
}

/** Resolves when a condition holds, looked at after each `changed`. */
export class Condition {
  #waiting: (() => void)[] = [];

  changed(): void {
    const woken = this.#waiting;
    this.#waiting = [];
    for (const wake of woken) wake();
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** Follows in the background and keeps what came. */
export class Follower implements AsyncDisposable {
  readonly batches: Batch[] = [];
  readonly messages: ReadMessage[] = [];
  readonly #abort = new AbortController();
  readonly #condition = new Condition();
  readonly #done: Promise<void>;
  #failure: unknown = null;

  constructor(log: EventLog, from: readonly Position[], options: Partial<FollowOptions> = {}) {
    this.#done = this.#run(log, from, options);
  }

  get keys(): string[] {
    return this.messages.map(({ key }) => key);
  }

  /** @throws what the iteration failed with, as soon as it does. */
  async until(holds: (follower: this) => boolean): Promise<void> {
    await this.#condition.until(() => this.#failure !== null || holds(this));
    if (this.#failure !== null) throw this.#failure as Error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#done;
  }

  async #run(log: EventLog, from: readonly Position[], options: Partial<FollowOptions>) {
    try {
      for await (const batch of log.follow(from, { ...options, signal: this.#abort.signal })) {
        this.batches.push(batch);
        this.messages.push(...batch.messages);
        this.#condition.changed();
      }
    } catch (error) {
      this.#failure = error;
      this.#condition.changed();
    }
  }
}

/** A group member that notes what it holds. `onRevoked` delays the release. */
export class HoldingMember implements GroupHandler {
  readonly held = new Set<number>();
  /** Every call, in order: `+1,2` for assigned, `-1,2` for revoked. */
  readonly calls: string[] = [];
  readonly generations: number[] = [];
  onRevoked: () => Promise<void> = () => Promise.resolve();
  static readonly #condition = new Condition();

  assigned(partitions: readonly number[], generation: number): void {
    for (const partition of partitions) this.held.add(partition);
    this.calls.push(`+${partitions.join()}`);
    this.generations.push(generation);
    HoldingMember.#condition.changed();
  }

  async revoked(partitions: readonly number[]): Promise<void> {
    this.calls.push(`-${partitions.join()}`);
    HoldingMember.#condition.changed();
    await this.onRevoked();
    for (const partition of partitions) this.held.delete(partition);
    HoldingMember.#condition.changed();
  }

  /** Resolves when the condition holds, looked at after each call of any member. */
  static until(holds: () => boolean): Promise<void> {
    return HoldingMember.#condition.until(holds);
  }
}
