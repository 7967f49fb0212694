import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Coordination, Lease } from '#ports/coordination.ts';
import type { Release } from './fair-limiter.ts';

/** Lease time: after a crash the lock expires. */
const leaseMs = 30_000;
const lookAgainMs = 100;

export interface EnvironmentLockDeps {
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
