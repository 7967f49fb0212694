import type { ChangeRow } from './history-queries.ts';

/**
 * Why a record is not reverted: another run or caller changed it since (or in between); its former payload was pruned,
 * or has left the log; it was purged since.
 */
export type LeftReason = 'changed_since' | 'former_pruned' | 'former_gone' | 'purged';

/** Planned action for one record. */
export type RecordPlan =
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
export interface ChangeWriter {
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
