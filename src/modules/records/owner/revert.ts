import type { RevertAnswer, RevertArgs } from '../commands.ts';
import { record } from '../decider.ts';
import type { Handle } from './decide.ts';
import { forEachRecord } from './decide-records.ts';
import { noPayload } from './round.ts';

/** Brings records back to what they were, each unless it has moved since it was looked at. */
export const revert: Handle = (decision) => {
  const { rules, stream, command, given, counts } = decision;
  const { changes } = rules;
  const { expected, deletes } = JSON.parse(command.args ?? '{}') as RevertArgs;
  const deleted = new Set(deletes);
  const states = changes.store.states(stream.no, command.ids);
  const positions = [...states.values()].map(({ position }) => position);
  const kept = changes.store.payloads(stream.no, positions);
  const left: string[] = [];
  forEachRecord(command, (id, i) => {
    const state = states.get(id) ?? null;
    const isKept = deleted.has(i);
    const at = changes.nextAt;
    const deletedAt = command.deleted_at[i] ?? 0;
    const request = {
      type: 'Revert',
      hash: isKept ? null : rules.hash(stream.environmentUid, given.plain(i)),
      seq: stream.seq + 1,
      at,
      deletedAt: isKept ? at : deletedAt === 0 ? null : deletedAt,
      expected: expected[i] ?? 0,
    } as const;
    const [event] = record.decide(request, state);
    if (event === undefined) {
      if (state?.position === request.expected) counts.unchanged++;
      else left.push(id);
      return;
    }
    const payload = isKept ? (kept.get(request.expected) ?? noPayload) : given.kept(i);
    changes.add(id, event, payload);
    counts[event.action === 'deleted' ? 'deleted' : 'updated']++;
  });
  const body: RevertAnswer = { left };
  return { outcome: 'done', body };
};
