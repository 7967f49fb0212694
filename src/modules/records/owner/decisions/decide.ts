import { hash } from 'node:crypto';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import type { CommandKind, DeletedKeysArgs, RecordCommandValue } from '../../model/commands.ts';
import type { StreamRun } from '../../model/events.ts';
import { CommandPayloads, type Opening } from '../encryption.ts';
import { newRun, putRun, type StreamState } from '../state/stream-state.ts';
import type { Answer, Changes } from './round.ts';

/** Context of a decision beside the state. */
export interface Rules {
  readonly changes: Changes;
  readonly hash: RecordHash;
  readonly opening: Opening;
  /** End of the partition's changes, once all decided ones are in the log. */
  readonly changesEnd: number;
}

/** A command in progress. Counts and failures are added up and go to the run at the end. */
export interface Decision {
  readonly rules: Rules;
  readonly stream: StreamState;
  readonly command: RecordCommandValue;
  readonly offset: number;
  readonly payloads: CommandPayloads;
  readonly run: StreamRun | null;
  readonly counts: { added: number; updated: number; deleted: number; unchanged: number };
  readonly failures: string[];
}

/** Decides one kind of command. `more`: a slice was decided, the command continues in the next round. */
export type Handle = (decision: Decision) => Answer | 'more';
export type Handlers = Readonly<Record<CommandKind, Handle>>;

/** Read-only kinds: a repeated command reads again. */
const isLook: Partial<Record<CommandKind, true>> = {
  lookup: true,
  barrier: true,
  deleted_keys: true,
};

/** Kinds that work without the connection's data key, which is destroyed with the connection. */
export const isKeyless: Partial<Record<CommandKind, true>> = {
  empty: true,
  close: true,
  prune: true,
  barrier: true,
  deleted_keys: true,
};

const failuresMax = 20;

/** @throws GatewayError `invalid_request` for an unknown kind */
export function kindOf(handlers: Handlers, command: RecordCommandValue): CommandKind {
  if (Object.hasOwn(handlers, command.kind)) return command.kind as CommandKind;
  throw new GatewayError('invalid_request', {
    message: `The command kind ${command.kind} of records does not exist.`,
  });
}

/** Decides one command, or a slice of it, and records the run's counts and reply in the stream. */
export function decide(
  handlers: Handlers,
  rules: Rules,
  stream: StreamState,
  command: RecordCommandValue,
  { offset, isRetry }: { readonly offset: number; readonly isRetry: boolean },
): Answer | 'more' {
  const kind = kindOf(handlers, command);
  const { run_id: runId, attempt, n } = command;
  const existing = runId === null ? null : (stream.runs.get(runId) ?? null);
  if (stream.isClosed && kind !== 'close') return refused('stream_closed');
  if (existing !== null && attempt < existing.attempt) return refused('stale_attempt');
  const run = runId === null ? null : (existing ?? newRun(runId, attempt));
  const counts = { added: 0, updated: 0, deleted: 0, unchanged: 0 };
  const payloads = new CommandPayloads(rules.opening, stream, command);
  const decision: Decision = {
    rules,
    stream,
    command,
    offset,
    payloads,
    run,
    counts,
    failures: [],
  };
  if (isRetry && runId !== null && !mayRetry(stream, existing, command)) {
    return refused('stale_attempt', laterRun);
  }
  const isKnown =
    !isRetry && existing !== null && attempt === existing.attempt && n <= existing.last_n;
  if (isKnown && isLook[kind] === undefined) return firstAnswer(handlers, decision, existing);

  const seqBefore = stream.seq;
  rules.changes.begin(stream, command);
  if (stream.integration !== command.integration) stream.integration = command.integration;
  if (stream.connectionId !== command.connection_id) stream.connectionId = command.connection_id;
  const answer = handlers[kind](decision);
  if (run !== null) note(decision, run, seqBefore, answer);
  return answer;
}

const laterRun =
  'Only what a run saves or deletes is decided once more, while no later run has asked of the stream: run the sync again.';

/** Parked commands of a run may still be decided while they can overwrite nothing newer. */
function mayRetry(
  stream: StreamState,
  existing: StreamRun | null,
  { run_id: runId, attempt, kind }: RecordCommandValue,
): boolean {
  const isLast = [...stream.runs.keys()].at(-1) === runId;
  return isLast && existing?.attempt === attempt && retryable.has(kind);
}

/** Excludes the end of a pass: a failed run deletes nothing. */
const retryable = new Set(['save', 'update', 'delete']);

/** The run's counts and last reply, for the head. */
function note(
  { stream, command, counts, failures, rules }: Decision,
  run: StreamRun,
  seqBefore: number,
  answer: Answer | 'more',
): void {
  const { now } = rules.changes;
  const isDone = answer !== 'more';
  stream.lastRunAt = now;
  // A handler may have replaced the run: the strategy is part of it.
  const latest = stream.runs.get(run.run_id) ?? run;
  putRun(stream, {
    ...latest,
    attempt: command.attempt,
    last_n: isDone
      ? Math.max(command.n, sameAttempt(latest, command))
      : sameAttempt(latest, command),
    // The reply to an earlier command that is decided late does not replace that to the last one.
    answer: isDone && command.n >= latest.last_n ? noteOf(answer) : latest.answer,
    added: latest.added + counts.added,
    updated: latest.updated + counts.updated,
    deleted: latest.deleted + counts.deleted,
    unchanged: latest.unchanged + counts.unchanged,
    failures: [...latest.failures, ...failures].slice(0, failuresMax),
    own_positions: ownPositions(latest, seqBefore, stream.seq),
    last_at: now,
  });
}

const sameAttempt = (run: StreamRun, command: RecordCommandValue): number =>
  run.attempt === command.attempt ? run.last_n : 0;

/** The head stores only short replies: long ones are computed again. */
interface NotedAnswer {
  readonly refused?: ReturnType<GatewayError['toJSON']>;
  readonly deletedKeys?: DeletedKeysArgs;
}

function noteOf(answer: Answer): string | null {
  const noted: NotedAnswer | null =
    answer.outcome === 'refused'
      ? { refused: answer.error.toJSON() }
      : answer.deletedKeys === undefined
        ? null
        : { deletedKeys: answer.deletedKeys };
  return noted === null ? null : JSON.stringify(noted);
}

const ownRangesMax = 1000;

/** Kept only with the strategy that separates the run's own modifications from those of others. */
function ownPositions(run: StreamRun, before: number, after: number): readonly number[] {
  const { own_positions: own, keep_newer_than: bound } = run;
  if (bound === null || before === after) return own;
  if (own.at(-1) === before) return [...own.slice(0, -1), after];
  const ranges = [...own, before + 1, after];
  // The gap between the two oldest ranges is dropped.
  return ranges.length > 2 * ownRangesMax ? [ranges[0] ?? 0, ...ranges.slice(3)] : ranges;
}

/** The reply to a command that was decided before. Only the last command can still have a caller. */
function firstAnswer(handlers: Handlers, decision: Decision, run: StreamRun): Answer {
  const { command } = decision;
  if (command.n < run.last_n || run.answer === null) return { outcome: 'done' };
  const noted = JSON.parse(run.answer) as NotedAnswer;
  if (noted.refused !== undefined) {
    return { outcome: 'refused', error: GatewayError.from(noted.refused) };
  }
  const args = JSON.stringify(noted.deletedKeys);
  const answer = handlers.deleted_keys({ ...decision, command: { ...command, args } });
  return answer === 'more' ? { outcome: 'done' } : answer;
}

export function refused(code: ErrorCode, message?: string): Answer {
  const details = message === undefined ? {} : { message };
  return { outcome: 'refused', error: new GatewayError(code, details) };
}

/** 128 bits as hex. */
const hashChars = 32;

/** Keyed hash of a payload, JSON in UTF-8: a plain hash of short data could be guessed. */
export type RecordHash = (environmentUid: string, json: Uint8Array) => string;

/** `fingerprint` is the vault's: its key gives each environment one of its own. */
export function createRecordHash(
  fingerprint: (purpose: string, text: string) => string,
): RecordHash {
  const keys = new Map<string, Buffer>();
  /** The key and the payload behind it, in memory that is used again. */
  let keyed = Buffer.alloc(4096);
  return (environmentUid, json) => {
    let key = keys.get(environmentUid);
    if (key === undefined) {
      key = Buffer.from(fingerprint('record-payload', environmentUid));
      keys.set(environmentUid, key);
    }
    const length = key.length + json.length;
    if (keyed.length < length) keyed = Buffer.alloc(2 * length);
    keyed.set(key);
    keyed.set(json, key.length);
    return hash('sha256', keyed.subarray(0, length), 'hex').slice(0, hashChars);
  };
}
