import { randomUUID } from 'node:crypto';
import type { AccessServices } from '../services.ts';
import { rewrapRef } from './entity.ts';
import { findRewrap, outdatedKeys } from './handlers.ts';
import type { Rewrap } from './rewrap-order.ts';

const leaseName = 'root-keys/rewrap';
const leaseMs = 15_000;
const extendEveryMs = 5_000;
/** How soon an unfinished order of another process is continued after its lease has expired. */
const lookEveryMs = 5_000;

type Deps = Pick<AccessServices, 'control' | 'rootKeys' | 'coordination' | 'logger'>;

/**
 * Executes the rewrap order in a process whose first root key is the ordered one and that holds the lease. Without
 * coordination two processes may wrap some keys twice, which is harmless.
 */
export function keepRewrapping(deps: Deps): AsyncDisposable {
  const { control, logger } = deps;
  const ending = new AbortController();
  let running: Promise<void> | null = null;
  const look = () => {
    const order = findRewrap(control);
    const isOurs = order?.endedAt === null && order.rootKeyId === deps.rootKeys.use().sealing;
    if (!isOurs || running !== null || ending.signal.aborted) return;
    running = rewrapAll(deps, order, ending.signal)
      .catch((err: unknown) => logger.warn({ err }, 'rewrapping keys goes on later'))
      .finally(() => (running = null));
  };
  const stop = control.view.onChange((changed) => {
    if (changed.some(({ kind }) => kind === rewrapRef.kind)) look();
  });
  const timer = setInterval(look, lookEveryMs).unref();
  look();
  return {
    async [Symbol.asyncDispose]() {
      stop();
      clearInterval(timer);
      ending.abort();
      await running;
    },
  };
}

async function rewrapAll(deps: Deps, order: Rewrap, closing: AbortSignal): Promise<void> {
  const { control, rootKeys, coordination, logger } = deps;
  const token = randomUUID();
  const acquire = () => coordination.acquire(leaseName, { ttlMs: leaseMs, token });
  const lease = await acquire();
  if (lease === null) return;
  const lost = new AbortController();
  const extend = () =>
    void acquire().then(
      (held) => held ?? lost.abort(),
      (err: unknown) => logger.warn({ err }, 'the lease of the rewrap could not be extended'),
    );
  const timer = setInterval(extend, extendEveryMs).unref();
  try {
    const keys = await rootKeys.rewrap(AbortSignal.any([closing, lost.signal]));
    logger.info({ rootKeyId: order.rootKeyId, keys }, 'data keys were rewrapped');
    if (outdatedKeys(rootKeys.use(), order.rootKeyId) > 0) return;
    await control.execute(rewrapRef, { type: 'End', id: order.id }, { actor: 'system' });
  } finally {
    clearInterval(timer);
    await coordination.release(lease);
  }
}
