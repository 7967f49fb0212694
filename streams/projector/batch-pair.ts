/** Two alternating batches: the reading side of a projector fills one while the other one is inserted. */
export class BatchPair<B extends { readonly isEmpty: boolean; clear(): void }> {
  readonly #make: () => B;
  #open: B;
  #spare: B;
  #opened = Promise.withResolvers<undefined>();
  #taken = Promise.withResolvers<undefined>();

  constructor(make: () => B) {
    this.#make = make;
    this.#open = make();
    this.#spare = make();
  }

  /** The batch that is being filled. */
  get open(): B {
    return this.#open;
  }

  /** Resolves when the open batch is not empty: `noteFilled`. */
  get filled(): Promise<undefined> {
    return this.#opened.promise;
  }

  /** Resolves when the current open batch is swapped. */
  get swapped(): Promise<undefined> {
    return this.#taken.promise;
  }

  noteFilled(): void {
    this.#opened.resolve(undefined);
  }

  /** Returns the filled batch. Return it with `giveBack` before the next swap. */
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

  /** Replaces both batches while they are empty: their buffers keep the size of the largest insert. */
  renew(): void {
    if (!this.#open.isEmpty) return;
    this.#open = this.#make();
    this.#spare = this.#make();
  }

  /** Ends all waits, so that waiters check whether they must stop. */
  wake(): void {
    this.#opened.resolve(undefined);
    this.#taken.resolve(undefined);
  }
}
