import type { LogPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { dayMs, isoMillis, type Instant, type Micros, type Clock } from '#kernel/time.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { RowQueries } from '#ports/projection-store.ts';
import { decodeCursor, encodeCursor, generationOf } from '../model/cursor.ts';
import { lastActionOf, type RecordChange } from '../model/events.ts';
import { parseTimestamp } from '../model/parse-timestamp.ts';
import { recordText } from '../read/page-json.ts';
import { answerBytesMax, refuseTime } from '../read/queries.ts';
import type { Page, PageQuery } from '../read/reader.ts';
import type { RecordAccess, PartitionSettings } from '../services.ts';
import { historyTable, standingAt } from './history-queries.ts';
import { changesByOffset, payloadsOf, untilShown } from './logged-changes.ts';

export interface HistoryDeps extends LogPorts, SealedEntities {
  readonly tables: RowQueries;
  readonly records: RecordAccess;
  readonly clock: Clock;
  readonly settings: PartitionSettings;
}

/** Limit of records whose changes are in memory at a time. */
const chunkRecords = 100;

/**
 * A page of the records at a time, or at the position of a cursor. The result changes only by prune and purge. Payloads
 * come from the log.
 * @param asOf RFC 3339 or a cursor; inclusive
 * @throws GatewayError `history_gone` for a time before what the log holds, `invalid_cursor_value`,
 *   `invalid_query_params`, `projection_unavailable`, `log_unavailable`
 */
export async function pageAsOf(
  deps: HistoryDeps,
  query: PageQuery,
  asOf: string,
): Promise<Omit<Page, 'hasStream'>> {
  const until = timestampOf(asOf, deps.clock.now());
  const after = query.cursor === null ? 0 : decodeCursor(query.cursor).modifiedAt;
  const from = query.modifiedAfter === null ? 0 : parseTimestamp(query.modifiedAfter);
  if (from === null) throw refuseTime('modified_after');
  const table = historyTable(deps, query.stream);
  await untilShown(deps, table.partition);
  const limit = query.limit + 1;
  const places = await standingAt(deps, table, { after, from, until }, { ...query, limit });
  const offsets = places.slice(0, query.limit).map(({ log_offset: offset }) => Number(offset));

  const payloadOf = payloadsOf(deps, table.key);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let last: RecordChange | undefined;
  for (let at = 0; at < offsets.length && bytes < answerBytesMax; at += chunkRecords) {
    const chunk = offsets.slice(at, at + chunkRecords);
    const changes = await changesByOffset(deps, table.partition, chunk);
    for (const offset of chunk) {
      const change = changes.get(offset);
      if (change === undefined) throw gone(deps.clock.now());
      const text = recordJson(change, await payloadOf(change));
      if (parts.length > 0) parts.push(comma);
      parts.push(text);
      bytes += text.length;
      last = change;
      if (bytes >= answerBytesMax) break;
    }
  }
  const records = (parts.length + 1) >> 1;
  const nextCursor = last !== undefined && records < places.length ? cursorOf(last) : null;
  const end = `],"next_cursor":${JSON.stringify(nextCursor)}}`;
  const body = Buffer.concat([Buffer.from('{"records":['), ...parts, Buffer.from(end)]);
  return { body, records, nextCursor };
}

const comma = Buffer.from(',');

/** @throws GatewayError `history_gone`, `invalid_cursor_value`, `invalid_query_params` */
function timestampOf(asOf: string, now: Instant): Micros {
  const named = parseTimestamp(asOf);
  if (named !== null && named > (now + 1) * 1000) {
    const message = 'The time is in the future: omit as_of to read the current records.';
    throw new GatewayError('invalid_query_params', {
      errors: [{ code: 'invalid_value', message, path: ['as_of'] }],
    });
  }
  const until = named ?? decodeCursor(asOf).modifiedAt;
  refuseGone(until, now);
  return until;
}

const oldest = (now: Instant): Instant => now - limits.recordHistoryDays * dayMs;

/** @throws GatewayError `history_gone` for a time before what the log holds */
export function refuseGone(at: Micros, now: Instant): void {
  if (at < oldest(now) * 1000) throw gone(now);
}

function gone(now: Instant): GatewayError {
  return new GatewayError('history_gone', {
    message: `The log contains every change of the last ${limits.recordHistoryDays} days: send ${isoMillis(oldest(now))} or later.`,
  });
}

function recordJson(change: RecordChange, payload: Buffer | null): Uint8Array {
  const standing = {
    recordId: change.record_id,
    position: change.position,
    firstSeenAt: change.first_seen_at,
    modifiedAt: change.last_modified_at,
    lastAction: lastActionOf(change),
    deletedAt: change.deleted_at === null ? null : Math.max(0, change.deleted_at),
    prunedAt: change.pruned_at,
  };
  return recordText(standing, payload, generationOf(change.stream_generation));
}

/** The position of a change in its stream. */
export const cursorOf = (change: RecordChange): string =>
  encodeCursor({
    generation: generationOf(change.stream_generation),
    position: change.position,
    modifiedAt: change.last_modified_at,
  });
