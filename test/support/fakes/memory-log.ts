import type { Batch, EventLog, Message, Position, ReadMessage } from '#ports/event-log.ts';

/**
 * One topic in memory whose batches are cut as the test wants: for readers that must not depend on
 * where batches begin and end. What the port promises is proved on the real adapters.
 */
export class MemoryLog implements Pick<EventLog, 'follow' | 'read' | 'startOffset' | 'endOffset'> {
  readonly topic: string;
  readonly #partitions: ReadMessage[][];
  readonly #wakers = new Set<() => void>();
  /** Messages in one batch. */
  batchSize = 1000;
  /** Batches that `follow` handed out. */
  followed = 0;

  constructor(topic: string, partitions: number) {
    this.topic = topic;
    this.#partitions = Array.from({ length: partitions }, () => []);
  }

  /** Returns the end offset of the partition. */
  append(partition: number, messages: readonly Message[], timestamp = 0): number {
    const kept = this.#partitions[partition]!;
    for (const message of messages) {
      kept.push({ ...message, offset: kept.length, timestamp: message.timestamp ?? timestamp });
    }
    for (const wake of this.#wakers) wake();
    return kept.length;
  }

  startOffset(): Promise<number> {
    return Promise.resolve(0);
  }

  endOffset(_topic: string, partition: number): Promise<number> {
    return Promise.resolve(this.#partitions[partition]!.length);
  }

  async *follow(
    from: readonly Position[],
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<Batch> {
    const next = new Map(from.map(({ partition, offset }) => [partition, offset]));
    while (!signal.aborted) {
      const batch = this.#nextBatch(next);
      if (batch === null) await this.#appended(signal);
      else {
        // Round robin: a partition that got a batch goes to the end of the queue.
        next.delete(batch.partition);
        next.set(batch.partition, batch.next);
        this.followed++;
        yield batch;
      }
    }
  }

  async *read({ partition, offset }: Position): AsyncGenerator<Batch> {
    const end = this.#partitions[partition]!.length;
    for (let next = offset; next < end;) {
      const messages = this.#partitions[partition]!.slice(
        next,
        Math.min(end, next + this.batchSize),
      );
      next += messages.length;
      yield await Promise.resolve({ topic: this.topic, partition, messages, next });
    }
  }

  #nextBatch(next: ReadonlyMap<number, number>): Batch | null {
    for (const [partition, offset] of next) {
      const messages = this.#partitions[partition]!.slice(offset, offset + this.batchSize);
      if (messages.length === 0) continue;
      return { topic: this.topic, partition, messages, next: offset + messages.length };
    }
    return null;
  }

  async #appended(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#wakers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wakers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
