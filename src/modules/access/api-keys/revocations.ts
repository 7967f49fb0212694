import { LRUCache } from 'lru-cache';
import type { Coordination } from '#ports/coordination.ts';

const channel = 'keys-revoked';
/** How many revoked keys are remembered; the view of this node has applied older revocations long before. */
const rememberedMax = 10_000;

/** Keys that were deleted on any node, before this node's view has applied the deletion. */
export interface Revocations extends AsyncDisposable {
  has(keyId: string): boolean;
}

/** Subscribes to deletions. */
export async function openRevocations(coordination: Coordination): Promise<Revocations> {
  const revoked = new LRUCache<string, true>({ max: rememberedMax });
  const subscription = await coordination.subscribe(channel, (keyId) => {
    revoked.set(keyId, true);
  });
  return {
    has: (keyId) => revoked.has(keyId),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}

/**
 * Notifies every node.
 * @throws GatewayError `coordination_unavailable`: nodes learn it only from the log
 */
export const notifyRevoked = (coordination: Coordination, keyId: string): Promise<void> =>
  coordination.publish(channel, keyId);
