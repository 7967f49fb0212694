import { limits } from '../../../kernel/limits.ts';
import type { Instant } from '../../../kernel/time.ts';
import type { RecordTables } from '../tables.ts';
import type { ProjectionStore } from '../../../ports/projection-store.ts';

const dayMs = 86_400_000;
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
