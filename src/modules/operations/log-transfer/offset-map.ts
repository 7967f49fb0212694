import type { BodyPlace } from '#modules/functions/runs/ledger/events.ts';

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

/** Where the messages of each partition went. */
export class OffsetMaps {
  /** By topic and old partition, then by new partition. */
  readonly #maps = new Map<string, Map<number, OffsetMap>>();

  /** Begins a partition; one without messages belongs to the copy, too. */
  begin(topic: string, from: number): void {
    this.#maps.set(`${topic}/${from}`, new Map());
  }

  add(topic: string, from: number, to: number, former: number, now: number): void {
    const maps = this.#maps.get(`${topic}/${from}`) ?? new Map<number, OffsetMap>();
    const map = maps.get(to) ?? new OffsetMap();
    maps.set(to, map);
    map.add(former, now);
  }

  /** `OffsetMap.next` in the new partition; offsets of a topic that is not copied stay as they are. */
  next(topic: string, from: number, to: number, former: number): number {
    const maps = this.#maps.get(`${topic}/${from}`);
    return maps === undefined ? former : (maps.get(to)?.next(former) ?? 0);
  }

  /** The new partitions that have messages of the old one. */
  targets(topic: string, from: number): readonly number[] {
    return [...(this.#maps.get(`${topic}/${from}`)?.keys() ?? [from])];
  }

  /** The new place of the message; null: it was not copied. */
  find(topic: string, { partition, offset }: BodyPlace): BodyPlace | null {
    const maps = this.#maps.get(`${topic}/${partition}`);
    if (maps === undefined) return { partition, offset };
    for (const [to, map] of maps) {
      const now = map.exact(offset);
      if (now !== null) return { partition: to, offset: now };
    }
    return null;
  }
}
