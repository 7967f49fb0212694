import type { ProjectionStore } from '#ports/projection-store.ts';
import type { RecordTables } from '../read/tables.ts';
import type { Batch, LooseTombstone } from './batch.ts';
import type { StreamPlace } from './definition.ts';
import { records } from './definition.ts';
import { placeholder } from './row-builder.ts';

const tombstonesPerQuery = 500;

/**
 * Adds rows that cancel those of tombstones without their purge (the purge was compacted away, or read long before):
 * rare, so it may query the table.
 * @throws GatewayError `projection_unavailable`: the batch is unchanged
 */
export async function buryTombstones(
  store: ProjectionStore,
  batch: Batch,
  { byId }: Pick<RecordTables, 'byId'>,
): Promise<void> {
  const byStream = Map.groupBy(batch.tombstones, ({ place: streamPlace }) => streamPlace.number);
  const found: { readonly place: StreamPlace; readonly rows: readonly LiveRow[] }[] = [];
  for (const tombstones of byStream.values()) {
    for (let at = 0; at < tombstones.length; at += tombstonesPerQuery) {
      found.push(await liveRows(store, byId, tombstones.slice(at, at + tombstonesPerQuery)));
    }
  }
  for (const { place, rows } of found) {
    for (const { record_id: recordId, position, version } of rows) {
      // Of the same version the row inserted last counts.
      const change = {
        ...placeholder({ recordId, model: '', variant: '' }, Number(version), 0),
        action: 'purged' as const,
        position: Number(position),
      };
      records.write(batch.writer, change, { place, offset: 0 });
    }
  }
}

interface LiveRow {
  readonly record_id: string;
  readonly position: string;
  readonly version: string;
}

async function liveRows(
  store: ProjectionStore,
  byId: string,
  tombstones: readonly LooseTombstone[],
): Promise<{ place: StreamPlace; rows: LiveRow[] }> {
  const streamPlace = tombstones[0]?.place ?? { partition: 0, number: '0' };
  const rows = await store.queryRows<LiveRow>(
    `SELECT record_id, position, version FROM ${byId} FINAL
     WHERE log_partition = {partition:UInt16} AND stream_id = {stream:UInt64}
       AND record_id IN {ids:Array(String)}`,
    {
      partition: streamPlace.partition,
      stream: streamPlace.number,
      ids: tombstones.map(({ recordId }) => recordId),
    },
  );
  return { place: streamPlace, rows };
}
