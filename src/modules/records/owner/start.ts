import { HeldPartitions } from '#streams/held-partitions.ts';
import { ownPartition } from '#streams/owner/own-partition.ts';
import { recordCommandsTopic } from '../model/commands.ts';
import { recordsTopic } from '../model/stream-head.ts';
import { acquirePartition } from './acquire-partition.ts';
import { recordOwnersGroup, share, type RecordOwnersDeps } from './deps.ts';
import { PartitionOwner } from './partition.ts';
import { Standbys } from './standby.ts';
import { storeFile } from './state/store-file.ts';

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
