import type { EventLog, ReadMessage } from '#ports/event-log.ts';
import { recordCommandsTopic } from '../model/commands.ts';

/** Bytes read ahead of the decisions. */
const aheadBytesMax = 16 * 1024 ** 2;

/** Commands that were read and not yet decided, in order. */
export class CommandQueue implements AsyncDisposable {
  readonly #messages: ReadMessage[] = [];
  #first = 0;
  #bytes = 0;
  #changed = Promise.withResolvers<undefined>();
  #failure: { readonly error: unknown } | null = null;
  readonly #ending = new AbortController();
  readonly #reading: Promise<void>;

  constructor(log: EventLog, partition: number, offset: number) {
    this.#reading = this.#read(log, partition, offset);
  }

  /**
   * The next one, or undefined when the queue is empty.
   * @throws the error of the read
   */
  peek(): ReadMessage | undefined {
    if (this.#failure !== null) throw this.#failure.error;
    return this.#messages[this.#first];
  }

  shift(): void {
    const message = this.#messages[this.#first++];
    this.#bytes -= message?.value?.length ?? 0;
    if (this.#first === this.#messages.length) {
      this.#messages.length = 0;
      this.#first = 0;
    }
    if (this.#bytes < aheadBytesMax) this.#wake();
  }

  /** Resolves when a command was read, or reading has failed. */
  async change(): Promise<void> {
    if (this.#first < this.#messages.length || this.#failure !== null) return;
    await this.#changed.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    this.#wake();
    await this.#reading;
  }

  async #read(log: EventLog, partition: number, offset: number): Promise<void> {
    const { signal } = this.#ending;
    try {
      const from = [{ topic: recordCommandsTopic, partition, offset }];
      for await (const batch of log.follow(from, { signal })) {
        for (const message of batch.messages) {
          this.#messages.push(message);
          this.#bytes += message.value?.length ?? 0;
        }
        this.#wake();
        while (this.#bytes >= aheadBytesMax && !signal.aborted) await this.#changed.promise;
      }
      if (!signal.aborted) throw new Error('Following the commands ended.');
    } catch (error) {
      if (!signal.aborted) this.#failure = { error };
    } finally {
      this.#wake();
    }
  }

  #wake(): void {
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers<undefined>();
  }
}
