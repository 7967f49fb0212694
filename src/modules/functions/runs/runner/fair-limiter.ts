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
  /** Of the environments with waiters, in the order of their turn. */
  readonly #queues = new Map<string, Waiter[]>();
  readonly #inside = new Map<string, number>();
  #total = 0;

  constructor(limits: FairLimits) {
    this.#limits = limits;
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
    this.#grant();
    return promise;
  }

  /** A slot, if one is free now; it overtakes no waiter, because waiters wait for limits of their own. */
  tryEnter(ticket: Ticket): Release | null {
    if (!this.#hasRoom(ticket)) return null;
    this.#move(ticket, 1);
    return this.#place(ticket);
  }

  #hasRoom({ environmentUid, connectionUid }: Ticket): boolean {
    const { total, perEnvironment, perConnection } = this.#limits;
    return (
      this.#total < total &&
      this.#count(environmentName(environmentUid)) < perEnvironment &&
      this.#count(connectionName(connectionUid)) < perConnection
    );
  }

  #grant(): void {
    while (this.#total < this.#limits.total) {
      const isAdmitted = [...this.#queues].some(([uid, queue]) => this.#grantFrom(uid, queue));
      if (!isAdmitted) return;
    }
  }

  /** Admits the next allowed waiter of an environment, and moves the environment to the end of the queue. */
  #grantFrom(environmentUid: string, queue: Waiter[]): boolean {
    if (this.#count(environmentName(environmentUid)) >= this.#limits.perEnvironment) return false;
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
      this.#grant();
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
