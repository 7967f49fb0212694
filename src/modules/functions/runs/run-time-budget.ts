import { GatewayError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time.ts';

/** Of the time that a run may take; then it is cheaper to go on in the next run than to be cut off. */
const usedShare = 0.8;

/**
 * The time that one run of a sync may take. Once four fifths of it are used, a checkpoint that is saved ends the run
 * well, and the next one goes on from there at once (docs/reference/functions.md#checkpoints).
 */
export class RunTimeBudget {
  readonly #clock: Clock;
  readonly #usedUpAt: number;
  #hasEndedRun = false;

  /** @param wallMs what the run may take, from now on */
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

  /** Whether this is the error of `afterCheckpoint`, which nothing in the function has caught. */
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
