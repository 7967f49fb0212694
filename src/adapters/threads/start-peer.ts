import { extname } from 'node:path';
import {
  MessageChannel,
  Worker,
  type MessagePort,
  type ResourceLimits,
  type Transferable,
} from 'node:worker_threads';
import { ThreadFailure } from '#kernel/thread-failure.ts';
import { connect, type Peer } from './rpc.ts';

/** Start data of every thread: its end of the calls, for `connect`. */
export interface PeerData {
  readonly port: MessagePort;
}

export interface PeerThread {
  readonly peer: Peer;
  /** Ends the thread at once: call its own shutdown method first. */
  readonly end: () => Promise<void>;
}

interface Start<Data extends PeerData> {
  /** Name of the thread, and of its module: `<name>-thread`. */
  readonly name: string;
  /** The `import.meta.url` of a module in the same folder. */
  readonly beside: string;
  readonly data: Omit<Data, 'port'>;
  /** The part of `data` that is transferred. */
  readonly transfer?: readonly Transferable[];
  readonly resourceLimits?: ResourceLimits;
  /**
   * Called once when the thread ends before `end` was called. Default: throws, which also ends this thread or
   * process.
   */
  readonly failed?: (failure: ThreadFailure) => void;
}

/** Starts a thread that is called through its peer, and may call back. */
export function startPeer<Data extends PeerData>(start: Start<Data>): PeerThread {
  const { name, beside, data, transfer = [], resourceLimits, failed = raise } = start;
  const { port1: here, port2: port } = new MessageChannel();
  const worker = new Worker(new URL(`./${name}-thread${extname(beside)}`, beside), {
    name,
    workerData: { ...data, port },
    transferList: [port, ...transfer],
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
  });
  const peer = connect(here);
  let isOver = false;
  const fail = (reason: unknown): void => {
    if (isOver) return;
    isOver = true;
    failed(new ThreadFailure(name, reason));
  };
  worker.on('error', fail);
  worker.on('exit', (code) => fail(`it ended with code ${code}`));
  const end = async (): Promise<void> => {
    isOver = true;
    peer.close();
    await worker.terminate();
  };
  return { peer, end };
}

function raise(failure: ThreadFailure): never {
  throw failure;
}
