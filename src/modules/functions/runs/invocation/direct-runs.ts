import type { SyncInstance } from '../../syncs/state.ts';
import type { Attempt } from '../ledger/events.ts';

/** Body of an outcome, and its keyed hash in the ledger. */
export interface EndBody {
  readonly json: string;
  readonly hash: string;
}

/**
 * A run with a reserved slot in this process, before it is queued. The caller waits in this process, so its output is
 * not written to the log, and its input only beside the run. Disposing it releases the slot if the run has not started.
 */
export interface TakenRun extends Disposable {
  /** Name of the runner, for the owner. */
  readonly runner: string;
  /** Runs the function, after the owner has accepted the start. */
  begin(input: {
    readonly input: string | undefined;
    readonly depth: number;
    /** The body of its outcome goes to the log as well, for repeated requests. */
    readonly isKept: boolean;
  }): void;
  /** Null until the outcome is reported to the owner. */
  readonly end: EndBody | null;
  /** Resolves when the owner has accepted the outcome of this process; never, if it ended otherwise. */
  readonly ended: Promise<EndBody>;
  /** The owner has ended the run: aborts the function. */
  stop(): void;
}

/** A run of a sync with a reserved slot in this process. Disposing it releases the slot if the run has not started. */
export interface TakenSync extends Disposable {
  /** Name of the runner, for the owner. */
  readonly runner: string;
  /** Runs the sync, after the owner has accepted the start. */
  begin(instance: SyncInstance): void;
  /** The owner has ended the run: aborts the function. */
  stop(): void;
  /** Resolves when the slot is free again. */
  readonly over: Promise<unknown>;
}

export interface RunTaker {
  /** Null when no slot is free: the run is then queued for any runner. */
  take(attempt: Attempt): TakenRun | null;
  /** The same for the first attempt of a sync. */
  takeSync(attempt: Attempt): TakenSync | null;
}

/** Connects requests for runs with the runner of the same process, where there is one. */
export class DirectRuns implements RunTaker {
  #taker: RunTaker | null = null;

  take(attempt: Attempt): TakenRun | null {
    return this.#taker?.take(attempt) ?? null;
  }

  takeSync(attempt: Attempt): TakenSync | null {
    return this.#taker?.takeSync(attempt) ?? null;
  }

  /** Until disposed of. */
  offer(taker: RunTaker): Disposable {
    this.#taker = taker;
    return {
      [Symbol.dispose]: () => {
        if (this.#taker === taker) this.#taker = null;
      },
    };
  }
}
