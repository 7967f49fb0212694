import { parseRawJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { merge } from '#rules/merge.ts';
import type {
  RecordCommandValue,
  RevertAnswer,
  RevertArgs,
  BarrierArgs,
  BarrierReply,
  ClosedStream,
  LookedUp,
  LookupAnswer,
  PruneAnswer,
  PruneArgs,
  StrategyArgs,
} from '../../model/commands.ts';
import { record, type RecordCommand, type RecordState } from '../../model/decider.ts';
import type { KeptPayload } from '../encryption.ts';
import { putRun } from '../state/stream-state.ts';
import type { Decision, Handle } from './decide.ts';
import { markSeen, forgetEnded } from './delete-tracking.ts';
import { noPayload } from './round.ts';

export const save: Handle = (decision) => {
  const { rules, stream, command } = decision;
  const states = rules.changes.store.states(stream.no, command.ids);
  const isKept = keptFrom(decision);
  forEachRecord(command, (id, i) => {
    const state = states.get(id) ?? null;
    const { nextAt } = rules.changes;
    const recordCommand = {
      type: 'Save',
      hash: rules.hash(stream.environmentUid, decision.payloads.plain(i)),
      seq: stream.seq + 1,
      at: nextAt,
    } as const;
    applyChange(decision, id, state, recordCommand, () => decision.payloads.kept(i), isKept);
  });
  return { outcome: 'done' };
};

export const update: Handle = (decision) => {
  const { rules, stream, command } = decision;
  const { store } = rules.changes;
  const states = store.states(stream.no, command.ids);
  const positions = [...states.values()].map(({ position }) => position);
  const payloads = store.payloads(stream.no, positions);
  const isKept = keptFrom(decision);
  forEachRecord(command, (id, i) => {
    const state = states.get(id);
    if (state === undefined) return;
    const text = merged(decision, id, i, state, payloads.get(state.position) ?? noPayload);
    if (
      text.length > limits.recordBytesMax / 3 &&
      Buffer.byteLength(text) > limits.recordBytesMax
    ) {
      decision.failures.push(`The update of record "${id}" would make it larger than 1 MB.`);
      return;
    }
    const json = Buffer.from(text);
    const hash = rules.hash(stream.environmentUid, json);
    const recordCommand = {
      type: 'Update',
      hash,
      seq: stream.seq + 1,
      at: rules.changes.nextAt,
    } as const;
    applyChange(decision, id, state, recordCommand, () => decision.payloads.keep(json), isKept);
  });
  return { outcome: 'done' };
};

export const remove: Handle = (decision) => {
  const { rules, stream, command } = decision;
  const { store } = rules.changes;
  const states = store.states(stream.no, command.ids);
  const live = [...states.values()].filter(({ deletedAt }) => deletedAt === null);
  const payloads = store.payloads(
    stream.no,
    live.map(({ position }) => position),
  );
  const isKept = keptFrom(decision);
  forEachRecord(command, (id, i) => {
    const state = states.get(id) ?? null;
    const at = rules.changes.nextAt;
    const deletedAt = command.deleted_at[i] ?? 0;
    const recordCommand = {
      type: 'Delete',
      hash: state?.hash ?? rules.hash(stream.environmentUid, decision.payloads.plain(i)),
      seq: stream.seq + 1,
      at,
      deletedAt: deletedAt === 0 ? null : deletedAt,
    } as const;
    const payload = (): KeptPayload =>
      state === null ? decision.payloads.kept(i) : (payloads.get(state.position) ?? noPayload);
    applyChange(decision, id, state, recordCommand, payload, isKept);
  });
  return { outcome: 'done' };
};

/** Decides one record, counts the outcome and adds the change to the round. */
function applyChange(
  decision: Decision,
  id: string,
  state: RecordState | null,
  command: RecordCommand,
  payload: () => KeptPayload,
  isKept: (state: RecordState) => boolean,
): void {
  const { counts, rules, stream } = decision;
  const isLeft = state !== null && isKept(state);
  const event = isLeft ? undefined : record.decide(command, state)[0];
  if (event !== undefined) rules.changes.add(id, event, payload());
  if (event?.action === 'added') counts.added++;
  else if (event?.action === 'updated') counts.updated++;
  else if (event?.action === 'deleted') counts.deleted++;
  else if (command.type !== 'Delete') counts.unchanged++;
  // A record that moved has a position after the start of each open pass; one that stayed needs a mark.
  if (state !== null && stream.passes.length > 0 && command.type !== 'Delete') {
    if (event === undefined || event.action === 'restored') markSeen(stream.passes, state.position);
  }
}

/** With `ignore_if_modified_after`: whether another writer modified the record since. */
function keptFrom({ run }: Decision): (state: RecordState) => boolean {
  const bound = run?.keep_newer_than ?? null;
  if (run === null || bound === null) return () => false;
  const own = run.own_positions;
  return ({ position }) => {
    if (position <= bound) return false;
    for (let at = own.length - 2; at >= 0; at -= 2) {
      if (position >= (own[at] ?? 0)) return position > (own[at + 1] ?? 0);
    }
    return true;
  };
}

/** A repeated id is decided once, with its last payload: the writer sends none. */
function forEachRecord(
  command: RecordCommandValue,
  each: (id: string, index: number) => void,
): void {
  const { ids } = command;
  if (command.ends.length !== ids.length) {
    throw new Error('The columns of the command do not fit together.');
  }
  if (new Set(ids).size === ids.length) ids.forEach(each);
  else for (const [id, index] of new Map(ids.map((id, i) => [id, i]))) each(id, index);
}

/** The record's JSON merged with the given fields; a pruned one has only its id. */
function merged(
  decision: Decision,
  id: string,
  i: number,
  state: RecordState,
  keptPayload: KeptPayload,
): string {
  const { payloads } = decision;
  const isPruned = state.prunedAt !== null || keptPayload.bytes === null;
  const before = isPruned ? { id } : parsed(payloads.opened(id, keptPayload));
  return JSON.stringify(merge(before, parsed(payloads.plain(i))));
}

function parsed(json: Uint8Array): JsonObject {
  const text = Buffer.from(json.buffer, json.byteOffset, json.length).toString();
  return parseRawJson(text) as JsonObject;
}

/** Restores the former state of records, except of those that have moved since it was read. */
export const revert: Handle = (decision) => {
  const { rules, stream, command, payloads, counts } = decision;
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
    const decision = {
      type: 'Revert',
      hash: isKept ? null : rules.hash(stream.environmentUid, payloads.plain(i)),
      seq: stream.seq + 1,
      at,
      deletedAt: isKept ? at : deletedAt === 0 ? null : deletedAt,
      expected: expected[i] ?? 0,
    } as const;
    const [event] = record.decide(decision, state);
    if (event === undefined) {
      if (state?.position === decision.expected) counts.unchanged++;
      else left.push(id);
      return;
    }
    const payload = isKept ? (kept.get(decision.expected) ?? noPayload) : payloads.kept(i);
    changes.add(id, event, payload);
    counts[event.action === 'deleted' ? 'deleted' : 'updated']++;
  });
  const body: RevertAnswer = { left };
  return { outcome: 'done', body };
};

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
