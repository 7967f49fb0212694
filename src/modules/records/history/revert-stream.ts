import type { LogPorts } from '#control-plane/ports.ts';
import type { RecordId } from '#kernel/ids.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { RowQueries } from '#ports/projection-store.ts';
import type { ModelPosition } from '../model/events.ts';
import type { Stream } from '../model/stream.ts';
import type { RecordAccess, PartitionSettings } from '../services.ts';
import type { FormerRecord, WriteOrigin } from '../write/writer.ts';
import {
  historyTable,
  recordsModified,
  type ChangeRow,
  type HistoryTable,
} from './history-queries.ts';
import { changesAt, changesByOffset, payloadsOf, untilShown } from './logged-changes.ts';

/** Numbers of records of one model that are … */
export interface RevertCounts {
  /** deleted, since the run had added them or brought them back; */
  deleted: number;
  /** given their former payload; */
  updated: number;
  /** brought back; */
  restored: number;
  /** as they were before the run; */
  unchanged: number;
  /** not reverted. */
  left: number;
}

const noCounts = (): RevertCounts => ({
  deleted: 0,
  updated: 0,
  restored: 0,
  unchanged: 0,
  left: 0,
});

export interface LeftRecord {
  readonly model: string;
  readonly id: string;
  readonly reason: LeftReason;
  /** Who changed it since. */
  readonly actor: string | null;
  readonly run_id: string | null;
}

interface Deps extends LogPorts, SealedEntities {
  readonly tables: RowQueries;
  readonly records: RecordAccess;
  readonly settings: PartitionSettings;
}

export interface StreamRevert {
  /** The run to revert, and the time of its changes, µs. */
  readonly id: string;
  readonly from: number;
  readonly until: number;
  /** Null: a dry run. */
  readonly writeAs: WriteOrigin | null;
  /** Receives the records that are not reverted, up to `leftMax`. */
  readonly left: LeftRecord[];
}

const leftMax = 1_000;
/** Records that are read together, and payloads in memory at a time. */
const sliceRecords = 1_000;
const chunkRecords = 100;

interface PlannedRecord {
  readonly id: RecordId;
  readonly plan: RecordPlan;
}

/** Outcome of the revert in one stream, and the end of its changes; null of a dry run. */
export interface RevertedStream {
  readonly counts: RevertCounts;
  readonly place: ModelPosition | null;
}

/** Reverts a run in one stream, a slice of its records after the other. Throws as `revertRun`. */
export async function revertStream(
  deps: Deps,
  stream: Stream,
  revert: StreamRevert,
): Promise<RevertedStream> {
  const table = historyTable(deps, stream);
  await untilShown(deps, table.partition);
  const slices = { deps, stream, table, revert, counts: noCounts() };
  for (let after: string | undefined = ''; after !== undefined;) {
    const limit = sliceRecords;
    const rows: ChangeRow[] = await recordsModified(deps, table, revert, { after, limit });
    const planned = await plansOf(slices, rows);
    for (let at = 0; at < planned.length; at += chunkRecords) {
      await revertChunk(slices, planned.slice(at, at + chunkRecords));
    }
    after = rows.at(-1)?.record_id;
  }
  const { counts } = slices;
  if (revert.writeAs === null) return { counts, place: null };
  const { partition, offset } = await deps.records.writer.barrier(stream, revert.writeAs);
  await untilShown(deps, partition, offset);
  return { counts, place: { model: stream.model, partition, offset } };
}

interface Slices {
  readonly deps: Deps;
  readonly stream: Stream;
  readonly table: HistoryTable;
  readonly revert: StreamRevert;
  readonly counts: RevertCounts;
}

async function plansOf(
  { deps, table, revert }: Slices,
  rows: readonly ChangeRow[],
): Promise<PlannedRecord[]> {
  const isWithin = ({ at }: ChangeRow): boolean =>
    Number(at) >= revert.from && Number(at) <= revert.until;
  const offsets = rows.filter(isWithin).map(({ log_offset: offset }) => Number(offset));
  const written = new Map<number, ChangeWriter>();
  for await (const [offset, change] of changesAt(deps, table.partition, offsets)) {
    if (change === null) continue;
    const { run_id: runId, version, payload_hash: hash } = change;
    written.set(offset, { runId, version, hash });
  }
  const byRecord = Map.groupBy(rows, ({ record_id: id }) => id);
  return [...byRecord].map(([id, changes]) => ({
    id,
    plan: planOf(changes, revert.id, (offset) => written.get(offset)),
  }));
}

/** Reads the former state of a chunk of records, and restores it. */
async function revertChunk(slices: Slices, planned: readonly PlannedRecord[]): Promise<void> {
  const { deps, stream, table, revert, counts } = slices;
  const offsets = planned.flatMap(({ plan }) =>
    'offset' in plan && plan.offset !== null ? [plan.offset] : [],
  );
  const changes = await changesByOffset(deps, table.partition, offsets);
  const payloadOf = payloadsOf(deps, table.key);
  const former: FormerRecord[] = [];
  const kinds = new Map<string, keyof RevertCounts>();
  const leave = (id: string, reason: LeftReason, offset: number | null): void => {
    counts.left++;
    const change = offset === null ? undefined : changes.get(offset);
    const by = { actor: change?.actor ?? null, run_id: change?.run_id ?? null };
    if (revert.left.length < leftMax) {
      revert.left.push({ model: stream.model, id, reason, ...by });
    }
  };
  for (const { id, plan } of planned) {
    if (plan.do === 'unchanged') counts.unchanged++;
    else if (plan.do === 'leave') leave(id, plan.reason, plan.offset);
    else if (plan.do === 'delete') {
      former.push({ id, expected: plan.expected, payload: null, deletedAt: null });
      kinds.set(id, 'deleted');
    } else if (plan.do !== 'nothing') {
      const change = changes.get(plan.offset);
      if (plan.do === 'update' && change?.payload_hash === plan.hash) {
        counts.unchanged++;
        continue;
      }
      const payload = change === undefined ? null : await payloadOf(change);
      if (change === undefined) leave(id, 'former_gone', null);
      else if (payload === null) leave(id, 'former_pruned', null);
      else {
        const { deleted_at: deletedAt } = change;
        former.push({ id, expected: plan.expected, payload: payload.toString(), deletedAt });
        kinds.set(id, kindOf[plan.do]);
      }
    }
  }
  const moved = new Set<string>();
  if (revert.writeAs !== null && former.length > 0) {
    const { writer } = deps.records;
    for (const id of await writer.revert(stream, revert.writeAs, former)) moved.add(id);
  }
  for (const [id, kind] of kinds) {
    if (moved.has(id)) leave(id, 'changed_since', null);
    else counts[kind]++;
  }
}

const kindOf = { update: 'updated', restore: 'restored', delete_again: 'deleted' } as const;

/**
 * Why a record is not reverted: another run or caller changed it since (or in between); its former payload was pruned,
 * or has left the log; it was purged since.
 */
type LeftReason = 'changed_since' | 'former_pruned' | 'former_gone' | 'purged';

/** Planned action for one record. */
type RecordPlan =
  /** The run did not change it. */
  | { readonly do: 'nothing' }
  /** It already is as before the run. */
  | { readonly do: 'unchanged' }
  /** `offset`: of the later change. */
  | { readonly do: 'leave'; readonly reason: LeftReason; readonly offset: number | null }
  /** It did not exist before. */
  | { readonly do: 'delete'; readonly expected: number }
  /** `offset`: of the former state; `hash`: of the current payload. */
  | {
      readonly do: 'update' | 'restore' | 'delete_again';
      readonly expected: number;
      readonly offset: number;
      readonly hash: string;
    };

/** Writer of a change, and its number among the record's changes, from 1. */
interface ChangeWriter {
  readonly runId: string | null;
  readonly version: number;
  /** Of its payload. */
  readonly hash: string;
}

/** Plans the revert of a run's changes of one record. `rows`: all its changes by version. */
export function planOf(
  rows: readonly ChangeRow[],
  runId: string,
  writtenAt: (offset: number) => ChangeWriter | undefined,
): RecordPlan {
  const isOwn = ({ log_offset: offset }: ChangeRow): boolean =>
    writtenAt(Number(offset))?.runId === runId;
  const purged = rows.findLastIndex(({ last_action: action }) => action === 'PURGED');
  const changes = rows.slice(purged + 1);
  const moves = changes.filter(({ position, version }) => position === version);
  const first = moves.findIndex(isOwn);
  const newest = moves.at(-1);
  if (first === -1 || newest === undefined) {
    const wasOwn = rows.slice(0, purged + 1).some(isOwn);
    return wasOwn ? { do: 'leave', reason: 'purged', offset: null } : { do: 'nothing' };
  }
  const other = moves.findLast((move, at) => at > first && !isOwn(move));
  if (other !== undefined) {
    return { do: 'leave', reason: 'changed_since', offset: Number(other.log_offset) };
  }
  const start = Number(moves[first]?.version);
  const before = changes.findLast(({ version }) => Number(version) < start);
  const wasFirst = writtenAt(Number(moves[first]?.log_offset))?.version === 1;
  const hash = writtenAt(Number(newest.log_offset))?.hash ?? '';
  return backTo(before, { newest, wasFirst, hash });
}

function backTo(
  before: ChangeRow | undefined,
  {
    newest,
    wasFirst,
    hash,
  }: { readonly newest: ChangeRow; readonly wasFirst: boolean; readonly hash: string },
): RecordPlan {
  const expected = Number(newest.position);
  const isDeleted = newest.last_action === 'DELETED';
  if (before === undefined) {
    if (!wasFirst) return { do: 'leave', reason: 'former_gone', offset: null };
    return isDeleted ? { do: 'unchanged' } : { do: 'delete', expected };
  }
  const wasDeleted = before.last_action === 'DELETED';
  if (isDeleted && wasDeleted) return { do: 'unchanged' };
  if (before.is_pruned === 1) return { do: 'leave', reason: 'former_pruned', offset: null };
  const offset = Number(before.log_offset);
  if (wasDeleted) return { do: 'delete_again', expected, offset, hash };
  return { do: isDeleted ? 'restore' : 'update', expected, offset, hash };
}
