import type { InProcessOwners } from '#control-plane/in-process-owners.ts';
import type { Methods, Peer } from './rpc.ts';

const method = 'control.decide';

/** Served by the thread of the owners. */
export const inProcessOwnersMethods = (owners: InProcessOwners): Methods => ({
  [method]: (...args: Parameters<InProcessOwners['decide']>) => owners.decide(...args),
});

/** The owners that run in another thread of this process. */
export const connectInProcessOwners = (peer: Peer): InProcessOwners => ({
  decide: (command, trace) => peer.call(method, [command, trace]),
});
