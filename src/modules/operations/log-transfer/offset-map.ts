/** Maps old offsets of a partition to new ones. Each sequence without a gap takes one entry. */
export class OffsetMap {
  /** First and last old offset of each sequence, and its first new offset. */
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  readonly #now: number[] = [];
  /** Offset after everything. */
  #end = 0;

  /** Adds a message; calls are in the order of offsets. */
  add(former: number, now: number): void {
    const at = this.#first.length - 1;
    const isNext =
      this.#last[at] === former - 1 && this.#now[at] === now - (former - (this.#first[at] ?? 0));
    if (at >= 0 && isNext) this.#last[at] = former;
    else {
      this.#first.push(former);
      this.#last.push(former);
      this.#now.push(now);
    }
    this.#end = now + 1;
  }

  /** The new position of a reader: the first message at or after the old offset. */
  next(former: number): number {
    const at = this.#runAt(former);
    const first = this.#first[at];
    if (first === undefined) return this.#end;
    return (this.#now[at] ?? 0) + Math.max(0, former - first);
  }

  /** The new offset of the message; null = it was not imported. */
  exact(former: number): number | null {
    const first = this.#first[this.#runAt(former)];
    return first !== undefined && former >= first ? this.next(former) : null;
  }

  /** The first sequence that ends at or after the offset. */
  #runAt(former: number): number {
    let low = 0;
    let high = this.#last.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#last[middle] ?? 0) < former) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
