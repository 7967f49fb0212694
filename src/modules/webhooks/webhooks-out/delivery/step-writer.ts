import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { retrying } from '#kernel/retry.ts';
import { whenAborted } from './when-aborted.ts';

const batchMax = 1_000;
/** How long a step may still be appended after the end of its work. */
const graceMs = 2_000;

interface QueuedMessage {
  readonly message: PublicMessage;
  readonly partition: number;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends steps of deliveries: steps that arrive during an append form the next batch. */
export class StepWriter {
  readonly #publisher: Publisher;
  readonly #signal: AbortSignal;
  #waiting: QueuedMessage[] = [];
  #isSending = false;

  /** @param signal stops waiting for an unavailable log */
  constructor(publisher: Publisher, signal: AbortSignal) {
    this.#publisher = publisher;
    this.#signal = signal;
  }

  /**
   * Resolves with an offset at or after that of the step when it is appended; waits during an outage of the log, until
   * the signal.
   * @param partition of the message
   */
  async say(message: PublicMessage, partition: number, signal: AbortSignal): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#waiting.push({ message, partition, resolve, reject });
    if (!this.#isSending) void this.#send();
    const giveUp = (): void => {
      setTimeout(() => reject(signal.reason as Error), graceMs).unref();
    };
    const stop = whenAborted(signal, giveUp);
    try {
      return await promise;
    } finally {
      stop();
    }
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // Collects other steps of this turn of the event loop.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax);
      try {
        const last = await this.#append(batch);
        for (const { partition, resolve } of batch) resolve(last.get(partition) ?? 0);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isSending = false;
  }

  /** The offset of the last message of each partition. */
  async #append(batch: readonly QueuedMessage[]): Promise<ReadonlyMap<number, number>> {
    const messages = batch.map(({ message }) => message);
    const positions = await retrying(() => this.#publisher.publish(messages, 'system'), {
      signal: this.#signal,
    });
    return new Map(
      positions.map(({ partition, offset }) => {
        const count = batch.filter((queued) => queued.partition === partition).length;
        return [partition, offset + count - 1];
      }),
    );
  }
}
