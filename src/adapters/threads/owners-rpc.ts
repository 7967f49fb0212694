import type { DirectOwners } from '../../control-plane/direct-owners.ts';
import type { Methods, Peer } from './rpc.ts';

const method = 'control.decide';

/** To be served by the thread of the owners. */
export const directOwnersMethods = (owners: DirectOwners): Methods => ({
  [method]: (...given: Parameters<DirectOwners['decide']>) => owners.decide(...given),
});

/** The owners that run in another thread of this process. */
export const connectDirectOwners = (peer: Peer): DirectOwners => ({
  decide: (command, trace) => peer.call(method, [command, trace]),
});
