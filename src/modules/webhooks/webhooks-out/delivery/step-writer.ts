import type { PublicMessage } from '../../../../control-plane/entity.ts';
import type { Publisher } from '../../../../control-plane/publisher.ts';
import { throughOutage } from '../../../functions/runs/runner/attempt.ts';
import { whenAborted } from './when-aborted.ts';

const batchMax = 1_000;
/** How long a step may still take after the end of the work that it is of. */
const graceMs = 2_000;

interface Said {
  readonly message: PublicMessage;
  readonly partition: number;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends what becomes of deliveries: what is said while an append is under way travels together in the next. */
export class StepWriter {
  readonly #publisher: Publisher;
  readonly #signal: AbortSignal;
  #waiting: Said[] = [];
  #isSending = false;

  /** @param signal its end gives up waiting for a log that is away */
  constructor(publisher: Publisher, signal: AbortSignal) {
    this.#publisher = publisher;
    this.#signal = signal;
  }

  /**
   * Resolves with an offset at or after that of the step once the log has it: an outage of the log is waited
   * out, until the signal.
   * @param partition the one that the message goes to
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
    // What else is said in this turn goes along.
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
  async #append(batch: readonly Said[]): Promise<ReadonlyMap<number, number>> {
    const messages = batch.map(({ message }) => message);
    const positions = await throughOutage(
      () => this.#publisher.publish(messages, 'system'),
      this.#signal,
    );
    return new Map(
      positions.map(({ partition, offset }) => {
        const count = batch.filter((fields) => fields.partition === partition).length;
        return [partition, offset + count - 1];
      }),
    );
  }
}
