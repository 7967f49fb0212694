import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { connectionRef, type ConnectionEntity } from '#modules/connections/connections/entity.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { ActionRunEntity } from '../../actions/entity.ts';
import { connectionPathOf, syncEntity, type SyncEntity } from '../../syncs/entity.ts';
import type {
  CalledRun,
  DirectRuns,
  RunTaker,
  TakenRun,
  EndBody,
} from '../invocation/direct-runs.ts';
import { isEnd, isTaken, millis, type RunChanged } from '../ledger/events.ts';
import { executeUntilDecided, isStale, type RunDeps } from './attempt.ts';
import {
  EnvironmentLocks,
  FairLimiter,
  type FairLimits,
  type Release,
  LoadLimit,
} from './fair-limiter.ts';
import { inputOf, onLog, refOfInvoked, invokeRun } from './invoked-run.ts';
import { refOfSync, runSync } from './sync-run.ts';

/** Per process. Each kind has its own slots, so that a flood of one does not block others. */
const defaultLimits = {
  syncs: { total: 32, perEnvironment: 16, perConnection: 4 },
  actions: { total: 64, perEnvironment: 32, perConnection: 16 },
  asyncActions: { total: 16, perEnvironment: 1, perConnection: 1 },
  webhooks: { total: 32, perEnvironment: 16, perConnection: 4 },
  events: { total: 32, perEnvironment: 16, perConnection: 4 },
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
      dryRuns: new FairLimiter(limits.dryRuns),
    };
  }

  async handle(change: RunChanged, isReplayed: boolean, signal: AbortSignal): Promise<void> {
    if (isTaken(change)) return;
    if (change.action === 'queued') await this.#start(change, signal);
    else if (isEnd(change.action) && (!isReplayed || (await this.#isLast(change)))) {
      await this.#afterEnd(change);
    }
  }

  /** The connection shows its last run: a replay must not show an earlier one. */
  async #isLast(change: RunChanged): Promise<boolean> {
    const { view } = this.#deps.control;
    await view.caughtUp();
    const instance = view.find(refOfSync(change));
    return instance?.last?.runId === change.run_id;
  }

  /** Resolves when the run has started here, or must not start. */
  async #start(change: RunChanged, signal: AbortSignal): Promise<void> {
    const name = nameOf(change);
    if (this.#running.has(name) || this.#isLate(change)) return;
    const abort = new AbortController();
    const running: ActiveRun = { abort, kind: change.kind, done: Promise.resolve() };
    this.#running.set(name, running);
    let release: Release | undefined;
    try {
      release = await this.#enter(change, AbortSignal.any([signal, abort.signal]));
      const leave = release;
      const run = await this.#begin(change, abort, signal);
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
    change: RunChanged,
    abort: AbortController,
    signal: AbortSignal,
  ): Promise<() => Promise<void>> {
    const deps = this.#deps;
    const { attempt } = change;
    const runId = change.run_id ?? '';
    if (this.#isLate(change)) throw new GatewayError('stale_attempt');
    const runner = this.#runnerOf(change);
    const actor = `run:${runId}`;
    if (change.kind !== 'sync') {
      const input = inputOf(deps, change);
      // Awaited by the run; an earlier failure must not be an unhandled rejection.
      input.catch(() => undefined);
      const body: CommandOf<ActionRunEntity> = { type: 'RunStarted', attempt, runner };
      const run = await executeUntilDecided(
        deps,
        { ref: refOfInvoked(change), body, actor, isDirect: true },
        signal,
      );
      const closing = this.#closing.signal;
      const supplied = { input, depth: run?.depth ?? 0, keepBody: onLog(deps, change, closing) };
      return async () => {
        await invokeRun(deps, change, supplied, abort, closing);
      };
    }
    const body: CommandOf<SyncEntity> = { type: 'RunStarted', runId, attempt, runner };
    const instance = await executeUntilDecided(
      deps,
      { ref: refOfSync(change), body, actor },
      signal,
    );
    if (instance === null) throw new GatewayError('stale_attempt');
    return () => runSync(deps, change, instance, abort, this.#closing.signal);
  }

  async #enter(change: RunChanged, signal: AbortSignal): Promise<Release> {
    const limiter = limiterOf(change);
    using _ = limiter === 'syncs' ? this.#load.wait() : null;
    const leave = await this.#gates[limiter].enter(ticketOf(change), signal);
    if (limiter !== 'asyncActions') return leave;
    try {
      const end = await this.#locks.take(change.environment_id, signal);
      return () => {
        end();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #runnerOf({ attempt }: CalledRun): string {
    return `${this.#process}/${attempt}`;
  }

  take(run: CalledRun): TakenRun | null {
    const name = nameOf(run);
    if (this.#running.has(name)) return null;
    const leave = this.#gates[limiterOf(run)].tryEnter(ticketOf(run));
    if (leave === null) return null;
    const deps = this.#deps;
    const abort = new AbortController();
    const { promise: done, resolve } = Promise.withResolvers<undefined>();
    this.#running.set(name, { abort, kind: run.kind, done });
    return localRun(deps, run, {
      runner: this.#runnerOf(run),
      abort,
      closing: this.#closing.signal,
      over: () => {
        leave();
        this.#running.delete(name);
        resolve(undefined);
      },
    });
  }

  #isLate(change: RunChanged): boolean {
    return change.start_by !== null && millis(change.start_by) < this.#deps.clock.now();
  }

  /** A run that was ended externally stops here; the outcome of a sync is shown on its connection. */
  async #afterEnd(change: RunChanged): Promise<void> {
    this.#running.get(nameOf(change))?.abort.abort(new GatewayError('script_aborted'));
    if (change.kind !== 'sync' || change.action === 'cancelled') return;
    const { environment_id: environmentUid, integration, connection_id } = change;
    const path = connectionPathOf({
      environmentUid,
      integrationKey: integration ?? '',
      connectionId: connection_id ?? '',
    });
    const ref = connectionRef(...path);
    const actor = `run:${change.run_id ?? ''}`;
    if (change.action !== 'succeeded') {
      const body: CommandOf<ConnectionEntity> = {
        type: 'MarkError',
        error: { type: 'sync', log_id: change.log_id },
      };
      await this.#deps.control.enqueue(ref, body, { actor });
      return;
    }
    const others = this.#deps.control.view.list(syncEntity, path);
    const isFailing = others.some(
      ({ state }) =>
        (state.syncName !== change.function || state.variant !== change.variant) &&
        state.last !== null &&
        failing.has(state.last.status),
    );
    if (!isFailing)
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

const ticketOf = (run: CalledRun) => ({
  environmentUid: run.environment_id,
  connectionUid: run.connection_uid,
});

function limiterOf({ kind, trigger }: CalledRun): keyof typeof defaultLimits {
  switch (kind) {
    case 'sync':
      return 'syncs';
    case 'webhook':
      return 'webhooks';
    case 'on-event':
      return 'events';
    case 'dryrun':
      return 'dryRuns';
    case 'action':
      return trigger === 'async' ? 'asyncActions' : 'actions';
  }
}

const failing = new Set(['failed', 'timed_out', 'interrupted']);
const nameOf = (change: CalledRun): string => `${change.run_id ?? ''}/${change.attempt}`;

/** The runner's state of a run with a slot. */
interface RunSlot {
  readonly runner: string;
  readonly abort: AbortController;
  /** Ends the last report when the process must stop. */
  readonly closing: AbortSignal;
  readonly over: () => void;
}

/** A run for a caller in this process. */
function localRun(deps: RunDeps, run: CalledRun, place: RunSlot): TakenRun {
  const { runner, abort, closing, over } = place;
  let end: EndBody | null = null;
  let hasBegun = false;
  const { promise: ended, resolve } = Promise.withResolvers<EndBody>();
  const keepHere = (json: string) => {
    end = { json, hash: deps.payloads.hash(json) };
    return Promise.resolve({ place: null, hash: end.hash });
  };
  const keepOnLog = onLog(deps, run, closing);
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
      void invokeRun(deps, run, supplied, abort, closing).then(report).finally(over);
    },
    stop: () => abort.abort(new GatewayError('script_aborted')),
    [Symbol.dispose]: () => {
      if (!hasBegun) over();
    },
  };
}
