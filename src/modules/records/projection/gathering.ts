/** With fewer changes than this, an insert waits only a moment for more. */
const lingerBelowChanges = 1_000;
/**
 * Changes within `rushMs` that come faster than single inserts can handle: an insert has a fixed cost, that of some
 * thousand rows, and so has each part that it leaves to be merged. Waiting for `gatherMs` makes inserts of thousands.
 */
const rushChanges = 400;
const rushMs = 250;
const gatherMs = 500;
/** When nothing more has come for this long, the rush is over: its readers wait no longer. */
const quietMs = 100;
/**
 * While tables without readers are filled from the log, inserts become as large as possible. After that, inserts are
 * delayed less: a projector that waits for each insert never catches up with the writers.
 */
const fillGatherMs = 2_000;

interface RecentInsert {
  /** When the insert began. */
  readonly at: number;
  readonly changes: number;
}

/**
 * Decides how long a batch waits for more changes before it is inserted. Times are milliseconds of a monotonic clock,
 * `changes` those of the open batch.
 */
export class Gathering {
  #recent: readonly RecentInsert[] = [];
  #begunAt = 0;
  #grewAt = 0;
  #changes = 0;

  /** Notes that an insert of so many changes begins. */
  inserting(at: number, changes: number): void {
    this.#recent = [...this.#since(at - rushMs), { at, changes }];
  }

  /** Begins to gather; false when the batch is worth an insert as it is: what comes alone is readable at once. */
  begin(at: number, changes: number): boolean {
    this.#begunAt = at;
    this.#grewAt = at;
    this.#changes = changes;
    if (changes >= lingerBelowChanges) return true;
    const before = this.#since(at - rushMs).reduce((sum, recent) => sum + recent.changes, 0);
    return before > 0 && before + changes >= rushChanges;
  }

  /** Whether the batch has waited long enough. */
  isOver(at: number, changes: number, isFilling: boolean): boolean {
    if (changes > this.#changes) this.#grewAt = at;
    this.#changes = changes;
    if (isFilling) return at - this.#begunAt >= fillGatherMs;
    return at - this.#begunAt >= gatherMs || at - this.#grewAt >= quietMs;
  }

  #since(at: number): readonly RecentInsert[] {
    return this.#recent.filter((recent) => recent.at > at);
  }
}
