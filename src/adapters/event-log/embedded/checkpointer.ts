import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { MessageChannel, Worker } from 'node:worker_threads';
import { connect, type Peer } from '../../threads/rpc.ts';
import { checkpoint } from './checkpoint.ts';
import type { CheckpointThreadData } from './checkpoint-thread.ts';

/** What is written between two checkpoints: while nobody waits for the log, and in any case. */
const idleBytes = 4 * 1024 ** 2;
const busyBytes = 16 * 1024 ** 2;
/** A process that writes less than this in its life is better off without another thread (20 MB, 80 ms to start). */
const threadFromBytes = 24 * 1024 ** 2;
/** From so many pages (of 8 KiB) on the write-ahead log is to begin anew. */
const pagesMax = 2048;

/**
 * Has checkpoints made in a thread of their own, on another connection: commits go on meanwhile. What they add keeps
 * the write-ahead log from beginning anew; the little that is left is moved by the caller's thread, once the log is long.
 */
export class Checkpointer {
  private readonly db: DatabaseSync;
  private readonly directory: string;
  private written = 0;
  private writtenInAll = 0;
  private running: Promise<void> | null = null;
  private isClosing = false;
  private thread: { readonly peer: Peer; readonly worker: Worker } | null = null;

  /** @param db the connection that writes */
  constructor(db: DatabaseSync, directory: string) {
    this.db = db;
    this.directory = directory;
  }

  /** About how much a transaction has written. */
  wrote(bytes: number): void {
    this.written += bytes;
    this.writtenInAll += bytes;
  }

  /** To be called once answers are out. The connection must be open. */
  startWhenDue(isIdle: boolean): void {
    if (this.isClosing || this.running !== null) return;
    if (this.written < (isIdle ? idleBytes : busyBytes)) return;
    this.written = 0;
    if (this.writtenInAll < threadFromBytes) checkpoint(this.db);
    else this.running = this.inThread();
  }

  async close(): Promise<void> {
    this.isClosing = true;
    await this.running;
    if (this.thread === null) return;
    const { peer, worker } = this.thread;
    await peer.call('close', []);
    peer.close();
    await worker.terminate();
  }

  private async inThread(): Promise<void> {
    this.thread ??= startThread(this.directory);
    try {
      const pages = await this.thread.peer.call<number>('checkpoint', []);
      if (pages >= pagesMax) checkpoint(this.db);
    } finally {
      this.running = null;
    }
  }
}

function startThread(directory: string): { readonly peer: Peer; readonly worker: Worker } {
  const { port1: here, port2: port } = new MessageChannel();
  const workerData: CheckpointThreadData = { port, directory };
  const file = new URL(`./checkpoint-thread${extname(import.meta.url)}`, import.meta.url);
  const resourceLimits = { maxYoungGenerationSizeMb: 1 };
  const options = { workerData, transferList: [port], name: 'checkpoints', resourceLimits };
  const worker = new Worker(file, options);
  return { peer: connect(here), worker };
}
