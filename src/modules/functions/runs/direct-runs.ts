import type { RunChanged } from './events.ts';

/** What a runner has to know of a run that is called for. */
export type CalledRun = Pick<
  RunChanged,
  | 'kind'
  | 'function'
  | 'attempt'
  | 'variant'
  | 'trigger'
  | 'run_id'
  | 'log_id'
  | 'environment_id'
  | 'integration'
  | 'connection_id'
  | 'connection_uid'
>;

/** Body of an end, and its keyed hash as the ledger has it. */
export interface EndBody {
  readonly json: string;
  readonly hash: string;
}

/**
 * A run with a place of its own in this process, from before it is queued. Who asked waits here, so that neither its
 * input nor its output travels on the log. Disposing it gives the place back if the run has not begun.
 */
export interface TakenRun extends Disposable {
  /** Name of the runner, for the owner. */
  readonly runner: string;
  /** Runs the function: only once the owner has taken the start. */
  begin(input: {
    readonly input: string | undefined;
    readonly depth: number;
    /** The body of its outcome goes to the log as well, for repeated requests. */
    readonly isKept: boolean;
  }): void;
  /** Null until the owner is told of the end. */
  readonly end: EndBody | null;
  /** Resolves once the owner has ended the run as it went here; never, when it ended otherwise. */
  readonly ended: Promise<EndBody>;
  /** The owner has ended the run: what is still going stops. */
  stop(): void;
}

export interface RunTaker {
  /** Null when no slot is free: the run is then queued for any runner. */
  take(run: CalledRun): TakenRun | null;
}

/** Connects requests for runs with the runner of the same process, where there is one. */
export class DirectRuns implements RunTaker {
  #taker: RunTaker | null = null;

  take(run: CalledRun): TakenRun | null {
    return this.#taker?.take(run) ?? null;
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
