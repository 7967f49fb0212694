import type { RecordId } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Micros } from '#kernel/time.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import type { SqlParams } from '#ports/projection-store.ts';
import { activeGeneration } from '#streams/projector/active-generation.ts';
import { micros, timestamp } from '#tables/where.ts';
import { streamKey, streamNumber, type StreamId } from '../model/stream.ts';
import { records } from '../projection/definition.ts';
import type { PageQuery } from '../read/reader.ts';
import { recordTables } from '../read/tables.ts';
import type { PartitionSettings } from '../services.ts';

interface Deps extends EntityQueries {
  readonly settings: PartitionSettings;
}

/** Named SQL queries of the table `record_history` (src/modules/records/projection/definition.ts). */
export interface HistoryTable {
  readonly key: string;
  readonly partition: number;
  readonly name: string;
  readonly params: SqlParams;
}

export function historyTable({ control, settings }: Deps, stream: StreamId): HistoryTable {
  const key = streamKey(stream);
  const partition = partitionOf(key, settings.partitions);
  return {
    key,
    partition,
    name: recordTables(activeGeneration(control.view, records)).history,
    params: { partition, stream: streamNumber(key).toString() },
  };
}

/** A change as the table has it; 64-bit numbers come as text. */
export interface ChangeRow {
  readonly record_id: RecordId;
  readonly version: string;
  readonly position: string;
  readonly log_offset: string;
  /** µs. */
  readonly at: string;
  readonly last_action: 'ADDED' | 'UPDATED' | 'DELETED' | 'PURGED';
  readonly is_pruned: number;
}

const columns = `record_id, version, position, log_offset, ${micros('modified_at')} AS at,
  last_action, is_pruned`;
const inStream = 'log_partition = {partition:UInt16} AND stream_id = {stream:UInt64}';
const heavy = 'heavy';

/** Changes of one record before a version, newest first. @throws GatewayError `projection_unavailable` */
export function changesOf(
  { tables }: Deps,
  table: HistoryTable,
  recordId: string,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<ChangeRow[]> {
  return tables.queryRows<ChangeRow>(
    `SELECT ${columns} FROM ${table.name} WHERE ${inStream} AND record_id = {id:String}
       ${before === null ? '' : 'AND version < {before:UInt64}'}
     ORDER BY version DESC LIMIT 1 BY version LIMIT {limit:UInt32}`,
    { ...table.params, id: recordId, limit, ...(before === null ? {} : { before }) },
    heavy,
  );
}

/** The versions of a record up to which the payloads, and the record itself, were removed for good; 0 = none. */
export async function takenOf(
  { tables }: Deps,
  table: HistoryTable,
  recordId: string,
): Promise<{ pruned: number; purged: number }> {
  const [row] = await tables.queryRows<{ pruned: string; purged: string }>(
    `SELECT maxIf(version, is_pruned = 1) AS pruned, maxIf(version, last_action = 'PURGED') AS purged
     FROM ${table.name} WHERE ${inStream} AND record_id = {id:String}`,
    { ...table.params, id: recordId },
    heavy,
  );
  return { pruned: Number(row?.pruned ?? 0), purged: Number(row?.purged ?? 0) };
}

/** Where the log has a record's state at that time. */
export interface StandingPlace {
  readonly record_id: RecordId;
  readonly log_offset: string;
}

/**
 * The records of a stream at a time, in the order of their modification: of each the last modification until then, and
 * of that the most specific entry (pruned, or restored, since). Purged records are absent.
 */
export function standingAt(
  { tables }: Deps,
  table: HistoryTable,
  { after, from, until }: { readonly after: Micros; readonly from: Micros; readonly until: Micros },
  { actions, ids, limit }: Pick<PageQuery, 'actions' | 'ids' | 'limit'>,
): Promise<StandingPlace[]> {
  return tables.queryRows<StandingPlace>(
    `SELECT record_id, tupleElement(found, 2) AS log_offset FROM (
       SELECT record_id, maxIf(newest, acted = 'PURGED') AS purged,
         maxIf(modified_at, modified_at <= ${timestamp('until')}) AS stood_at,
         argMaxIf((newest, placed, acted), modified_at, modified_at <= ${timestamp('until')}) AS found
       FROM (
         SELECT record_id, modified_at, max(version) AS newest,
           argMax(log_offset, version) AS placed, argMax(toString(last_action), version) AS acted
         FROM ${table.name}
         WHERE ${inStream} AND modified_at > ${timestamp('after')}
           AND (modified_at <= ${timestamp('until')} OR last_action = 'PURGED')
           ${ids === null ? '' : 'AND record_id IN {ids:Array(String)}'}
         GROUP BY record_id, modified_at
       ) GROUP BY record_id
     ) WHERE tupleElement(found, 1) > purged AND stood_at >= ${timestamp('from')}
       ${actions === null ? '' : 'AND tupleElement(found, 3) IN {actions:Array(String)}'}
     ORDER BY stood_at LIMIT {limit:UInt32}`,
    {
      ...table.params,
      after,
      from,
      until,
      limit,
      ...(ids === null ? {} : { ids }),
      ...(actions === null ? {} : { actions }),
    },
    heavy,
  );
}

/**
 * All changes of the next `limit` records, by their id, of those that were modified within a time; by record and
 * version.
 */
export function recordsModified(
  { tables }: Deps,
  table: HistoryTable,
  { from, until }: { readonly from: Micros; readonly until: Micros },
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ChangeRow[]> {
  return tables.queryRows<ChangeRow>(
    `SELECT ${columns} FROM ${table.name} WHERE ${inStream} AND record_id IN (
       SELECT DISTINCT record_id FROM ${table.name}
       WHERE ${inStream} AND record_id > {after:String}
         AND modified_at >= ${timestamp('from')} AND modified_at <= ${timestamp('until')}
       ORDER BY record_id LIMIT {limit:UInt32})
     ORDER BY record_id, version LIMIT 1 BY record_id, version`,
    { ...table.params, from, until, after, limit },
    heavy,
  );
}
