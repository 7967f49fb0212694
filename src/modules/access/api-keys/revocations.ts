import type { Coordination } from '../../../ports/coordination.ts';

const channel = 'keys-revoked';
/** Revoked keys remembered; by the time that many others came, the view of this node has long lost them. */
const rememberedMax = 10_000;

/** Keys that were deleted on any node, known before this node's view has read of it. */
export interface Revocations extends AsyncDisposable {
  has(keyId: string): boolean;
}

/** Hears of deleted keys from now on. */
export async function openRevocations(coordination: Coordination): Promise<Revocations> {
  const revoked = new Set<string>();
  const subscription = await coordination.subscribe(channel, (keyId) => {
    revoked.add(keyId);
    const [oldest] = revoked;
    if (revoked.size > rememberedMax && oldest !== undefined) revoked.delete(oldest);
  });
  return {
    has: (keyId) => revoked.has(keyId),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}

/** Tells every node. @throws GatewayError `coordination_unavailable`: they hear it from the log alone */
export const notifyRevoked = (coordination: Coordination, keyId: string): Promise<void> =>
  coordination.publish(channel, keyId);
