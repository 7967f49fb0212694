import { setTimeout as sleep } from 'node:timers/promises';

/** Longest delay of appends by maintenance, approximately. */
const sliceMs = 3;

/** Limits maintenance to half of the log thread, in slices. */
export class TimeBudget {
  private began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.began >= sliceMs;
  }

  /** Returns at once within the slice; otherwise pauses for as long as the slice took. */
  async rest(): Promise<void> {
    const tookMs = performance.now() - this.began;
    if (tookMs < sliceMs) return;
    await sleep(Math.min(Math.ceil(tookMs), 50));
    this.began = performance.now();
  }
}
