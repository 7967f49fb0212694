import type { Micros } from '#kernel/time.ts';
import type { LostChanges } from '#modules/access/environments/environment.ts';

/**
 * The changes of records between the content that a log is filled with and the time of that. Their positions are given
 * again, their times are not (docs/adr/0050-cursors-of-lost-changes.md).
 */
export class LostTail {
  readonly until: Micros;
  readonly #after: Micros[];

  /** @param partitions of the records topic in the source */
  constructor(restoredAt: Micros, partitions: number) {
    this.until = restoredAt;
    this.#after = Array.from({ length: partitions }, () => 0);
  }

  /** @param modifiedAt the last modification time in a head of the partition of the source */
  see(partition: number, modifiedAt: Micros): void {
    this.#after[partition] = Math.max(this.#after[partition] ?? 0, modifiedAt);
  }

  /** Once all heads were seen. */
  note(): LostChanges {
    return { after: [...this.#after], until: this.until };
  }
}
