import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/**
 * The runs of a function with a concurrency, on one connection. Scope = that of the connection; path [...connection path,
 * kind of run, function]. Absent while there is none.
 */
export interface RunQueue {
  /** How many run at the same time, as the newest run says. */
  readonly concurrency: number;
  /** Ids of the runs that may start, or have started. */
  readonly admitted: readonly string[];
  /** Ids of the runs that wait, in order. */
  readonly waiting: readonly string[];
}

/** Sent by runs. */
export type RunQueueCommand = { readonly at: Instant; readonly runId: string } & (
  | { readonly type: 'Enter'; readonly concurrency: number }
  /** The run has ended, whether it had started or not. */
  | { readonly type: 'Leave' }
);

/** Events of a queue. */
export type RunQueueEvent =
  | { readonly type: 'RunEntered'; readonly runId: string; readonly concurrency: number }
  /** The first of those that wait may start. */
  | { readonly type: 'RunAdmitted'; readonly runId: string }
  | { readonly type: 'RunLeft'; readonly runId: string };

/** How many runs wait before a new one; null: it need not wait. */
export function runsAhead(queue: RunQueue | null, concurrency: number): number | null {
  if (queue === null) return null;
  const isFree = queue.waiting.length === 0 && queue.admitted.length < concurrency;
  return isFree ? null : queue.waiting.length;
}

/** The rules of a queue: first in, first out, and never more at the same time than its concurrency. */
export const runQueue: Decider<RunQueue | null, RunQueueCommand, RunQueueEvent> = {
  initial: null,

  decide(command, state) {
    const { runId } = command;
    if (command.type === 'Leave') return has(state, runId) ? left(state, runId) : [];
    if (has(state, runId)) return [];
    const { concurrency } = command;
    const waiting = state?.waiting.length ?? 0;
    if (waiting >= limits.heldRunsMax) {
      throw new GatewayError('execution_environment_unavailable', {
        message: `${waiting} runs of the function wait on this connection already.`,
      });
    }
    const entered = { type: 'RunEntered', runId, concurrency } as const;
    return [entered, ...admissions(evolve(state, entered))];
  },

  evolve,
};

const has = (state: RunQueue | null, runId: string): boolean =>
  state !== null && (state.admitted.includes(runId) || state.waiting.includes(runId));

function left(state: RunQueue | null, runId: string): RunQueueEvent[] {
  const event = { type: 'RunLeft', runId } as const;
  return [event, ...admissions(evolve(state, event))];
}

/** Of the runs that wait as many as there is room for. */
function admissions(state: RunQueue | null): RunQueueEvent[] {
  if (state === null) return [];
  const room = Math.max(0, state.concurrency - state.admitted.length);
  return state.waiting.slice(0, room).map((runId) => ({ type: 'RunAdmitted', runId }));
}

function evolve(state: RunQueue | null, event: RunQueueEvent): RunQueue | null {
  const { admitted = [], waiting = [] } = state ?? {};
  const { runId } = event;
  switch (event.type) {
    case 'RunEntered': {
      const { concurrency } = event;
      return runsAhead(state, concurrency) === null
        ? { concurrency, admitted: [...admitted, runId], waiting }
        : { concurrency, admitted, waiting: [...waiting, runId] };
    }
    case 'RunAdmitted':
      if (state === null) return null;
      return {
        ...state,
        admitted: [...admitted, runId],
        waiting: waiting.filter((one) => one !== runId),
      };
    case 'RunLeft': {
      const rest = {
        admitted: admitted.filter((one) => one !== runId),
        waiting: waiting.filter((one) => one !== runId),
      };
      const isEmpty = rest.admitted.length === 0 && rest.waiting.length === 0;
      return state === null || isEmpty ? null : { ...state, ...rest };
    }
  }
}
