import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { findCaughtUp } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import {
  connectionPathOf,
  connectionRef,
  type ConnectionEntity,
} from '#modules/connections/connections/entity.ts';
import type { Coordination } from '#ports/coordination.ts';
import { locationSuffix } from '#rules/failure-detail.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import { actionRunRef, type ActionRunEntity } from '../../actions/entity.ts';
import { syncEntity, type SyncEntity } from '../../syncs/entity.ts';
import type {
  DirectRuns,
  RunTaker,
  TakenRun,
  TakenSync,
  EndBody,
} from '../invocation/direct-runs.ts';
import {
  attemptOf,
  isEnd,
  isHeld,
  isTaken,
  type Attempt,
  type RunChanged,
} from '../ledger/events.ts';
import { executeUntilDecided, isStale, type RunDeps } from './attempt.ts';
import {
  EnvironmentLocks,
  FairLimiter,
  type FairLimits,
  type Release,
  LoadLimit,
} from './fair-limiter.ts';
import { inputOf, joinedInput, onLog, invokeRun } from './invoked-run.ts';
import { refOfSync, runSync } from './sync-run.ts';

/** Per process. Each kind has its own slots, so that a flood of one does not block others. */
const defaultLimits = {
  syncs: { total: 32, perEnvironment: 16, perConnection: 4 },
  actions: { total: 64, perEnvironment: 32, perConnection: 16 },
  asyncActions: { total: 16, perEnvironment: 1, perConnection: 1 },
  webhooks: { total: 32, perEnvironment: 16, perConnection: 4 },
  events: { total: 32, perEnvironment: 16, perConnection: 4 },
  changes: { total: 32, perEnvironment: 16, perConnection: 4 },
  dryRuns: { total: 8, perEnvironment: 4, perConnection: 4 },
} as const satisfies Record<string, FairLimits>;

/** Concurrent syncs of a busy process, unless more environments than that have one. */
const syncsMin = 2;

/** How long running functions may take to finish when the process stops. */
const graceMs = 10_000;
const closeMs = 15_000;

export interface FunctionRunnerDeps extends RunDeps, ReactorDeps {
  readonly coordination: Coordination;
  /** Of the process: runs requested in it start here at once. */
  readonly direct: DirectRuns;
  readonly limits?: Readonly<Record<keyof typeof defaultLimits, FairLimits>>;
}

/**
 * Executes queued runs: consumer group `svc.runners`. The position passes a queued run when the owner has recorded its
 * start; from then on the owner monitors its heartbeats.
 */
export async function startFunctionRunner(deps: FunctionRunnerDeps): Promise<AsyncDisposable> {
  const runner = new FunctionRunner(deps);
  const reactor = await startReactor<RunChanged>(deps, {
    group: 'svc.runners',
    topic: 'svc.runs.v1',
    inFlightMax: 10_000,
    handle: (change, { replay }, signal) => runner.handle(change, replay !== null, signal),
  });
  const offer = deps.direct.offer(runner);
  return {
    async [Symbol.asyncDispose]() {
      offer[Symbol.dispose]();
      await reactor[Symbol.asyncDispose]();
      await runner.close();
    },
  };
}

interface ActiveRun {
  readonly abort: AbortController;
  readonly kind: string;
  done: Promise<void>;
}

class FunctionRunner implements RunTaker {
  readonly #deps: FunctionRunnerDeps;
  readonly #gates: Readonly<Record<keyof typeof defaultLimits, FairLimiter>>;
  readonly #load: LoadLimit;
  /** By run and attempt, including those that wait for a slot. */
  readonly #running = new Map<string, ActiveRun>();
  /** Connections that this process has marked as failing, and not cleared since. */
  readonly #marked = new Set<string>();
  readonly #locks: EnvironmentLocks;
  readonly #process = randomUUID();
  /** Ends the last reports when the process must stop. */
  readonly #closing = new AbortController();

  constructor(deps: FunctionRunnerDeps) {
    this.#deps = deps;
    this.#locks = new EnvironmentLocks(deps);
    const limits = deps.limits ?? defaultLimits;
    this.#load = new LoadLimit({
      min: Math.min(syncsMin, limits.syncs.total),
      max: limits.syncs.total,
      grant: (isOverdue) => this.#gates.syncs.grant(isOverdue),
    });
    this.#gates = {
      syncs: new FairLimiter(limits.syncs, () => this.#load.value),
      actions: new FairLimiter(limits.actions),
      asyncActions: new FairLimiter(limits.asyncActions),
      webhooks: new FairLimiter(limits.webhooks),
      events: new FairLimiter(limits.events),
      changes: new FairLimiter(limits.changes),
      dryRuns: new FairLimiter(limits.dryRuns),
    };
  }

  async handle(change: RunChanged, isReplayed: boolean, signal: AbortSignal): Promise<void> {
    if (isTaken(change) || isHeld(change)) return;
    const { action } = change;
    const attempt = attemptOf(change);
    if (action === 'queued' || action === 'admitted') await this.#start(attempt, signal);
    else if (isEnd(action) && (!isReplayed || (await this.#isLast(attempt)))) {
      await this.#afterEnd(attempt, change);
    }
  }

  /** The connection shows its last run: a replay must not show an earlier one. */
  async #isLast(attempt: Attempt): Promise<boolean> {
    const { view } = this.#deps.control;
    await view.caughtUp();
    const instance = view.find(refOfSync(attempt));
    return instance?.last?.runId === attempt.runId;
  }

  /** Resolves when the run has started here, or must not start. */
  async #start(attempt: Attempt, signal: AbortSignal): Promise<void> {
    const name = nameOf(attempt);
    if (this.#running.has(name) || this.#isLate(attempt)) return;
    const abort = new AbortController();
    const running: ActiveRun = { abort, kind: attempt.kind, done: Promise.resolve() };
    this.#running.set(name, running);
    let release: Release | undefined;
    try {
      release = await this.#enter(attempt, AbortSignal.any([signal, abort.signal]));
      const leave = release;
      const run = await this.#begin(attempt, abort, signal);
      running.done = run().finally(() => {
        leave();
        this.#running.delete(name);
      });
    } catch (error) {
      release?.();
      this.#running.delete(name);
      if (isStale(error) || abort.signal.aborted) return;
      throw error;
    }
  }

  /** Resolves with the remaining work, when the owner has accepted the start. */
  async #begin(
    attempt: Attempt,
    abort: AbortController,
    signal: AbortSignal,
  ): Promise<() => Promise<void>> {
    const deps = this.#deps;
    const { runId, actor } = attempt;
    if (this.#isLate(attempt)) throw new GatewayError('stale_attempt');
    const started = { attempt: attempt.number, runner: this.#runnerOf(attempt) };
    if (attempt.kind !== 'sync') {
      const input = inputOf(deps, attempt);
      // Awaited by the run; an earlier failure must not be an unhandled rejection.
      input.catch(() => undefined);
      const body: CommandOf<ActionRunEntity> = { type: 'RunStarted', ...started };
      const run = await executeUntilDecided(
        deps,
        { ref: actionRunRef(attempt), body, actor },
        signal,
      );
      const closing = this.#closing.signal;
      const supplied = {
        input: run?.joined === undefined ? input : joinedInput(deps, attempt, run.joined),
        depth: run?.depth ?? 0,
        keepBody: onLog(deps, attempt, closing),
      };
      return async () => {
        await invokeRun(deps, attempt, supplied, abort, closing);
      };
    }
    const body: CommandOf<SyncEntity> = { type: 'RunStarted', runId, ...started };
    const instance = await executeUntilDecided(
      deps,
      { ref: refOfSync(attempt), body, actor },
      signal,
    );
    if (instance === null) throw new GatewayError('stale_attempt');
    return () => runSync(deps, attempt, instance, abort, this.#closing.signal);
  }

  async #enter(attempt: Attempt, signal: AbortSignal): Promise<Release> {
    const limiter = limiterOf(attempt);
    using _ = limiter === 'syncs' ? this.#load.wait() : null;
    const leave = await this.#gates[limiter].enter(attempt, signal);
    if (limiter !== 'asyncActions') return leave;
    try {
      const end = await this.#locks.take(attempt.environmentUid, signal);
      return () => {
        end();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #runnerOf({ number }: Attempt): string {
    return `${this.#process}/${number}`;
  }

  take(attempt: Attempt): TakenRun | null {
    const slot = this.#reserve(attempt);
    return slot === null ? null : localRun(this.#deps, attempt, slot);
  }

  takeSync(attempt: Attempt): TakenSync | null {
    const slot = this.#reserve(attempt);
    return slot === null ? null : localSync(this.#deps, attempt, slot);
  }

  /** A slot, if one is free now. */
  #reserve(attempt: Attempt): RunSlot | null {
    const name = nameOf(attempt);
    if (this.#running.has(name)) return null;
    const leave = this.#gates[limiterOf(attempt)].tryEnter(attempt);
    if (leave === null) return null;
    const abort = new AbortController();
    const { promise: done, resolve } = Promise.withResolvers<undefined>();
    this.#running.set(name, { abort, kind: attempt.kind, done });
    return {
      runner: this.#runnerOf(attempt),
      abort,
      closing: this.#closing.signal,
      done,
      over: () => {
        leave();
        this.#running.delete(name);
        resolve(undefined);
      },
    };
  }

  #isLate({ startBy }: Attempt): boolean {
    return startBy !== null && startBy < this.#deps.clock.now();
  }

  /** A run that was ended externally stops here; the outcome of a sync is shown on its connection. */
  async #afterEnd(attempt: Attempt, change: RunChanged): Promise<void> {
    const { action } = change;
    this.#running.get(nameOf(attempt))?.abort.abort(new GatewayError('script_aborted'));
    if (attempt.kind !== 'sync' || action === 'cancelled') return;
    const path = connectionPathOf(attempt);
    const ref = connectionRef(...path);
    const { actor } = attempt;
    if (action !== 'succeeded') {
      const body: CommandOf<ConnectionEntity> = {
        type: 'MarkError',
        error: { type: 'sync', log_id: attempt.operationId, message: reasonOf(change) },
      };
      this.#marked.add(ref.scope);
      await this.#deps.control.enqueue(ref, body, { actor });
      return;
    }
    const { view } = this.#deps.control;
    // The owner of the sync is that of its connection: a view with this end has every error that was marked before.
    await findCaughtUp(view, () => {
      const instance = view.find(refOfSync(attempt));
      return instance?.last?.runId === attempt.runId ? instance : null;
    });
    const isMarked = view.find(ref)?.errors.some(({ type }) => type === 'sync') === true;
    // A mark that is not decided yet is not in the view.
    if (!isMarked && !this.#marked.has(ref.scope)) return;
    const others = view.list(syncEntity, path);
    const isFailing = others.some(
      ({ state }) =>
        (state.syncName !== attempt.functionName || state.variant !== attempt.variant) &&
        state.last !== null &&
        failing.has(state.last.status),
    );
    if (isFailing) return;
    this.#marked.delete(ref.scope);
    await this.#deps.control.enqueue(ref, { type: 'ClearError', errorType: 'sync' }, { actor });
  }

  /** Actions get time to finish; syncs are released at once. */
  async close(): Promise<void> {
    const interrupt = (kind: 'sync' | 'all'): void => {
      for (const running of this.#running.values()) {
        if (kind === 'all' || running.kind === 'sync')
          running.abort.abort(new GatewayError('run_interrupted'));
      }
    };
    interrupt('sync');
    const all = Promise.all([...this.#running.values()].map(({ done }) => done));
    const timer = new AbortController();
    const after = (ms: number, act: () => void) =>
      wait(ms, undefined, { signal: timer.signal }).then(act, () => undefined);
    const grace = after(graceMs, () => interrupt('all'));
    const end = after(closeMs, () => this.#closing.abort(new GatewayError('run_interrupted')));
    await Promise.race([all, end]);
    timer.abort();
    await Promise.all([grace, end]);
  }
}

/** Characters of the reason on a connection. */
const reasonCharsMax = 500;

/** `Sync contacts: no such field (crm/syncs/contacts.ts:12:5)` */
function reasonOf({ function: name, error_message: message, failure }: RunChanged): string {
  return `Sync ${name}: ${(message ?? 'failed').slice(0, reasonCharsMax)}${locationSuffix(failure)}`;
}

function limiterOf({ kind, trigger }: Attempt): keyof typeof defaultLimits {
  switch (kind) {
    case 'sync':
      return 'syncs';
    case 'webhook':
      return 'webhooks';
    case 'on-event':
      return 'events';
    case 'on-change':
      return 'changes';
    case 'dryrun':
      return 'dryRuns';
    case 'action':
      return trigger === 'async' ? 'asyncActions' : 'actions';
  }
}

const failing = new Set(['failed', 'timed_out', 'interrupted']);
const nameOf = ({ runId, number }: Attempt): string => `${runId}/${number}`;

/** The runner's state of a run with a slot. */
interface RunSlot {
  readonly runner: string;
  readonly abort: AbortController;
  /** Ends the last report when the process must stop. */
  readonly closing: AbortSignal;
  /** Frees the slot. */
  readonly over: () => void;
  /** Resolves when the slot is free. */
  readonly done: Promise<unknown>;
}

/** A sync that this process has triggered. */
function localSync(deps: RunDeps, attempt: Attempt, slot: RunSlot): TakenSync {
  const { runner, abort, closing, over, done } = slot;
  let hasBegun = false;
  return {
    runner,
    over: done,
    begin(instance) {
      hasBegun = true;
      void runSync(deps, attempt, instance, abort, closing).finally(over);
    },
    stop: () => abort.abort(new GatewayError('script_aborted')),
    [Symbol.dispose]: () => {
      if (!hasBegun) over();
    },
  };
}

/** A run for a caller in this process. */
function localRun(deps: RunDeps, attempt: Attempt, place: RunSlot): TakenRun {
  const { runner, abort, closing, over } = place;
  let end: EndBody | null = null;
  let hasBegun = false;
  const { promise: ended, resolve } = Promise.withResolvers<EndBody>();
  const keepHere = (json: string) => {
    end = { json, hash: deps.payloads.hash(json) };
    return Promise.resolve({ place: null, hash: end.hash });
  };
  const keepOnLog = onLog(deps, attempt, closing);
  const keepBoth = async (json: string) => {
    const { hash } = await keepHere(json);
    const { place } = await keepOnLog(json);
    return { place, hash };
  };
  return {
    runner,
    get end() {
      return end;
    },
    ended,
    begin({ input, depth, isKept }) {
      hasBegun = true;
      const keepBody = isKept ? keepBoth : keepHere;
      const supplied = { input: Promise.resolve(input), depth, keepBody };
      const report = (isTaken: boolean) => {
        if (isTaken && end !== null) resolve(end);
      };
      void invokeRun(deps, attempt, supplied, abort, closing).then(report).finally(over);
    },
    stop: () => abort.abort(new GatewayError('script_aborted')),
    [Symbol.dispose]: () => {
      if (!hasBegun) over();
    },
  };
}
