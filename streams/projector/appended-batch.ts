import type { Instant } from '../../src/kernel/time.ts';
import { TabWriter } from '../../src/ports/rows.ts';
import type { AnyAppendedProjection } from './appended.ts';

/** The range of one partition in a batch. */
interface Range {
  readonly first: number;
  last: number;
  /** The offset to continue from. */
  next: number;
  /** Time of the last message, ms. */
  lastAt: Instant;
}

/** A message that becomes a row. */
export interface Entry {
  readonly partition: number;
  readonly offset: number;
  readonly event: unknown;
}

/** Messages of any partitions, inserted into the table at once. */
export class AppendedBatch {
  readonly ranges = new Map<number, Range>();
  readonly entries: Entry[] = [];
  readonly #projection: AnyAppendedProjection;
  readonly #rows = new TabWriter(64 * 1024);

  constructor(projection: AnyAppendedProjection) {
    this.#projection = projection;
  }

  get rows(): Uint8Array {
    return this.#rows.text();
  }

  get bytes(): number {
    return this.#rows.bytes;
  }

  /** The same messages always give the same token. */
  get token(): string {
    const parts = [...this.ranges].map(([at, { first, last }]) => `${at}:${first}-${last}`);
    return `${this.#projection.topic}:${parts.join(',')}`;
  }

  /** Records that the partition was read up to the offset. */
  reach(partition: number, first: number, next: number, at: Instant): void {
    const range = this.ranges.get(partition);
    if (range === undefined) {
      this.ranges.set(partition, { first, last: next - 1, next, lastAt: at });
      return;
    }
    range.last = next - 1;
    range.next = next;
    range.lastAt = Math.max(range.lastAt, at);
  }

  /** @throws RangeError for an event with impossible numbers; the batch is unchanged. */
  add(entry: Entry): void {
    this.#rows.begin();
    try {
      this.#rows.uint(entry.partition);
      this.#rows.uint(entry.offset);
      this.#projection.write(this.#rows, entry.event);
      this.#rows.endRow();
    } catch (error) {
      this.#rows.undo();
      throw error;
    }
    this.entries.push(entry);
  }

  clear(): void {
    this.#rows.clear();
    this.ranges.clear();
    this.entries.length = 0;
  }
}
