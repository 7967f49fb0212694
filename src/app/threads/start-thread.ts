import { setTimeout as sleep } from 'node:timers/promises';
import type { Peer } from '#adapters/threads/rpc.ts';
import { startPeer } from '#adapters/threads/start-peer.ts';
import { ThreadFailure, UnendedThread } from '#kernel/thread-failure.ts';
import { transferOf } from '../process/open-log.ts';
import type { ThreadData } from './thread-context.ts';

export interface RunningThread extends AsyncDisposable {
  readonly peer: Peer;
  /** Rejects when the thread ends unexpectedly, or reports that it cannot continue. */
  readonly failed: Promise<never>;
  /** Called with the external dependency that the thread waits for; null = none. */
  onReadiness(listener: (reason: string | null) => void): void;
}

type ThreadInput = Omit<ThreadData, 'port'>;

/** What a part of the thread found the log to lack; null = nothing (any more). */
export interface LogGap {
  readonly part: string;
  readonly message: string | null;
}

interface ThreadHooks {
  /** Ends the start with its error. */
  readonly failed: Promise<never>;
  /** What this thread must do before that one opens anything; meanwhile its code is loaded. */
  readonly prepare: () => Promise<void>;
  readonly onCorruption: (message: string) => void;
  readonly onIncomplete: (incomplete: LogGap) => void;
}

/** Starts `<name>-thread` of this folder and resolves when its task runs. */
export async function startThread(
  input: ThreadInput,
  { failed: othersFailed, prepare, onCorruption, onIncomplete }: ThreadHooks,
): Promise<RunningThread> {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  let isClosing = false;
  const { peer, end } = startPeer<ThreadData>({
    name: input.name,
    beside: import.meta.url,
    data: input,
    transfer: transferOf(input.log),
    failed: (failure) => {
      if (!isClosing) fail(failure);
    },
  });
  peer.on('fatal', (reason: string) => fail(new ThreadFailure(input.name, reason)));
  peer.on('log damaged', onCorruption);
  peer.on('log incomplete', onIncomplete);
  const readiness = keepLast(peer);
  failed.catch(() => undefined);
  try {
    const open = prepare().then(() => peer.call('open', []));
    await Promise.race([open, failed, othersFailed]);
  } catch (error) {
    if (!(await isSettled(peer))) {
      throw new UnendedThread(input.name, new Error(unsettled, { cause: error }));
    }
    await end();
    throw error;
  }
  return {
    peer,
    failed,
    onReadiness: (listener) => readiness.on(listener),
    async [Symbol.asyncDispose]() {
      isClosing = true;
      await Promise.race([peer.call('close', []), failed.catch(() => undefined)]);
      await end();
    },
  };
}

/** Longest wait for a statement of the tables when a start has failed. */
const settledWithinMs = 10_000;
const unsettled = 'the start failed, and a statement of the tables does not end';

/** Whether the thread can be terminated. One that has ended by itself can. */
async function isSettled(peer: Peer): Promise<boolean> {
  const settled = peer.call('settle', []).then(
    () => true,
    () => true,
  );
  return Promise.race([settled, sleep(settledWithinMs, false, { ref: false })]);
}

/** Replays the thread's last report to later listeners. */
function keepLast(peer: Peer) {
  const listeners: ((reason: string | null) => void)[] = [];
  let last: string | null = null;
  peer.on('unready', (reason: string | null) => {
    last = reason;
    for (const listener of listeners) listener(reason);
  });
  return {
    on(listener: (reason: string | null) => void): void {
      listeners.push(listener);
      listener(last);
    },
  };
}
