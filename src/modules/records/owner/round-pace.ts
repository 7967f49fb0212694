/** Records of a round from which on the next round waits for more commands. */
const rushRecords = 50;
/** Each round costs a transaction of the log, and an entry that all readers of the changes unpack. */
const gatherMs = 25;

/**
 * Decides how long a round waits for further commands before it is written: not at all while little is written.
 * Times are milliseconds of a monotonic clock.
 */
export class RoundPace {
  #dueAt = -Infinity;

  /** Notes that a round begins to be written. */
  written(at: number, records: number): void {
    if (records >= rushRecords) this.#dueAt = at + gatherMs;
  }

  /** `isAwaited`: somebody waits for a reply of the round. */
  waitMs(at: number, isAwaited: boolean): number {
    return isAwaited ? 0 : Math.max(0, this.#dueAt - at);
  }
}
