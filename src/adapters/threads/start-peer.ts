import { extname } from 'node:path';
import {
  MessageChannel,
  Worker,
  type MessagePort,
  type ResourceLimits,
  type Transferable,
} from 'node:worker_threads';
import { connect, type Peer } from './rpc.ts';

/** What every thread is started with: its end of the calls, for `connect`. */
export interface PeerData {
  readonly port: MessagePort;
}

export interface PeerThread {
  readonly peer: Peer;
  readonly worker: Worker;
  /** At once: what the thread has to finish is to be asked of it before. */
  readonly end: () => Promise<void>;
}

interface Start<Data extends PeerData> {
  /** Of the thread, and of its module: `<name>-thread`. */
  readonly name: string;
  /** The `import.meta.url` of a module in the same folder. */
  readonly beside: string;
  readonly data: Omit<Data, 'port'>;
  /** What of `data` moves to the thread. */
  readonly transfer?: readonly Transferable[];
  readonly resourceLimits?: ResourceLimits;
}

/** Starts a thread that is called through its peer, and may call back. */
export function startPeer<Data extends PeerData>(start: Start<Data>): PeerThread {
  const { name, beside, data, transfer = [], resourceLimits } = start;
  const { port1: here, port2: port } = new MessageChannel();
  const worker = new Worker(new URL(`./${name}-thread${extname(beside)}`, beside), {
    name,
    workerData: { ...data, port },
    transferList: [port, ...transfer],
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
  });
  const peer = connect(here);
  const end = async (): Promise<void> => {
    peer.close();
    await worker.terminate();
  };
  return { peer, worker, end };
}
