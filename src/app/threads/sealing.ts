import { startPeer, type PeerData, type PeerThread } from '#adapters/threads/start-peer.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type {
  JoinedPayloads,
  PayloadOwner,
  PayloadSealing,
  UnsealedPayloads,
} from '#modules/records/model/sealed-payload.ts';

/** Input of `sealing-thread.ts`. */
export interface ToSeal extends UnsealedPayloads {
  readonly owner: PayloadOwner;
  /** The key of the connection. Passed with each call and not retained, so that a destroyed key is of no use there. */
  readonly dataKey: Uint8Array;
}

/**
 * Seals in a thread of its own, which starts with the first payload: without sealed environments there is no
 * thread.
 */
export function startSealing(vault: Pick<Vault, 'dataKey'>): PayloadSealing & AsyncDisposable {
  let thread: PeerThread | null = null;
  return {
    begin({ key, connectionUid }) {
      const dataKey = vault.dataKey(connectionUid);
      return ({ ids, ends, joined }) => {
        thread ??= startPeer<PeerData>({
          name: 'sealing',
          beside: import.meta.url,
          data: {},
        });
        const input: ToSeal = { owner: { key, connectionUid }, dataKey, ids, ends, joined };
        return thread.peer.call<JoinedPayloads>('seal', [input]);
      };
    },
    async [Symbol.asyncDispose]() {
      await thread?.end();
    },
  };
}
