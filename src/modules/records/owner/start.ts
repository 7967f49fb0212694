import { setImmediate as turn } from 'node:timers/promises';
import { isOver, pause, retrying } from '#kernel/retry.ts';
import { HeldPartitions } from '#streams/held-partitions.ts';
import { ownPartition } from '#streams/owner/own-partition.ts';
import { recordCommandsTopic } from '../model/commands.ts';
import { recordsTopic } from '../model/events.ts';
import { acquirePartition } from './acquire-partition.ts';
import { recordOwnersGroup, share, type RecordOwnersDeps, type OwnerServices } from './deps.ts';
import { PartitionOwner } from './partition.ts';
import { StoreUpdate } from './state/restore.ts';
import { storeFile, openStore } from './state/store-file.ts';

export type { RecordOwnersDeps } from './deps.ts';

export interface RecordOwners extends AsyncDisposable {
  /** The partitions owned here, and whether their commands are being decided yet. */
  partitions(): ReadonlyMap<number, 'restoring' | 'deciding'>;
  /** The partitions of other nodes with a store here, and the time at which it was last at the end (ms). */
  standbys(): ReadonlyMap<number, number>;
}

/** Owns the partitions of records that the group assigns to this node, until it is disposed of. */
export async function startRecordOwners(deps: RecordOwnersDeps): Promise<RecordOwners> {
  const services = await share(deps);
  const states = new Map<number, 'restoring' | 'deciding'>();

  const standbys = new Standbys(services);
  /** From the moment of the assignment: one store has one user. */
  const owned = new Set<number>();
  let isEnding = false;
  const standBy = (partitions: Iterable<number>): void => {
    if (deps.standby === undefined || isEnding) return;
    for (const partition of partitions) if (!owned.has(partition)) standbys.start(partition);
  };

  const held = new HeldPartitions(async (partition, signal) => {
    const { logger, retryMs, onLogIncomplete } = services;
    const file = storeFile(services, partition);
    await ownPartition(
      async (restored) => {
        states.set(partition, 'restoring');
        const acquired = await acquirePartition(services, partition, signal);
        restored();
        await using owner = new PartitionOwner(services, acquired);
        states.set(partition, 'deciding');
        await owner.run(signal);
      },
      {
        ...{ partition, file, logger, signal },
        ...(retryMs === undefined ? {} : { retryMs }),
        ...(onLogIncomplete === undefined ? {} : { onLogIncomplete }),
      },
    );
    states.delete(partition);
  });
  const membership = await deps.log.join(recordOwnersGroup, [recordCommandsTopic], {
    async assigned(partitions) {
      for (const partition of partitions) owned.add(partition);
      await Promise.all(partitions.map((partition) => standbys.stop(partition)));
      await held.assigned(partitions);
    },
    async revoked(partitions) {
      await held.revoked(partitions);
      for (const partition of partitions) owned.delete(partition);
      standBy(partitions);
    },
  });
  standBy(Array.from({ length: await deps.log.partitions(recordsTopic) }, (_, number) => number));

  return {
    partitions: () => states,
    standbys: () => standbys.atEnd,
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await standbys.stopAll();
      await membership[Symbol.asyncDispose]();
      await held.releaseAll();
    },
  };
}

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
class Standbys {
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
