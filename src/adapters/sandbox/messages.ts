import type { RunFailure, RunLimits, RunResult } from '#ports/sandbox.ts';

/** Messages of the supervisor to a child. Plain data. */
export type ToChild =
  /** The first message: the script of the isolate. */
  | { readonly kind: 'init'; readonly runtime: string; readonly settings: ChildSettings }
  | {
      readonly kind: 'run';
      readonly run: number;
      readonly bundle: string;
      readonly fileName: string;
      /** JSON text of a `GuestOrder`. */
      readonly order: string;
      readonly limits: RunLimits;
    }
  | {
      readonly kind: 'settle';
      readonly run: number;
      readonly id: number;
      readonly isDone: boolean;
      readonly json: string;
      readonly body: string;
    }
  | { readonly kind: 'abort'; readonly run: number; readonly reason: AbortReason }
  /** Ends the run at once. */
  | { readonly kind: 'kill'; readonly run: number; readonly failure: RunFailure };

export type FromChild =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'call';
      readonly run: number;
      readonly id: number;
      readonly method: string;
      readonly args: string;
    }
  | { readonly kind: 'ended'; readonly run: number; readonly result: RunResult }
  /** The run is being ended for its memory: if the process dies, this run is the cause. */
  | { readonly kind: 'suspect'; readonly run: number }
  /**
   * The process exceeds its limit of memory, or an isolate keeps its memory or its thread permanently: current runs
   * may end, no other may begin.
   */
  | { readonly kind: 'exhausted' };

export interface ChildSettings {
  /** Isolates created in advance. */
  readonly spares: number;
  /** Heap of an isolate created in advance; runs with another limit get a new one. */
  readonly heapMb: number;
  /** Resident memory of the process above which it takes no more runs. */
  readonly residentMb: number;
}

export interface AbortReason {
  readonly code: 'script_aborted' | 'execution_timeout';
  readonly message: string;
}
