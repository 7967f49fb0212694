import type { Decider } from '#kernel/decider.ts';
import type { Micros } from '#kernel/time.ts';
import type { RecordAction } from './events.ts';

/** State of one record for decisions; its payload is stored separately. */
export interface RecordState {
  /** Hex of the keyed hash of the payload; kept when the payload is pruned. */
  readonly hash: string;
  /** The stream's seq at the last modification. */
  readonly position: number;
  /** Changes of the record, from 1. */
  readonly version: number;
  readonly firstSeenAt: Micros;
  readonly modifiedAt: Micros;
  /** Null unless the record is deleted. */
  readonly deletedAt: Micros | null;
  /** Null while the payload exists. */
  readonly prunedAt: Micros | null;
}

/**
 * Commands for one record. `seq` is the stream's number for its next change, `at` the modification time of that change.
 */
export type RecordCommand =
  /** Replaces the payload by one with this hash. */
  | { readonly type: 'Save'; readonly hash: string; readonly seq: number; readonly at: Micros }
  /** `hash` is that of the stored payload merged with the given fields. */
  | { readonly type: 'Update'; readonly hash: string; readonly seq: number; readonly at: Micros }
  /** `hash` is that of `{"id":…}`, the payload of an unknown record; a known one keeps its own. */
  | {
      readonly type: 'Delete';
      readonly hash: string;
      readonly seq: number;
      readonly at: Micros;
      readonly deletedAt: Micros | null;
    }
  /** Restores a former payload or a deletion, unless the record has moved from the position. */
  | {
      readonly type: 'Revert';
      /** Of the former payload; null: the current payload stays. */
      readonly hash: string | null;
      readonly seq: number;
      readonly at: Micros;
      /** Null: the record is not deleted. */
      readonly deletedAt: Micros | null;
      readonly expected: number;
    }
  | { readonly type: 'Prune'; readonly at: Micros }
  | { readonly type: 'Purge' };

/** Outcome for one record: its state after, and its position before. */
export interface RecordEvent {
  readonly action: RecordAction;
  readonly after: RecordState;
  /** Null for a first change and for one that keeps the position. */
  readonly previousPosition: number | null;
  readonly previousHash: string | null;
}

const nothing: RecordEvent[] = [];

/** The rules of docs/reference/records.md#writes, for one record; null = absent. */
export const record: Decider<RecordState | null, RecordCommand, RecordEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Save':
        return state === null ? [added(command)] : saved(command, state);
      case 'Update':
        return state === null ? nothing : updated(command, state);
      case 'Delete':
        return state === null ? [missed(command)] : deleted(command, state);
      case 'Revert':
        return state?.position === command.expected ? reverted(command, state) : nothing;
      case 'Prune':
        return state === null || state.prunedAt !== null ? nothing : [pruned(command, state)];
      case 'Purge':
        return state === null ? nothing : [kept('purged', state, state)];
    }
  },

  evolve: (_state, { action, after }) => (action === 'purged' ? null : after),
};

type Change = Extract<RecordCommand, { type: 'Save' | 'Update' }>;
type Delete = Extract<RecordCommand, { type: 'Delete' }>;
type Revert = Extract<RecordCommand, { type: 'Revert' }>;
type Prune = Extract<RecordCommand, { type: 'Prune' }>;

function added({ hash, seq, at }: Change): RecordEvent {
  const times = { firstSeenAt: at, modifiedAt: at, deletedAt: null, prunedAt: null };
  const after = { hash, position: seq, version: 1, ...times };
  return { action: 'added', after, previousPosition: null, previousHash: null };
}

function saved(command: Change, state: RecordState): RecordEvent[] {
  if (state.deletedAt !== null) return [revived(command, state)];
  if (state.hash !== command.hash) return [modified(command, state)];
  // The payload is restored; readers need not read the record again.
  if (state.prunedAt !== null) return [kept('restored', state, { ...state, prunedAt: null })];
  return nothing;
}

/** A deleted record that is saved again counts as new. */
function revived({ hash, seq, at }: Change, state: RecordState): RecordEvent {
  const times = { firstSeenAt: at, modifiedAt: at, deletedAt: null, prunedAt: null };
  return moved('added', state, { hash, position: seq, version: state.version, ...times });
}

function updated(command: Change, state: RecordState): RecordEvent[] {
  const isWhole = state.deletedAt === null && state.prunedAt === null;
  return isWhole && state.hash === command.hash ? nothing : [modified(command, state)];
}

function modified({ hash, seq, at }: Change, state: RecordState): RecordEvent {
  const { version, firstSeenAt } = state;
  const times = { firstSeenAt, modifiedAt: at, deletedAt: null, prunedAt: null };
  return moved('updated', state, { hash, position: seq, version, ...times });
}

/** The deletion of an unknown record is stored, so that readers get it. */
function missed({ hash, seq, at, deletedAt }: Delete): RecordEvent {
  const times = { firstSeenAt: at, modifiedAt: at, deletedAt: deletedAt ?? at, prunedAt: null };
  const after = { hash, position: seq, version: 1, ...times };
  return { action: 'deleted', after, previousPosition: null, previousHash: null };
}

function deleted({ seq, at, deletedAt }: Delete, state: RecordState): RecordEvent[] {
  if (state.deletedAt !== null) return nothing;
  const times = { modifiedAt: at, deletedAt: deletedAt ?? at };
  return [moved('deleted', state, { ...state, position: seq, ...times })];
}

function reverted(command: Revert, state: RecordState): RecordEvent[] {
  const { seq, at, deletedAt } = command;
  const isKept = command.hash === null || (command.hash === state.hash && state.prunedAt === null);
  if (isKept && (state.deletedAt === null) === (deletedAt === null)) return nothing;
  const hash = command.hash ?? state.hash;
  const prunedAt = command.hash === null ? state.prunedAt : null;
  const after = { ...state, hash, position: seq, modifiedAt: at, deletedAt, prunedAt };
  return [moved(deletedAt === null ? 'updated' : 'deleted', state, after)];
}

function pruned({ at }: Prune, state: RecordState): RecordEvent {
  return kept('pruned', state, { ...state, prunedAt: at });
}

function moved(action: RecordAction, before: RecordState, after: RecordState): RecordEvent {
  return {
    action,
    after: { ...after, version: before.version + 1 },
    previousPosition: before.position,
    previousHash: before.hash,
  };
}

function kept(action: RecordAction, before: RecordState, after: RecordState): RecordEvent {
  return { ...moved(action, before, after), previousPosition: null };
}
