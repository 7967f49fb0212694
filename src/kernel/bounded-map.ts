/** A cache: full, it forgets its oldest entries, an eighth at a time so that each costs little. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: K, value: V): this {
    if (this.size >= this.#max && !this.has(key)) {
      let left = Math.ceil(this.#max / 8);
      for (const oldest of this.keys()) {
        this.delete(oldest);
        if (--left === 0) break;
      }
    }
    return super.set(key, value);
  }
}
