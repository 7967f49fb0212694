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
