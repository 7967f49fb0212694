import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';

/** Fraction of the run time after which continuing in the next run is better than a timeout. */
const usedShare = 0.8;

/**
 * The time limit of one run of a sync. After four fifths of it, saving a checkpoint ends the run successfully, and the
 * next one continues from there at once (docs/reference/functions.md#checkpoints).
 */
export class RunTimeBudget {
  readonly #clock: Clock;
  readonly #usedUpAt: number;
  #hasEndedRun = false;

  /** @param wallMs time limit of the run from now on */
  constructor(clock: Clock, wallMs: number) {
    this.#clock = clock;
    this.#usedUpAt = clock.now() + wallMs * usedShare;
  }

  /** @throws GatewayError `run_interrupted` once the time is used up */
  afterCheckpoint(): void {
    if (this.#clock.now() < this.#usedUpAt) return;
    this.#hasEndedRun = true;
    const message =
      'The time limit of this run is close: the next run continues from this checkpoint.';
    throw new GatewayError('run_interrupted', { message });
  }

  /** Whether this is the uncaught error of `afterCheckpoint`. */
  isEndedBy(error: GatewayError): boolean {
    const { payload } = error.details;
    const isOurs =
      typeof payload === 'object' &&
      payload !== null &&
      'code' in payload &&
      payload.code === 'run_interrupted';
    return this.#hasEndedRun && isOurs;
  }
}
