import type { DatabaseSync } from 'node:sqlite';
import { startPeer, type PeerData, type PeerThread } from '../../threads/start-peer.ts';
import { checkpoint } from './checkpoint.ts';

/** Start data of `checkpoint-thread.ts`. */
export interface CheckpointThreadData extends PeerData {
  readonly directory: string;
}

/** Bytes written between two checkpoints: while the log is idle, and at most. */
const idleBytes = 4 * 1024 ** 2;
const busyBytes = 16 * 1024 ** 2;
/**
 * A process that writes less than this in its lifetime is better off without another thread (20 MB, 80 ms to
 * start).
 */
const threadFromBytes = 24 * 1024 ** 2;
/** From this number of pages (of 8 KiB) on, the write-ahead log must be reset. */
const pagesMax = 2048;

/**
 * Runs checkpoints in a thread of its own, on another connection, while commits continue. Concurrent commits keep
 * the write-ahead log from being reset; once it is long, the caller's thread moves the small remainder.
 */
export class Checkpointer {
  readonly #db: DatabaseSync;
  readonly #directory: string;
  #written = 0;
  #writtenInAll = 0;
  #running: Promise<void> | null = null;
  #isClosing = false;
  #thread: PeerThread | null = null;

  /** @param db the write connection */
  constructor(db: DatabaseSync, directory: string) {
    this.#db = db;
    this.#directory = directory;
  }

  /** Call with the approximate bytes of a transaction. */
  wrote(bytes: number): void {
    this.#written += bytes;
    this.#writtenInAll += bytes;
  }

  /** Call after the replies are sent. The connection must be open. */
  startWhenDue(isIdle: boolean): void {
    if (this.#isClosing || this.#running !== null) return;
    if (this.#written < (isIdle ? idleBytes : busyBytes)) return;
    this.#written = 0;
    if (this.#writtenInAll < threadFromBytes) checkpoint(this.#db);
    else this.#running = this.#inThread();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#running;
    if (this.#thread === null) return;
    await this.#thread.peer.call('close', []);
    await this.#thread.end();
  }

  async #inThread(): Promise<void> {
    this.#thread ??= startPeer<CheckpointThreadData>({
      name: 'checkpoint',
      beside: import.meta.url,
      data: { directory: this.#directory },
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    });
    try {
      const pages = await this.#thread.peer.call<number>('checkpoint', []);
      if (pages >= pagesMax) checkpoint(this.#db);
    } finally {
      this.#running = null;
    }
  }
}
