import { randomUUID } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { AccessServices } from '../services.ts';
import type { RootKeyUse } from '../vault/key-ring.ts';
import { rewrapRef, type RewrapEntity } from './entity.ts';
import type { Rewrap } from './rewrap-order.ts';

type Deps = Pick<AccessServices, 'control' | 'rootKeys'>;

export interface RootKeyFacts {
  readonly use: RootKeyUse;
  /** The last rewrap order; null = none. */
  readonly rewrap: Rewrap | null;
}

export async function rootKeyFacts({ control, rootKeys }: Deps): Promise<RootKeyFacts> {
  await control.view.caughtUp();
  return { use: rootKeys.use(), rewrap: findRewrap(control) };
}

export const findRewrap = ({ view }: AccessServices['control']): Rewrap | null =>
  view.find(rewrapRef);

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
