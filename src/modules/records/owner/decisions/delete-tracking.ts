import { randomUUID } from 'node:crypto';
import type {
  DeletedKeysAnswer,
  DeletedKeysArgs,
  RecordCommandValue,
  RunPassArgs,
} from '../../model/commands.ts';
import { record } from '../../model/decider.ts';
import { SeenBitmap } from '../state/seen-bitmap.ts';
import { saveMarks, type Job, type Pass, type StreamState } from '../state/stream-state.ts';
import { refused, type Decision, type Handle } from './decide.ts';
import { noPayload, type Answer } from './round.ts';

/** Records per slice; each may become a change. */
const sliceRecords = 2000;
/** Gaps between marks per slice that are queried in the store: a query costs microseconds. */
const sliceGaps = 20_000;
/** Keys of one reply: at most about 1 MB, since an id has up to 255 characters of up to 3 bytes. */
const answerKeysMax = 20_000;
const answerCharsMax = 800_000;

/** An unchanged save keeps its position: only a mark records that it was saved. */
export function markSeen(passes: readonly Pass[], position: number): void {
  for (const pass of passes) {
    if (position > pass.start) continue;
    pass.bitmap.add(position);
    pass.isDirty = true;
  }
}

/**
 * Opens a pass. An open one continues (docs/reference/functions.md#records), and so does one of a run that ended early:
 * a run that resumes from its checkpoint does not save the same records again. The pass over a whole run continues in
 * its later attempts, and in a run that resumes from a checkpoint.
 */
export const passStart: Handle = ({ rules, stream, command, offset }) => {
  const { isOfRun, isResumed } = argsOf(command);
  const existing = passOf(stream, command);
  const holder = holderOf(command);
  if (isOfRun && existing !== undefined && isOvertaken(stream, existing, command)) {
    return refused('stale_attempt');
  }
  const goesOn =
    existing !== undefined &&
    (isOfRun ? isResumed || isHeldBy(existing, command) : !isEndedBy(existing, command));
  if (goesOn) {
    existing.holder = holder;
    existing.isEnded = false;
    return { outcome: 'done' };
  }
  stream.passes = stream.passes.filter((pass) => pass !== existing);
  stream.passes.push({
    id: randomUUID(),
    syncName: command.sync_name,
    isOfRun,
    holder,
    isEnded: false,
    start: stream.seq,
    bitmap: new SeenBitmap(),
    isLost: false,
    saved: Buffer.alloc(0),
    savedOffset: offset,
    savedAt: Math.floor(rules.changes.now / 1000),
    isDirty: false,
  });
  return { outcome: 'done' };
};

/** Deletes unmarked records at or before the start: one slice per round, its progress in the head. */
export const passEnd: Handle = (decision) => {
  const { rules, stream, command, offset } = decision;
  const pass = passOf(stream, command);
  const isOver = (one: Pass): boolean =>
    one.isOfRun ? !isHeldBy(one, command) : isEndedBy(one, command);
  if (pass === undefined || isOver(pass)) {
    return refused(
      'delete_pass_missing',
      `No track deletes starting point found for model '${command.model}'.`,
    );
  }
  if (isOvertaken(stream, pass, command)) {
    return refused(
      'stale_attempt',
      `A later run has gone on with the track deletes of model '${command.model}': nothing was deleted.`,
    );
  }
  if (stream.job?.offset !== offset) {
    stream.job = { offset, from: stream.seq, after: 0 };
    // The first head with the job has its marks, in case another owner continues it.
    saveMarks(pass, offset - 1, Math.floor(rules.changes.now / 1000));
  }
  const { job } = stream;
  if (pass.isLost) {
    decision.failures.push(
      `The track deletes pass of model '${command.model}' lost its marks: nothing was deleted.`,
    );
  } else {
    rules.changes.begin(stream, command, pass.id);
    const after = deleteSlice(decision, pass, job);
    if (after < pass.start) {
      stream.job = { ...job, after };
      return 'more';
    }
  }
  pass.holder = holderOf(command);
  pass.isEnded = true;
  stream.job = null;
  return keysIn(decision, { after: job.from, through: stream.seq });
};

/** Keys that an ended pass deleted, where the reply to its end was too short for all. */
export const deletedKeys: Handle = (decision) =>
  keysIn(decision, JSON.parse(decision.command.args ?? '{}') as DeletedKeysArgs);

/** The run has succeeded: no run resumes from it, and the next pass is a new one. */
export function forgetEnded(stream: StreamState, runId: string): void {
  stream.passes = stream.passes.filter(
    ({ isEnded, isOfRun, holder }) => holder?.runId !== runId || !(isEnded || isOfRun),
  );
}

function argsOf({ args }: RecordCommandValue) {
  const passArgs = JSON.parse(args ?? '{}') as Partial<RunPassArgs>;
  return { isOfRun: passArgs.isOfRun === true, isResumed: passArgs.isResumed === true };
}

function passOf(stream: StreamState, command: RecordCommandValue): Pass | undefined {
  const { isOfRun } = argsOf(command);
  return stream.passes.find(
    (pass) => pass.syncName === command.sync_name && pass.isOfRun === isOfRun,
  );
}

const holderOf = ({ run_id: runId, attempt }: RecordCommandValue): Pass['holder'] =>
  runId === null ? null : { runId, attempt };

const isHeldBy = ({ holder }: Pass, { run_id: runId }: RecordCommandValue): boolean =>
  holder?.runId === runId;

/** Ended by the same attempt: the next start or end is of another pass. */
const isEndedBy = ({ isEnded, holder }: Pass, { run_id, attempt }: RecordCommandValue): boolean =>
  isEnded && holder?.runId === run_id && holder.attempt === attempt;

/** Whether the command is late: of a run before the one that now has the pass. */
function isOvertaken(stream: StreamState, { holder }: Pass, command: RecordCommandValue): boolean {
  if (holder === null || command.run_id === null || holder.runId === command.run_id) return false;
  const order = [...stream.runs.keys()];
  const index = order.indexOf(command.run_id);
  return index !== -1 && index < order.indexOf(holder.runId);
}

/** Returns the last position that was read. */
function deleteSlice(decision: Decision, pass: Pass, job: Job): number {
  const { rules, stream } = decision;
  const { store } = rules.changes;
  const missing: string[] = [];
  let after = job.after;
  for (let gaps = 0; gaps < sliceGaps && missing.length < sliceRecords; gaps++) {
    const gap = pass.bitmap.gap(after + 1, pass.start);
    if (gap === null) {
      after = pass.start;
      break;
    }
    const limit = sliceRecords - missing.length;
    const placed = store.placed(stream.no, gap.first, gap.last, limit);
    for (const { id } of placed) missing.push(id);
    after = placed.length < limit ? gap.last : (placed.at(-1)?.position ?? gap.last);
  }
  deleteAll(decision, missing);
  return after;
}

function deleteAll({ rules: { changes }, stream, counts }: Decision, ids: readonly string[]): void {
  const { store } = changes;
  const states = [...store.states(stream.no, ids)].filter(([, state]) => state.deletedAt === null);
  const inOrder = states.sort(([, a], [, b]) => a.position - b.position);
  const positions = inOrder.map(([, { position }]) => position);
  const payloads = store.payloads(stream.no, positions);
  for (const [id, state] of inOrder) {
    const { hash, position } = state;
    const decision = {
      type: 'Delete',
      hash,
      seq: stream.seq + 1,
      at: changes.nextAt,
      deletedAt: null,
    } as const;
    for (const event of record.decide(decision, state)) {
      changes.add(id, event, payloads.get(position) ?? noPayload);
      counts.deleted++;
    }
  }
}

/** Deletions of one pass have consecutive positions: nothing else of the partition is decided in between. */
function keysIn({ rules, stream }: Decision, range: DeletedKeysArgs): Answer {
  const { after, through } = range;
  const placed = rules.changes.store.placed(stream.no, after + 1, through, answerKeysMax);
  const keys: string[] = [];
  let chars = 0;
  for (const { id } of placed) {
    chars += id.length + 3;
    if (chars > answerCharsMax) break;
    keys.push(id);
  }
  const last = placed[keys.length - 1]?.position ?? through;
  const isAll = keys.length === placed.length && placed.length < answerKeysMax;
  const body: DeletedKeysAnswer = { keys, next: isAll ? null : { after: last, through } };
  return { outcome: 'done', body, deletedKeys: range };
}
