import { performance } from 'node:perf_hooks';

const lookEveryMs = 100;
/** Shares of its time that the thread works: below the one it can bear more runs, above the other fewer. */
const idleBelow = 0.5;
const busyAbove = 0.8;
/** Looks without an admission after which one waiter is admitted whatever the load: long runs must not hold up others. */
const patience = 5;

export interface LoadLimitOptions {
  readonly min: number;
  readonly max: number;
  /** There may be room now; `isOverdue`: one waiter is admitted in any case. */
  readonly grant: (isOverdue: boolean) => void;
  /** Share of the time since the last call that the thread has worked. Default: that of the calling thread. */
  readonly utilization?: () => number;
}

/**
 * How many background runs may start, by the load of the thread that serves them: each step of a request
 * waits for the steps of all runs. Runs that wait for their providers cost little, and get all places within a second.
 */
export class LoadLimit {
  readonly #options: LoadLimitOptions;
  readonly #utilization: () => number;
  #value: number;
  #waiting = 0;
  #looks = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LoadLimitOptions) {
    this.#options = options;
    this.#utilization = options.utilization ?? ownUtilization();
    this.#value = options.min;
  }

  get value(): number {
    return this.#value;
  }

  /** The load is looked at while something waits for a place. */
  wait(): Disposable {
    this.#waiting += 1;
    if (this.#timer === null) {
      this.#utilization();
      this.#timer = setInterval(() => this.look(), lookEveryMs);
    }
    return {
      [Symbol.dispose]: () => {
        this.#waiting -= 1;
        this.#looks = 0;
        if (this.#waiting > 0 || this.#timer === null) return;
        clearInterval(this.#timer);
        this.#timer = null;
        this.#value = this.#options.min;
      },
    };
  }

  look(): void {
    const { min, max, grant } = this.#options;
    const utilization = this.#utilization();
    this.#looks += 1;
    if (utilization > busyAbove) this.#value = Math.max(min, Math.floor((this.#value * 3) / 4));
    if (utilization < idleBelow && this.#value < max) {
      this.#value = Math.min(max, this.#value * 2);
      grant(false);
    } else if (this.#looks >= patience) {
      this.#looks = 0;
      grant(true);
    }
  }
}

function ownUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
