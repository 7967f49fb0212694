import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Coordination, Lease } from '#ports/coordination.ts';

const lookEveryMs = 100;
/** Shares of its time that the thread works: below the one it can bear more runs, above the other fewer. */
const idleBelow = 0.5;
const busyAbove = 0.8;
/** Looks without an admission after which one waiter is admitted whatever the load: long runs must not hold up others. */
const patience = 5;

interface LoadLimitOptions {
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

/** Concurrency limits. */
export interface FairLimits {
  readonly total: number;
  readonly perEnvironment: number;
  readonly perConnection: number;
}

export interface Ticket {
  readonly environmentUid: string;
  readonly connectionUid: string;
}

/** Releases the slot; idempotent. */
export type Release = () => void;

interface Waiter {
  readonly ticket: Ticket;
  readonly grant: () => void;
}

/**
 * Limits concurrent runs. Free slots go to the environments in turn, so that one with ten thousand queued runs does not
 * block others; within an environment the order is first in, first out, except that a connection at its limit is
 * skipped.
 */
export class FairLimiter {
  readonly #limits: FairLimits;
  readonly #bearable: () => number;
  /** Of the environments with waiters, in the order of their turn. */
  readonly #queues = new Map<string, Waiter[]>();
  readonly #inside = new Map<string, number>();
  #total = 0;

  /** @param bearable a lower total for environments that have a slot already; it may change at any time */
  constructor(limits: FairLimits, bearable: () => number = () => limits.total) {
    this.#limits = limits;
    this.#bearable = bearable;
  }

  /**
   * Resolves when a slot is free.
   * @throws the signal's reason
   */
  enter(ticket: Ticket, signal: AbortSignal): Promise<Release> {
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    const leave = (): void => {
      this.#forget(waiter);
      reject(signal.reason as Error);
    };
    const waiter: Waiter = {
      ticket,
      grant: () => {
        signal.removeEventListener('abort', leave);
        resolve(this.#place(ticket));
      },
    };
    if (signal.aborted) {
      reject(signal.reason as Error);
      return promise;
    }
    signal.addEventListener('abort', leave, { once: true });
    const queue = this.#queues.get(ticket.environmentUid) ?? [];
    queue.push(waiter);
    this.#queues.set(ticket.environmentUid, queue);
    this.grant();
    return promise;
  }

  /** A slot, if one is free now; it overtakes no waiter, because waiters wait for limits of their own. */
  tryEnter(ticket: Ticket): Release | null {
    if (!this.#hasRoom(ticket)) return null;
    this.#move(ticket, 1);
    return this.#place(ticket);
  }

  #hasRoom({ environmentUid, connectionUid }: Ticket): boolean {
    return (
      this.#total < this.#limits.total &&
      this.#mayEnter(environmentUid, false) &&
      this.#count(connectionName(connectionUid)) < this.#limits.perConnection
    );
  }

  #mayEnter(environmentUid: string, isOverdue: boolean): boolean {
    const inside = this.#count(environmentName(environmentUid));
    const isBearable = isOverdue || inside === 0 || this.#total < this.#bearable();
    return isBearable && inside < this.#limits.perEnvironment;
  }

  /**
   * Gives free slots to waiters; called also when the bearable total has risen. `isOverdue`: one of them gets a slot
   * even if no more can be borne.
   */
  grant(isOverdue = false): void {
    for (let mayExceed = isOverdue; this.#total < this.#limits.total; mayExceed = false) {
      const isAdmitted = [...this.#queues].some(([uid, queue]) =>
        this.#grantFrom(uid, queue, mayExceed),
      );
      if (!isAdmitted) return;
    }
  }

  /** Admits the next allowed waiter of an environment, and moves the environment to the end of the queue. */
  #grantFrom(environmentUid: string, queue: Waiter[], isOverdue: boolean): boolean {
    if (!this.#mayEnter(environmentUid, isOverdue)) return false;
    const at = queue.findIndex(({ ticket }) => {
      return this.#count(connectionName(ticket.connectionUid)) < this.#limits.perConnection;
    });
    const [waiter] = at < 0 ? [] : queue.splice(at, 1);
    if (waiter === undefined) return false;
    this.#queues.delete(environmentUid);
    if (queue.length > 0) this.#queues.set(environmentUid, queue);
    this.#move(waiter.ticket, 1);
    waiter.grant();
    return true;
  }

  #forget(waiter: Waiter): void {
    const { environmentUid } = waiter.ticket;
    const queue = this.#queues.get(environmentUid) ?? [];
    const at = queue.indexOf(waiter);
    if (at >= 0) queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(environmentUid);
  }

  #place(ticket: Ticket): Release {
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#move(ticket, -1);
      this.grant();
    };
  }

  #move({ environmentUid, connectionUid }: Ticket, by: 1 | -1): void {
    this.#total += by;
    for (const name of [environmentName(environmentUid), connectionName(connectionUid)]) {
      const now = this.#count(name) + by;
      if (now === 0) this.#inside.delete(name);
      else this.#inside.set(name, now);
    }
  }

  #count(name: string): number {
    return this.#inside.get(name) ?? 0;
  }
}

const environmentName = (uid: string): string => `environment ${uid}`;
const connectionName = (uid: string): string => `connection ${uid}`;

/** Lease time: after a crash the lock expires. */
const leaseMs = 30_000;
const lookAgainMs = 100;

interface EnvironmentLockDeps {
  readonly coordination: Pick<Coordination, 'acquire' | 'release' | 'set' | 'get' | 'delete'>;
  readonly logger: Logger;
}

/**
 * Locks of environments whose asynchronous actions run one at a time, across nodes
 * (docs/reference/functions.md#limits). A new waiter lets earlier waiting processes go first. Without coordination,
 * each node uses only its own locks.
 */
export class EnvironmentLocks {
  readonly #deps: EnvironmentLockDeps;
  readonly #process = randomUUID();

  constructor(deps: EnvironmentLockDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when this process holds the lock of the environment.
   * @throws the signal's reason
   */
  async take(environmentUid: string, signal: AbortSignal): Promise<Release> {
    const name = `async-actions/${environmentUid}`;
    try {
      const lease = await this.#acquire(name, signal);
      return this.#hold(lease);
    } catch (err) {
      signal.throwIfAborted();
      this.#deps.logger.warn({ err, environmentUid }, 'a turn was taken without the other nodes');
      return () => undefined;
    }
  }

  async #acquire(name: string, signal: AbortSignal): Promise<Lease> {
    const { coordination } = this.#deps;
    const waiting = `${name}/waiting`;
    const first = await coordination.get(waiting);
    if (first !== null && first !== this.#process)
      await pause(3 * lookAgainMs, undefined, { signal });
    for (;;) {
      signal.throwIfAborted();
      const lease = await coordination.acquire(name, { ttlMs: leaseMs });
      if (lease !== null) {
        if ((await coordination.get(waiting)) === this.#process) await coordination.delete(waiting);
        return lease;
      }
      await coordination.set(waiting, this.#process, { ttlMs: 5 * lookAgainMs });
      await pause(lookAgainMs, undefined, { signal });
    }
  }

  #hold(lease: Lease): Release {
    const { coordination, logger } = this.#deps;
    const extend = (): void =>
      void coordination
        .acquire(lease.name, { ttlMs: leaseMs, token: lease.token })
        .catch((err: unknown) => logger.warn({ err }, 'a turn could not be extended yet'));
    const timer = setInterval(extend, leaseMs / 3).unref();
    return () => {
      clearInterval(timer);
      void coordination.release(lease);
    };
  }
}
