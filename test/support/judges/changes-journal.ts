import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

/** A change as a consumer has it. */
export interface ConsumedChange {
  readonly id: string;
  readonly connection_id: string;
  readonly record_id: string;
  readonly seq: number;
}

/** What `changes-child.ts` writes. */
export type JournalEntry =
  | { readonly type: 'started' }
  | { readonly type: 'read'; readonly changes: readonly ConsumedChange[] }
  /** The changes read since the entry before are processed. */
  | { readonly type: 'kept'; readonly cursor: string };

/** Without the line that a killed consumer tore. */
export function entriesOf(journal: string): JournalEntry[] {
  if (!existsSync(journal)) return [];
  const lines = readFileSync(journal, 'utf8').split('\n');
  return lines.flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as JournalEntry] : []));
}

export const consumedIn = (entries: readonly JournalEntry[]): ConsumedChange[] =>
  entries.flatMap((entry) => (entry.type === 'read' ? entry.changes : []));

/**
 * Nothing missed and nothing invented; the changes of a record in their order; none again whose position was kept.
 * Returns how many came again.
 */
export function judgeConsumer(
  entries: readonly JournalEntry[],
  truth: readonly ConsumedChange[],
): number {
  const kept = new Set<string>();
  let pending: readonly ConsumedChange[] = [];
  for (const entry of entries) {
    if (entry.type === 'kept') for (const { id } of pending) kept.add(id);
    pending = entry.type === 'read' ? entry.changes : [];
    const again = pending.filter(({ id }) => kept.has(id));
    assert.deepEqual(again, [], 'changes came again after their position was kept');
  }
  const consumed = consumedIn(entries);
  const once = new Map(consumed.map((change) => [change.id, change]));
  const ids = new Set(truth.map(({ id }) => id));
  assert.deepEqual([...ids.difference(once)], [], 'changes were missed');
  assert.deepEqual([...new Set(once.keys()).difference(ids)], [], 'the log has no such changes');
  const recordOf = (change: ConsumedChange): string =>
    `${change.connection_id} ${change.record_id}`;
  for (const [record, changes] of Map.groupBy(once.values(), recordOf)) {
    const seqs = changes.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
      `${record} out of order`,
    );
  }
  return consumed.length - once.size;
}
