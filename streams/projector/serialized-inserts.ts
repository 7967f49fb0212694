import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import { overridden } from '#kernel/overridden.ts';
import type { Coordination, Lease } from '#ports/coordination.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';

/** How long a crashed holder's lease blocks others. */
const leaseMs = 15_000;
const extendEveryMs = 5_000;
const askAgainMs = 20;

/**
 * The store of one of several projectors with replicated tables. Such a table takes one insert at a time across all
 * nodes and refuses a second one, so that inserts are serialized by a lease; rows that arrive meanwhile go with the
 * next insert. Without Coordination inserts are not serialized, and a refused one is retried.
 */
export function serializeInserts(
  store: ProjectionStore,
  deps: {
    readonly coordination: Pick<Coordination, 'acquire' | 'release'>;
    readonly logger: Pick<Logger, 'debug'>;
  },
): ProjectionStore {
  return overridden(store, {
    insert: async (insert) => {
      await using _ = await turnOf(`projection/inserts/${insert.table}`, deps);
      await store.insert(insert);
    },
  });
}

type Deps = Parameters<typeof serializeInserts>[1];

/** Resolves when the lease is held; it is held until disposed. */
async function turnOf(name: string, deps: Deps): Promise<AsyncDisposable> {
  const lease = await acquired(name, deps);
  if (lease === null) return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const { coordination, logger } = deps;
  const extend = (): void => {
    coordination.acquire(name, { ttlMs: leaseMs, token: lease.token }).catch((err: unknown) => {
      logger.debug({ err }, 'the lease for inserts could not be extended');
    });
  };
  const timer = setInterval(extend, extendEveryMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await coordination.release(lease);
    },
  };
}

/** Null when the nodes cannot reach one another. */
async function acquired(name: string, { coordination, logger }: Deps): Promise<Lease | null> {
  for (;;) {
    try {
      const lease = await coordination.acquire(name, { ttlMs: leaseMs });
      if (lease !== null) return lease;
    } catch (err) {
      if (!(err instanceof GatewayError && err.code === 'coordination_unavailable')) throw err;
      logger.debug({ err }, 'inserting without a lease');
      return null;
    }
    await sleep(askAgainMs);
  }
}
