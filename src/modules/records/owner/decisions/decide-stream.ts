import type {
  BarrierArgs,
  BarrierReply,
  ClosedStream,
  LookedUp,
  LookupAnswer,
  PruneAnswer,
  PruneArgs,
  StrategyArgs,
} from '../../model/commands.ts';
import { record } from '../../model/decider.ts';
import { putRun } from '../state/stream-state.ts';
import type { Decision, Handle } from './decide.ts';
import { forgetEnded } from './delete-tracking.ts';
import { noPayload } from './round.ts';

const sliceRecords = 2000;
/** A reply ends after the record that exceeds it. */
const answerBytesMax = 1_000_000;

/** Known records among the ids, deleted ones too. */
export const lookup: Handle = ({ rules, stream, command, payloads: given }) => {
  const { store } = rules.changes;
  const states = store.states(stream.no, command.ids);
  const positions = [...states.values()].map(({ position }) => position);
  const payloads = store.payloads(stream.no, positions);
  const found: LookedUp[] = [];
  let done = 0;
  let bytes = 0;
  for (const id of command.ids) {
    done++;
    const state = states.get(id);
    if (state === undefined) continue;
    const looked = given.lookedUp(id, payloads.get(state.position) ?? noPayload);
    found.push({ id, deletedAt: state.deletedAt, ...looked });
    bytes += looked.payload?.length ?? 0;
    if (bytes >= answerBytesMax) break;
  }
  const body: LookupAnswer = { found, done };
  return { outcome: 'done', body };
};

/** Counts from the newest record of that time; only the first call of a run has an effect. */
export const strategy: Handle = ({ stream, command, run }) => {
  const args = JSON.parse(command.args ?? '{}') as StrategyArgs;
  if (run?.keep_newer_than === null && args.strategy === 'ignore_if_modified_after') {
    putRun(stream, { ...run, keep_newer_than: stream.seq });
  }
  return { outcome: 'done' };
};

export const prune: Handle = ({ rules: { changes }, stream, command }) => {
  const { position, limit } = JSON.parse(command.args ?? '{}') as PruneArgs;
  changes.store.erase();
  const due = changes.store.placedWithPayload(stream.no, 0, position, limit);
  const ids = due.map(({ id }) => id);
  const states = changes.store.states(stream.no, ids);
  for (const id of ids) {
    const decision = { type: 'Prune', at: Math.max(changes.now, changes.lastModifiedAt) } as const;
    for (const event of record.decide(decision, states.get(id) ?? null)) {
      changes.add(id, event, noPayload);
    }
  }
  const body: PruneAnswer = { count: due.length, lastPosition: due.at(-1)?.position ?? null };
  return { outcome: 'done', body };
};

export const empty: Handle = (decision) =>
  purgeSlice(decision) < sliceRecords ? { outcome: 'done' } : 'more';

/**
 * Closed from the first slice on: later commands are refused. Removed records are counted, and the counts travel with
 * the progress.
 */
export const close: Handle = (decision) => {
  const { stream, offset } = decision;
  stream.isClosed = true;
  stream.passes = [];
  const before = stream.job?.offset === offset ? stream.job.closed : undefined;
  const closed = { plain: 0, sealed: 0, pruned: 0, ...before };
  if (purgeSlice(decision, closed) < sliceRecords) {
    stream.job = null;
    return { outcome: 'done', body: closed satisfies ClosedStream };
  }
  stream.job = { offset, from: 0, after: 0, closed };
  return 'more';
};

/** Returns the number of removed records. */
function purgeSlice(
  { rules: { changes }, stream }: Decision,
  counts?: { plain: number; sealed: number; pruned: number },
): number {
  const { store } = changes;
  store.erase();
  const placed = store.placed(stream.no, 0, Number.MAX_SAFE_INTEGER, sliceRecords);
  if (counts !== undefined) {
    const payloads = store.payloads(
      stream.no,
      placed.map(({ position }) => position),
    );
    for (const { position } of placed) {
      const { encoding } = payloads.get(position) ?? noPayload;
      counts[encoding === 'none' ? 'pruned' : encoding === 'json' ? 'plain' : 'sealed']++;
    }
  }
  const ids = placed.map(({ id }) => id);
  const states = store.states(stream.no, ids);
  for (const id of ids) {
    for (const event of record.decide({ type: 'Purge' }, states.get(id) ?? null)) {
      changes.add(id, event, noPayload);
    }
  }
  return placed.length;
}

/** All earlier commands were decided, and their changes are in the log before `changesEnd`. */
export const barrier: Handle = ({ rules, stream, command }) => {
  const { run_id: runId } = command;
  const run = runId === null ? undefined : stream.runs.get(runId);
  const args = JSON.parse(command.args ?? '{}') as Partial<BarrierArgs>;
  if (args.hasSucceeded === true && runId !== null) forgetEnded(stream, runId);
  const { added = 0, updated = 0, deleted = 0, unchanged = 0, failures = [] } = run ?? {};
  const body: BarrierReply = {
    added,
    updated,
    deleted,
    unchanged,
    failures,
    offset: rules.changesEnd,
  };
  return { outcome: 'done', body };
};
