import { setImmediate as turn } from 'node:timers/promises';
import { isOver, pause, retrying } from '#kernel/retry.ts';
import type { OwnerServices } from './deps.ts';
import { StoreUpdate } from './state/restore.ts';
import { openStore } from './state/store-file.ts';

const lookEveryMsDefault = 1_000;
const retryMs = 5_000;
/** Messages per batch: owners in the same thread decide in between. */
const batchBytes = 256 * 1024;

interface PartitionTail {
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

/**
 * Keeps the stores of partitions that other nodes own close to the end of the log, so that this node can acquire one
 * with little to read. It decides nothing, and writes nothing to the log.
 */
export class Standbys {
  readonly #services: OwnerServices;
  readonly #tailing = new Map<number, PartitionTail>();
  /** The end of the last read that was begun: one partition is read at a time. */
  #lastLook: Promise<void> = Promise.resolve();
  /** When the store of a partition was last at the end of the log (ms). */
  readonly atEnd = new Map<number, number>();

  constructor(services: OwnerServices) {
    this.#services = services;
  }

  start(partition: number): void {
    if (this.#tailing.has(partition)) return;
    const ending = new AbortController();
    this.#tailing.set(partition, { ending, done: this.#tail(partition, ending.signal) });
  }

  /** Resolves when the store is closed, for the new owner. */
  async stop(partition: number): Promise<void> {
    const tailing = this.#tailing.get(partition);
    tailing?.ending.abort();
    await tailing?.done;
    this.#tailing.delete(partition);
    this.atEnd.delete(partition);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#tailing.keys()].map((partition) => this.stop(partition)));
  }

  /** Runs until the signal aborts. Never rejects. */
  async #tail(partition: number, signal: AbortSignal): Promise<void> {
    const { logger } = this.#services;
    await retrying(() => this.#follow(partition, signal), {
      signal,
      isRetryable: () => true,
      failed: (err) => logger.warn({ err, partition }, 'a standby of records begins again'),
      firstMs: retryMs,
    }).catch(() => undefined);
  }

  async #follow(partition: number, signal: AbortSignal): Promise<void> {
    const { clock, standby } = this.#services;
    const { store, progress } = await openStore(this.#services, partition, signal);
    using _ = store;
    const restoring = new StoreUpdate(this.#services, store, progress, {
      maxBytes: batchBytes,
      turn,
    });
    while (!isOver(signal)) {
      await this.#inTurn(signal, async () => {
        const at = clock.now();
        await restoring.readChanges(partition, signal);
        await restoring.readHeads(partition, signal);
        if (isOver(signal)) return;
        restoring.commit(at);
        this.atEnd.set(partition, at);
      });
      await pause(standby?.lookEveryMs ?? lookEveryMsDefault, signal);
    }
  }

  /** Runs the read after those already waiting, unless the signal aborts before. */
  async #inTurn(signal: AbortSignal, look: () => Promise<void>): Promise<void> {
    const before = this.#lastLook;
    const { promise: ended, resolve } = Promise.withResolvers<undefined>();
    this.#lastLook = before.then(() => ended);
    try {
      const aborted = new Promise<void>((done) => {
        signal.addEventListener('abort', () => done(), { once: true });
      });
      await Promise.race([before, aborted]);
      if (!isOver(signal)) await look();
    } finally {
      resolve(undefined);
    }
  }
}
