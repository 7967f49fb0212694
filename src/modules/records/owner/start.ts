import { setTimeout as delay } from 'node:timers/promises';
import { removeDisposableDatabase } from '../../../control-plane/disposable-database.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { isDatabaseCorruption } from '../../../kernel/sqlite-corruption.ts';
import { recordCommandsTopic } from '../commands.ts';
import { recordOwnersGroup, share, type RecordOwnersDeps, type Shared } from './deps.ts';
import { recordsTopic } from '../stream-head.ts';
import { PartitionOwner } from './partition.ts';
import { Standbys } from './standby.ts';
import { storeFile } from './state/store-file.ts';
import { acquirePartition } from './acquire-partition.ts';

export type { RecordOwnersDeps } from './deps.ts';

export interface RecordOwners extends AsyncDisposable {
  /** The partitions owned here, and whether their commands are being decided yet. */
  partitions(): ReadonlyMap<number, 'restoring' | 'deciding'>;
  /** The partitions of other nodes with a store here, and the time at which it was last at the end (ms). */
  standbys(): ReadonlyMap<number, number>;
}

interface Running {
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

const retryMsDefault = 100;
const retryMaxMs = 10_000;

/** Owns the partitions of records that the group assigns to this node, until it is disposed of. */
export async function startRecordOwners(deps: RecordOwnersDeps): Promise<RecordOwners> {
  const shared = await share(deps);
  const running = new Map<number, Running>();
  const states = new Map<number, 'restoring' | 'deciding'>();

  const standbys = new Standbys(shared);
  /** From the moment of the assignment: one store has one user. */
  const owned = new Set<number>();
  let isEnding = false;
  const standBy = (partitions: Iterable<number>): void => {
    if (deps.standby === undefined || isEnding) return;
    for (const partition of partitions) if (!owned.has(partition)) standbys.start(partition);
  };

  async function end(partitions: readonly number[]): Promise<void> {
    const ended = partitions.map(async (partition) => {
      const owned = running.get(partition);
      owned?.ending.abort();
      await owned?.done;
      running.delete(partition);
    });
    await Promise.all(ended);
  }

  const membership = await deps.log.join(recordOwnersGroup, [recordCommandsTopic], {
    async assigned(partitions) {
      for (const partition of partitions) owned.add(partition);
      await end(partitions);
      await Promise.all(partitions.map((partition) => standbys.stop(partition)));
      for (const partition of partitions) {
        const ending = new AbortController();
        const done = own(shared, partition, states, ending.signal);
        running.set(partition, { ending, done });
      }
    },
    async revoked(partitions) {
      await end(partitions);
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
      await end([...running.keys()]);
    },
  };
}

/** Owns the partition until the signal aborts or another node acquires it. Never rejects. */
async function own(
  shared: Shared,
  partition: number,
  states: Map<number, 'restoring' | 'deciding'>,
  signal: AbortSignal,
): Promise<void> {
  const { logger, retryMs = retryMsDefault } = shared;
  const isEnded = (): boolean => signal.aborted;
  for (let waitMs = retryMs; !isEnded(); waitMs = Math.min(2 * waitMs, retryMaxMs)) {
    try {
      states.set(partition, 'restoring');
      await using owner = new PartitionOwner(
        shared,
        await acquirePartition(shared, partition, signal),
      );
      states.set(partition, 'deciding');
      waitMs = retryMs;
      await owner.run(signal);
    } catch (error) {
      if (isEnded()) break;
      if (error instanceof GatewayError && error.code === 'writer_fenced') {
        logger.warn({ partition }, 'another node has taken over a partition of records');
        break;
      }
      // It is filled from the log again, which takes longer than continuing from it.
      if (isDatabaseCorruption(error)) removeDisposableDatabase(storeFile(shared, partition));
      logger.error({ err: error, partition, waitMs }, 'a partition of records is acquired again');
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
  states.delete(partition);
}
