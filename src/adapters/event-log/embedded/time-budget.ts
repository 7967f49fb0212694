import { setTimeout as sleep } from 'node:timers/promises';

/** Appends wait at most about this long for maintenance. */
const sliceMs = 3;

/** Lets maintenance use at most half of the log thread, in slices. */
export class TimeBudget {
  private began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.began >= sliceMs;
  }

  /** Returns at once while the slice lasts; otherwise rests as long as it took. */
  async rest(): Promise<void> {
    const tookMs = performance.now() - this.began;
    if (tookMs < sliceMs) return;
    await sleep(Math.min(Math.ceil(tookMs), 50));
    this.began = performance.now();
  }
}
