import type { Logger } from 'pino';
import { limits } from '#kernel/limits.ts';
import { dayMs, type Clock, type Instant } from '#kernel/time.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { RecordTables } from '../read/tables.ts';
import type { RecordTableSet } from './definition.ts';

/** Fewer superseded rows are not worth a merge of the whole partition. */
const supersededMin = 50_000;
/** Pruned or purged data must not stay in the files: it is merged away soon, in a small part of the time. */
const emptiedAfterMs = 5_000;
const emptiedPause = 20;

/**
 * Removes superseded rows: merges do so only on request, and never by themselves while inserts continue. It may start
 * only when no copy of an insert can arrive late, because a late copy of a removed row would be live again.
 */
export interface Cleanup {
  /** Rows of the partition that an insert superseded, and whether it removed a payload for good. */
  note(partition: number, superseded: number, hasEmptied: boolean): void;
  /** To be called whenever the stored position covers every insert made so far. */
  consider(): void;
  /** Resolves when all started cleanups have ended. */
  settled(): Promise<void>;
}

export function createCleanup(deps: {
  readonly store: ProjectionStore;
  readonly tables: RecordTableSet;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Whether the stored position covers every insert, and none is running, of unknown outcome or possibly late. */
  readonly isSafe: () => boolean;
  readonly supersededMin?: number;
}): Cleanup {
  const { tables, logger, isSafe, store } = deps;
  const least = deps.supersededMin ?? supersededMin;
  const superseded = new Map<number, number>();
  const wanted = new Set<number>();
  let running: Promise<void> | null = null;

  const start = (task: () => Promise<void>): void => {
    running = task()
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
      start(() => clean(deps, ready));
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

  const emptied = cleanSoon({
    isFree: () => running === null && isSafe(),
    clean(partition) {
      const cleaning = clean(deps, partition);
      start(() => cleaning);
      return cleaning;
    },
  });
  return {
    note(partition, count, hasEmptied) {
      if (hasEmptied && least !== Infinity) emptied.note(partition);
      if (count > 0) superseded.set(partition, (superseded.get(partition) ?? 0) + count);
    },
    consider,
    async settled() {
      emptied.end();
      while (running !== null) await running;
    },
  };
}

/** One partition after the other, each soon after it was reported; one that may not be cleaned yet waits. */
function cleanSoon(deps: {
  readonly isFree: () => boolean;
  readonly clean: (partition: number) => Promise<void>;
}): { note(partition: number): void; end(): void } {
  const noted = new Set<number>();
  let timer: NodeJS.Timeout | null = null;

  const later = (afterMs: number): void => {
    timer ??= setTimeout(() => {
      timer = null;
      void next();
    }, afterMs).unref();
  };
  const next = async (): Promise<void> => {
    const [partition] = noted;
    if (partition === undefined) return;
    const begun = performance.now();
    if (deps.isFree()) {
      noted.delete(partition);
      // The cleanup has logged its failure: the next purge or start retries it.
      await deps.clean(partition).catch(() => undefined);
    }
    if (noted.size > 0) later(Math.max(emptiedAfterMs, emptiedPause * (performance.now() - begun)));
  };
  return {
    note(partition) {
      noted.add(partition);
      later(emptiedAfterMs);
    },
    end() {
      if (timer !== null) clearTimeout(timer);
      noted.clear();
    },
  };
}

/** Live positions are known from the bitmaps, which also have earlier cleanups. */
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

/** Partitions in which something was purged and not cleaned, perhaps because a process ended before. */
export async function purgedPartitions(
  store: ProjectionStore,
  { names: { records } }: RecordTableSet,
): Promise<number[]> {
  const rows = await store.queryRows<{ log_partition: number }>(
    `SELECT DISTINCT log_partition FROM ${records} WHERE last_action = 'PURGED'`,
    {},
    'heavy',
  );
  return rows.map(({ log_partition: partition }) => partition);
}

async function clean(
  {
    store,
    tables: { names, replacing },
    clock,
    logger,
  }: Pick<Parameters<typeof createCleanup>[0], 'store' | 'tables' | 'clock' | 'logger'>,
  partition: number,
): Promise<void> {
  // First: the next step removes the rows that mark purged data.
  await trimHistory(store, names, partition, clock.now());
  for (const table of replacing) {
    await store.command(`OPTIMIZE TABLE ${table} PARTITION ${partition} FINAL CLEANUP`, {
      queryClass: 'cleanup',
    });
  }
  logger.info({ partition }, 'removed superseded rows');
}

/** The log may keep changes two days longer than required; until then they can be read. */
const keptMs = (limits.recordHistoryDays + 2) * dayMs;

/**
 * Changes of one partition outside the history that callers can read: of purged records all up to the purge, of others
 * those superseded before the log's retention. The newest change of a record stays, as in the log.
 */
const trimmed = (table: string, partition: number, until: Instant): string => `
  SELECT stream_id, record_id, arrayJoin(gone) AS version FROM (
    SELECT stream_id, record_id,
      maxIf(version, last_action = 'PURGED') AS purged,
      maxIf(version, modified_at < fromUnixTimestamp64Milli(${until})) AS settled,
      arrayFilter(one -> one <= purged OR one < settled, groupArray(version)) AS gone
    FROM ${table} WHERE log_partition = ${partition}
    GROUP BY stream_id, record_id HAVING notEmpty(gone)
    SETTINGS optimize_aggregation_in_order = 1)`;

/** Removes them. @throws GatewayError `projection_unavailable`: may or may not have been removed */
export async function trimHistory(
  store: ProjectionStore,
  { history }: Pick<RecordTables, 'history'>,
  partition: number,
  now: Instant,
): Promise<void> {
  const gone = trimmed(history, partition, now - keptMs);
  const [some] = await store.queryRows(`SELECT 1 FROM (${gone}) LIMIT 1`, {}, 'cleanup');
  if (some === undefined) return;
  // Replicas of replicated tables decide separately: one that lags keeps a row until the next time.
  await store.command(
    `ALTER TABLE ${history} DELETE IN PARTITION ${partition}
     WHERE (stream_id, record_id, version) IN (${gone})
     SETTINGS mutations_sync = 1, allow_nondeterministic_mutations = 1`,
    { queryClass: 'cleanup' },
  );
}
