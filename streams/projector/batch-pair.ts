/** Two batches in turns: one is filled by the reading side of a projector while the other one is inserted. */
export class BatchPair<B extends { clear(): void }> {
  #open: B;
  #spare: B;
  #opened = Promise.withResolvers<undefined>();
  #taken = Promise.withResolvers<undefined>();

  constructor(make: () => B) {
    this.#open = make();
    this.#spare = make();
  }

  /** The one that is filled. */
  get open(): B {
    return this.#open;
  }

  /** Resolves when there is something in the open batch: `noteFilled`. */
  get filled(): Promise<undefined> {
    return this.#opened.promise;
  }

  /** Resolves when the open batch of this moment is swapped. */
  get swapped(): Promise<undefined> {
    return this.#taken.promise;
  }

  noteFilled(): void {
    this.#opened.resolve(undefined);
  }

  /** The batch that was filled. It comes back with `giveBack` before the next swap. */
  swap(): B {
    const batch = this.#open;
    this.#open = this.#spare;
    this.#opened = Promise.withResolvers();
    this.#taken.resolve(undefined);
    this.#taken = Promise.withResolvers();
    return batch;
  }

  giveBack(batch: B): void {
    batch.clear();
    this.#spare = batch;
  }

  /** Ends all waiting, so that who waits can see that it is over. */
  wake(): void {
    this.#opened.resolve(undefined);
    this.#taken.resolve(undefined);
  }
}
