import { extname } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { connect, type Peer } from '../../adapters/threads/rpc.ts';
import type { Vault } from '../../modules/credentials/vault.ts';
import type { JoinedPayloads, PayloadSealing } from '../../modules/records/payload-sealing.ts';
import type { SealingThreadData, ToSeal } from './sealing-thread.ts';

/** Seals in a thread of its own, which starts with the first payload: where all are plain there is none. */
export function startSealing(vault: Pick<Vault, 'dataKey'>): PayloadSealing & AsyncDisposable {
  let thread: { readonly peer: Peer; readonly worker: Worker } | null = null;
  return {
    begin({ key, connectionUid }) {
      const dataKey = vault.dataKey(connectionUid);
      return ({ ids, ends, joined }) => {
        thread ??= startThread();
        const given: ToSeal = { owner: { key, connectionUid }, dataKey, ids, ends, joined };
        return thread.peer.call<JoinedPayloads>('seal', [given]);
      };
    },
    async [Symbol.asyncDispose]() {
      thread?.peer.close();
      await thread?.worker.terminate();
    },
  };
}

function startThread(): { readonly peer: Peer; readonly worker: Worker } {
  const { port1: here, port2: port } = new MessageChannel();
  const workerData: SealingThreadData = { port };
  const file = new URL(`./sealing-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(file, { workerData, transferList: [port], name: 'sealing' });
  return { peer: connect(here), worker };
}
