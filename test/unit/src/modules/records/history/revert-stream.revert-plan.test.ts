import { describe, expect, it } from 'vitest';
import type { RecordId } from '#kernel/ids.ts';
import type { ChangeRow } from '#modules/records/history/history-queries.ts';
import { planOf } from '#modules/records/history/revert-stream.ts';

type Step = 'added' | 'updated' | 'deleted' | 'pruned' | 'purged';

/** Changes of one record: `[what, run]`, at the versions 1, 2, … and the offsets 10, 20, …; the log lacks the first. */
function plan(steps: readonly (readonly [Step, string])[], lost = 0) {
  let position = 0;
  const runs = new Map<number, { runId: string; version: number; hash: string }>();
  const rows = steps.map(([what, runId], index): ChangeRow => {
    const version = index + 1;
    if (what !== 'pruned' && what !== 'purged') position = version;
    runs.set(10 * version, { runId, version, hash: `h${version}` });
    return {
      record_id: 'a' as RecordId,
      version: String(version),
      position: String(position),
      log_offset: String(10 * version),
      at: '0',
      last_action: what === 'pruned' ? 'UPDATED' : (what.toUpperCase() as ChangeRow['last_action']),
      is_pruned: what === 'pruned' ? 1 : 0,
    };
  });
  return planOf(rows.slice(lost), 'wrong', (offset) => runs.get(offset));
}

describe('what a run did to a record', () => {
  it('is taken back by its deletion, its former payload, or its return', () => {
    expect(plan([['added', 'wrong']])).toEqual({ do: 'delete', expected: 1 });
    expect(
      plan([
        ['added', 'first'],
        ['updated', 'wrong'],
        ['updated', 'wrong'],
      ]),
    ).toEqual({ do: 'update', expected: 3, offset: 10, hash: 'h3' });
    expect(
      plan([
        ['added', 'first'],
        ['deleted', 'wrong'],
      ]),
    ).toEqual({ do: 'restore', expected: 2, offset: 10, hash: 'h2' });
    expect(
      plan([
        ['added', 'first'],
        ['deleted', 'first'],
        ['added', 'wrong'],
      ]),
    ).toEqual({ do: 'delete_again', expected: 3, offset: 20, hash: 'h3' });
  });

  it('is over where nothing is left of it', () => {
    expect(plan([['added', 'first']])).toEqual({ do: 'nothing' });
    const brief = plan([
      ['added', 'wrong'],
      ['deleted', 'wrong'],
    ]);
    expect(brief).toEqual({ do: 'unchanged' });
  });

  it('stays where another has changed the record since, or in between', () => {
    const since = { do: 'leave', reason: 'changed_since' };
    expect(
      plan([
        ['added', 'wrong'],
        ['updated', 'later'],
      ]),
    ).toEqual({ ...since, offset: 20 });
    expect(
      plan([
        ['added', 'wrong'],
        ['updated', 'later'],
        ['updated', 'wrong'],
      ]),
    ).toEqual({ ...since, offset: 20 });
    // Retention changes no record.
    expect(
      plan([
        ['added', 'wrong'],
        ['pruned', 'retention'],
      ]),
    ).toEqual({ do: 'delete', expected: 1 });
  });

  it('stays where the former payload is not available', () => {
    const pruned = plan([
      ['added', 'first'],
      ['pruned', 'retention'],
      ['updated', 'wrong'],
    ]);
    expect(pruned).toEqual({ do: 'leave', reason: 'former_pruned', offset: null });
    const compacted = plan(
      [
        ['added', 'first'],
        ['updated', 'wrong'],
      ],
      1,
    );
    expect(compacted).toEqual({ do: 'leave', reason: 'former_gone', offset: null });
  });

  it('is nobody’s once the record was purged', () => {
    const purged = plan([
      ['added', 'wrong'],
      ['purged', 'retention'],
    ]);
    expect(purged).toEqual({ do: 'leave', reason: 'purged', offset: null });
    expect(
      plan([
        ['added', 'first'],
        ['purged', 'retention'],
        ['added', 'wrong'],
      ]),
    ).toMatchObject({ do: 'leave', reason: 'former_gone' });
  });
});
