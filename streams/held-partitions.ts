interface PartitionTask {
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

/** The partitions that a group assigns to this process: for each, work that runs until the partition is revoked. */
export class HeldPartitions {
  readonly #work: (partition: number, signal: AbortSignal) => Promise<void>;
  readonly #held = new Map<number, PartitionTask>();

  /** @param work must not reject; it ends when the signal aborts, or by itself */
  constructor(work: (partition: number, signal: AbortSignal) => Promise<void>) {
    this.#work = work;
  }

  /** Work of an earlier assignment ends first. */
  async assigned(partitions: readonly number[]): Promise<void> {
    await this.revoked(partitions);
    for (const partition of partitions) {
      const ending = new AbortController();
      this.#held.set(partition, { ending, done: this.#work(partition, ending.signal) });
    }
  }

  async revoked(partitions: readonly number[]): Promise<void> {
    await Promise.all(
      partitions.map(async (partition) => {
        const held = this.#held.get(partition);
        held?.ending.abort();
        await held?.done;
        this.#held.delete(partition);
      }),
    );
  }

  /** Revokes all. */
  releaseAll(): Promise<void> {
    return this.revoked([...this.#held.keys()]);
  }
}
