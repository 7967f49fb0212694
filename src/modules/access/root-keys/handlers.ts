import { randomUUID } from 'node:crypto';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { SharedValues } from '../services.ts';
import type { RootKeyUse } from '../vault/key-ring.ts';
import type { RootKeyRing } from '../vault/open-vault.ts';
import { rewrapRef, type RewrapEntity } from './entity.ts';
import type { Rewrap } from './rewrap-order.ts';

const leaseName = 'root-keys/rewrap';
const leaseMs = 15_000;
const extendEveryMs = 5_000;
/** How soon an unfinished order of another process is continued after its lease has expired. */
const lookEveryMs = 5_000;

interface RewrapDeps extends SharedValues {
  readonly control: ControlPlane;
  readonly rootKeys: RootKeyRing;
}

/**
 * Executes the rewrap order in a process whose first root key is the ordered one and that holds the lease. Without
 * coordination two processes may wrap some keys twice, which is harmless.
 */
export function keepRewrapping(deps: RewrapDeps): AsyncDisposable {
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
  const stop = control.view.onChange([rewrapRef], look);
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

async function rewrapAll(deps: RewrapDeps, order: Rewrap, closing: AbortSignal): Promise<void> {
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

interface Deps {
  readonly control: ControlPlane;
  readonly rootKeys: RootKeyRing;
}

export interface RootKeyFacts {
  readonly use: RootKeyUse;
  /** The last rewrap order; null = none. */
  readonly rewrap: Rewrap | null;
}

export async function rootKeyFacts({ control, rootKeys }: Deps): Promise<RootKeyFacts> {
  await control.view.caughtUp();
  return { use: rootKeys.use(), rewrap: findRewrap(control) };
}

export const findRewrap = ({ view }: ControlPlane): Rewrap | null => view.find(rewrapRef);

/** Data keys that another root key than this one wraps. */
export function outdatedKeys({ wrapped }: RootKeyUse, rootKeyId: string): number {
  let keys = 0;
  for (const [id, count] of wrapped) if (id !== rootKeyId) keys += count;
  return keys;
}

/** Orders a rewrap of every data key with the first root key of this process; an order in progress is kept. */
export async function orderRewrap(
  { control, rootKeys }: Deps,
  options: ExecuteOptions,
): Promise<RootKeyFacts> {
  const use = rootKeys.use();
  const total = outdatedKeys(use, use.sealing);
  const { actor: by } = options;
  const body: CommandOf<RewrapEntity> = {
    type: 'Order',
    id: randomUUID(),
    rootKeyId: use.sealing,
    total,
    by,
  };
  const rewrap = await control.execute(rewrapRef, body, {
    requestHash: use.sealing,
    ...options,
  });
  if (rewrap === null) throw new GatewayError('server_error');
  return { use, rewrap };
}
