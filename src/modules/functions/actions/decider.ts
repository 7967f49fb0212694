import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { dayMs, type Instant } from '#kernel/time.ts';
import type { ModelPosition, ModelResult } from '#modules/records/model/events.ts';
import type { BodyPlace } from '../runs/ledger/events.ts';
import type { RunFailure } from '../syncs/events.ts';
import type { EndStatus } from '../syncs/state.ts';
import type { ActionBorn, ActionEvent } from './events.ts';
import type { ActionRun, CalledKind } from './state.ts';

/** A started run without a heartbeat for this time counts as crashed. */
const heartbeatTimeoutMs = 60_000;
/** The retention of bodies (streams/topics.ts). */
const outputKeptMs = 7 * dayMs;

type CommandTime = { readonly at: Instant };
type OfAttempt = { readonly attempt: number };

/** Commands to a run. The owner of the partition adds `at`. */
export type ActionCommand = CommandTime &
  /** `runner`: the requesting process starts the run itself, at once. */
  (
    | ({
        readonly type: 'Queue';
        readonly runner?: string;
        /** Added by the owner: how many runs wait before it. Absent: it may start. */
        readonly ahead?: number;
      } & ActionBorn)
    /** Sent by its queue. */
    | { readonly type: 'Admit' }
    | { readonly type: 'Tick' }
    | { readonly type: 'Cancel' }
    | ({ readonly type: 'RunStarted'; readonly runner: string } & OfAttempt)
    | ({ readonly type: 'Heartbeat' } & OfAttempt)
    | ({
        readonly type: 'RunEnded';
        readonly status: EndStatus;
        readonly output: BodyPlace | null;
        readonly outputHash: string | null;
        readonly error: RunFailure | null;
        readonly counts?: readonly ModelResult[];
        readonly positions?: readonly ModelPosition[];
      } & OfAttempt)
  );

/**
 * The rules of an invoked run: it starts before its deadline or not at all, and once user code may have started it is
 * never silently repeated (docs/reference/guarantees.md#repeats).
 */
export const action: Decider<ActionRun | null, ActionCommand, ActionEvent> = {
  initial: null,
  decide(command, state) {
    if (command.type === 'Queue') return state === null ? queued(command) : [];
    if (command.type === 'Tick') return state === null ? [] : tick(state, command.at);
    if (command.type === 'Cancel') return cancel(state, command.at);
    if (command.type === 'Admit') return admit(state, command.at);
    if (state === null || isOver(state) || state.attempt !== command.attempt)
      throw new GatewayError('stale_attempt');
    switch (command.type) {
      case 'RunStarted':
        return start(command, state);
      case 'Heartbeat':
        return [{ type: 'ActionHeartbeatReceived', at: command.at }];
      case 'RunEnded':
        return end(command, state);
    }
  },
  evolve,
};

/** The time of the next timeout. */
export function actionDueAt(state: ActionRun): Instant {
  if (state.endedAt !== null) {
    return state.endedAt + (state.isAsync ? outputKeptMs : limits.idempotencyMs);
  }
  return state.status === 'queued' ? state.startBy : silentAt(state);
}

export const kindOf = ({ kind = 'action' }: Pick<ActionRun, 'kind'>): CalledKind => kind;

const isOver = (state: ActionRun): boolean => state.endedAt !== null;
const silentAt = (state: ActionRun): Instant =>
  Math.max(state.heartbeatAt ?? 0, state.startedAt ?? 0) + heartbeatTimeoutMs;

function queued(command: Extract<ActionCommand, { type: 'Queue' }>): ActionEvent[] {
  const { type: _, at, runner, ahead, ...born } = command;
  const event = { type: 'ActionQueued', ...born, startBy: startBy(born, at) } as const;
  if (ahead !== undefined) return [{ ...event, ahead, startBy: heldUntil(born, at) }];
  if (runner === undefined) return [event];
  return [
    { ...event, isTaken: true },
    { type: 'ActionStarted', at, runner },
  ];
}

/** When it must have started (docs/reference/functions.md#limits). */
function startBy(run: Pick<ActionRun, 'kind' | 'isAsync'>, at: Instant): Instant {
  switch (kindOf(run)) {
    case 'action':
      return at + (run.isAsync ? limits.asyncActionStartByMs : limits.actionStartByMs);
    case 'on-event':
      return at + limits.eventStartByMs;
    case 'on-change':
      return at + limits.changeRunStartByMs;
    case 'webhook':
      return at + limits.webhookRunStartByMs;
    case 'dryrun':
      return at + limits.dryRunStartByMs;
  }
}

/** A caller waits no longer for a run that is held than for any other. */
function heldUntil(run: Pick<ActionRun, 'kind' | 'isAsync'>, at: Instant): Instant {
  return isCallerWaiting(run) ? startBy(run, at) : at + limits.heldRunMaxMs;
}

const isCallerWaiting = (run: Pick<ActionRun, 'kind' | 'isAsync'>): boolean =>
  kindOf(run) === 'on-event' || !run.isAsync;

function admit(state: ActionRun | null, at: Instant): ActionEvent[] {
  if (state?.isHeld !== true || isOver(state)) return [];
  const until = isCallerWaiting(state) ? state.startBy : startBy(state, at);
  return [{ type: 'ActionAdmitted', startBy: until }];
}

/** A finished run does not change. */
function cancel(state: ActionRun | null, at: Instant): ActionEvent[] {
  if (state === null || isOver(state)) return [];
  const error = { code: 'script_aborted', message: 'The run was cancelled.' };
  return [ended('cancelled', at, error)];
}

function start(
  command: Extract<ActionCommand, { type: 'RunStarted' }>,
  state: ActionRun,
): ActionEvent[] {
  const { at, runner } = command;
  if (state.isHeld === true)
    throw new GatewayError('stale_attempt', { message: 'The run waits for another to end.' });
  if (state.status === 'started') {
    if (state.runner === runner) return [];
    throw new GatewayError('stale_attempt');
  }
  if (at > state.startBy)
    throw new GatewayError('stale_attempt', { message: 'The run can no longer start.' });
  return [{ type: 'ActionStarted', at, runner }];
}

function tick(state: ActionRun, at: Instant): ActionEvent[] {
  if (at < actionDueAt(state)) return [];
  if (isOver(state)) return [{ type: 'ActionForgotten' }];
  if (state.status === 'queued') {
    const error = {
      code: 'execution_environment_unavailable',
      message:
        state.isHeld === true
          ? `The run waited too long: at most ${state.concurrency} of its function run on the connection at the same time.`
          : 'No runner started the run in time.',
    };
    return [ended('timed_out', at, error)];
  }
  if (state.retriesLeft > 0) return [requeued(state, at)];
  const error = { code: 'run_interrupted', message: 'The runner crashed while the function ran.' };
  return [ended('interrupted', at, error)];
}

function end(
  command: Extract<ActionCommand, { type: 'RunEnded' }>,
  state: ActionRun,
): ActionEvent[] {
  const { status, at, output, outputHash, error, counts, positions } = command;
  const isRepeatable = status !== 'succeeded' && status !== 'cancelled';
  if (isRepeatable && state.retriesLeft > 0) return [requeued(state, at)];
  const records = counts === undefined || positions === undefined ? {} : { counts, positions };
  return [{ type: 'ActionEnded', status, at, output, outputHash, error, ...records }];
}

function requeued(state: ActionRun, at: Instant): ActionEvent {
  return {
    type: 'ActionRequeued',
    attempt: state.attempt + 1,
    startBy: startBy(state, at),
  };
}

function ended(status: EndStatus, at: Instant, error: RunFailure): ActionEvent {
  return { type: 'ActionEnded', status, at, output: null, outputHash: null, error };
}

function evolve(state: ActionRun | null, event: ActionEvent): ActionRun | null {
  if (event.type === 'ActionQueued') {
    const { type: _, isTaken: _taken, ahead, ...born } = event;
    const held = ahead === undefined ? {} : { isHeld: true as const };
    return { ...born, ...held, ...fresh, status: 'queued', attempt: 1 };
  }
  if (state === null) return null;
  switch (event.type) {
    case 'ActionAdmitted': {
      const { isHeld: _, ...rest } = state;
      return { ...rest, startBy: event.startBy };
    }
    case 'ActionStarted': {
      const { at, runner } = event;
      return { ...state, status: 'started', startedAt: at, heartbeatAt: at, runner };
    }
    case 'ActionHeartbeatReceived':
      return { ...state, heartbeatAt: event.at };
    case 'ActionRequeued': {
      const { attempt, startBy } = event;
      return {
        ...state,
        ...fresh,
        status: 'queued',
        attempt,
        startBy,
        retriesLeft: state.retriesLeft - 1,
      };
    }
    case 'ActionEnded': {
      if (!state.isAsync && state.isKept !== true) return null;
      const { status, at: endedAt, output } = event;
      const error = event.error && { code: event.error.code, message: event.error.message };
      const { isHeld: _, joined: _read, ...rest } = state;
      return { ...rest, status, endedAt, output, error, runner: null };
    }
    case 'ActionForgotten':
      return null;
  }
}

const fresh = {
  startedAt: null,
  heartbeatAt: null,
  runner: null,
  output: null,
  error: null,
  endedAt: null,
} as const;
