import type { Logger } from 'pino';
import type { ProjectionStore } from '../../src/ports/projection-store.ts';
import type { RecordTableSet } from './records.ts';

/** Fewer superseded rows are not worth a merge of the whole partition. */
const supersededMin = 50_000;

/**
 * Removes superseded rows: merges do so only when told, and never by themselves while inserts go on
 * (design section 8). It may start only when no copy of an insert can come late, because a late copy of a
 * removed row would be live again.
 */
export interface Cleanup {
  /** Rows of the partition that were superseded by an insert. */
  note(partition: number, superseded: number): void;
  /** To be called whenever the stored position covers every insert made so far. */
  consider(): void;
  /** Resolves when what was started has ended. */
  settled(): Promise<void>;
}

export function createCleanup(deps: {
  readonly store: ProjectionStore;
  readonly tables: RecordTableSet;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Whether the stored position covers every insert, and none is under way, of unknown outcome or to come late. */
  readonly isSafe: () => boolean;
  readonly supersededMin?: number;
}): Cleanup {
  const { store, tables, logger, isSafe } = deps;
  const least = deps.supersededMin ?? supersededMin;
  const superseded = new Map<number, number>();
  const wanted = new Set<number>();
  let running: Promise<void> | null = null;

  const start = (work: () => Promise<void>): void => {
    running = work()
      .catch((error: unknown) => logger.warn({ err: error }, 'cleanup of superseded rows failed'))
      .finally(() => {
        running = null;
        if (wanted.size > 0) consider();
      });
  };

  const consider = (): void => {
    if (running !== null || !isSafe()) return;
    const [ready] = wanted;
    if (ready !== undefined) {
      wanted.delete(ready);
      start(() => clean(store, tables, ready, logger));
      return;
    }
    for (const [partition, count] of superseded) {
      if (count < least) continue;
      superseded.delete(partition);
      start(async () => {
        if (await isHalfDead(store, tables, partition)) wanted.add(partition);
      });
      return;
    }
  };

  return {
    note(partition, count) {
      if (count > 0) superseded.set(partition, (superseded.get(partition) ?? 0) + count);
    },
    consider,
    async settled() {
      while (running !== null) await running;
    },
  };
}

/** Live positions are known from the bitmaps, which also remember what was cleaned before. */
async function isHalfDead(
  store: ProjectionStore,
  { names: { records, segments } }: RecordTableSet,
  partition: number,
): Promise<boolean> {
  const [live] = await store.queryRows<{ positions: string }>(
    `SELECT sum(known) - sum(dead) AS positions FROM (
       SELECT groupBitmapMerge(known) AS known, groupBitmapIfMerge(dead) AS dead
       FROM ${segments} WHERE log_partition = {partition:UInt16} GROUP BY stream_id, segment)`,
    { partition },
    'heavy',
  );
  const [dead] = await store.queryRows<{ positions: string }>(
    `SELECT countIf(superseded = 1) AS positions FROM ${records}
     WHERE log_partition = {partition:UInt16}`,
    { partition },
    'heavy',
  );
  return Number(dead?.positions ?? 0) > Number(live?.positions ?? 0);
}

async function clean(
  store: ProjectionStore,
  { replacing }: RecordTableSet,
  partition: number,
  logger: Pick<Logger, 'info'>,
): Promise<void> {
  for (const table of replacing) {
    await store.command(`OPTIMIZE TABLE ${table} PARTITION ${partition} FINAL CLEANUP`, {
      lane: 'cleanup',
    });
  }
  logger.info({ partition }, 'removed superseded rows');
}
