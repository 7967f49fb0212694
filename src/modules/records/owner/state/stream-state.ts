import { randomUUID } from 'node:crypto';
import type { Micros } from '#kernel/time.ts';
import type { ClosedStream, RecordCommandValue } from '../../model/commands.ts';
import type { StreamHeadValue, StreamRun } from '../../model/events.ts';
import { SeenBitmap } from './seen-bitmap.ts';

/**
 * A pass of delete tracking: records saved unchanged since its start are marked. A pass that a run has ended stays
 * until that run has succeeded: the run after a failed one continues it, from the same checkpoint.
 */
export interface Pass {
  readonly id: string;
  readonly syncName: string | null;
  /**
   * Of the run as a whole (`deleteRecordsFromPreviousExecutions`, `trackDeletes`), beside the one that its code starts
   * and ends itself.
   */
  readonly isOfRun: boolean;
  /** The run that last started, continued or ended it; null in passes that release 0.67.0 left open. */
  holder: { readonly runId: string; readonly attempt: number } | null;
  isEnded: boolean;
  /** The stream's seq at the start: records modified since have a higher position. */
  readonly start: number;
  readonly bitmap: SeenBitmap;
  /** Marks of earlier commands may be missing: the pass may delete nothing. */
  readonly isLost: boolean;
  /** The marks in the head, and the command up to which they are complete. */
  saved: Uint8Array;
  savedOffset: number;
  /** When they were saved (ms), and whether there are newer ones. */
  savedAt: number;
  isDirty: boolean;
}

/** A decision in slices. */
export interface Job {
  /** Of the command. */
  readonly offset: number;
  /** The stream's seq when it began. */
  readonly from: number;
  /** The last position that was read. */
  readonly after: number;
  /** Records that the closing of the stream has removed so far. */
  readonly closed?: ClosedStream;
}

/** One stream in the memory of its owner. */
export interface StreamState {
  readonly no: number;
  readonly key: string;
  readonly environmentUid: string;
  readonly connectionUid: string;
  readonly model: string;
  readonly variant: string;
  /** Names, which may change: those of the latest command. */
  integration: string;
  connectionId: string;
  generation: string;
  seq: number;
  isClosed: boolean;
  lastRunAt: Micros | null;
  /** By run id, the most recently active last. Values are never changed, only replaced. */
  runs: Map<string, StreamRun>;
  passes: Pass[];
  job: Job | null;
}

/** Runs in a head; the least recently active is dropped first. */
const runsMax = 32;

export function newStream(no: number, key: string, command: RecordCommandValue): StreamState {
  return {
    no,
    key,
    environmentUid: command.environment_id,
    connectionUid: command.connection_uid,
    model: command.model,
    variant: command.variant,
    integration: command.integration,
    connectionId: command.connection_id,
    generation: randomUUID(),
    seq: 0,
    isClosed: false,
    lastRunAt: null,
    runs: new Map(),
    passes: [],
    job: null,
  };
}

/** `now` (ms) is when the marks count as saved. */
export function fromHead(no: number, key: string, head: StreamHeadValue, now: number): StreamState {
  return {
    no,
    key,
    environmentUid: head.environment_id,
    connectionUid: head.connection_uid,
    model: head.model,
    variant: head.variant,
    integration: head.integration,
    connectionId: head.connection_id,
    generation: head.generation,
    seq: head.stream_seq,
    isClosed: head.is_closed,
    lastRunAt: head.last_run_at,
    runs: new Map(head.runs.map((run) => [run.run_id, run])),
    passes: head.passes.map((pass) => ({
      id: pass.pass_id,
      syncName: pass.sync_name,
      isOfRun: pass.is_of_run,
      holder: pass.run_id === null ? null : { runId: pass.run_id, attempt: pass.attempt },
      isEnded: pass.is_ended,
      start: pass.start_position,
      bitmap: SeenBitmap.decode(pass.marks),
      isLost: pass.is_lost,
      saved: pass.marks,
      savedOffset: pass.marks_offset,
      savedAt: now,
      isDirty: false,
    })),
    job: head.job === null ? null : (JSON.parse(head.job) as Job),
  };
}

export interface HeadMeta {
  readonly epoch: number;
  /** The last decided command. */
  readonly command: number;
  readonly lastModifiedAt: Micros;
}

export function toHead(stream: StreamState, meta: HeadMeta): StreamHeadValue {
  return {
    owner_epoch: meta.epoch,
    command_offset: meta.command,
    environment_id: stream.environmentUid,
    integration: stream.integration,
    connection_id: stream.connectionId,
    connection_uid: stream.connectionUid,
    model: stream.model,
    variant: stream.variant,
    generation: stream.generation,
    stream_seq: stream.seq,
    last_modified_at: meta.lastModifiedAt,
    is_closed: stream.isClosed,
    last_run_at: stream.lastRunAt,
    runs: [...stream.runs.values()],
    passes: stream.passes.map((pass) => ({
      pass_id: pass.id,
      sync_name: pass.syncName,
      run_id: pass.holder?.runId ?? null,
      attempt: pass.holder?.attempt ?? 0,
      is_ended: pass.isEnded,
      is_of_run: pass.isOfRun,
      start_position: pass.start,
      marks: pass.saved,
      marks_offset: pass.savedOffset,
      is_lost: pass.isLost,
    })),
    job: stream.job === null ? null : JSON.stringify(stream.job),
  };
}

/** Head of no stream, under the reserved key: it raises the epoch and names the last decided command. */
export function partitionHead(meta: HeadMeta): StreamHeadValue {
  return {
    owner_epoch: meta.epoch,
    command_offset: meta.command,
    environment_id: '',
    integration: '',
    connection_id: '',
    connection_uid: '',
    model: '',
    variant: '',
    generation: '',
    stream_seq: 0,
    last_modified_at: meta.lastModifiedAt,
    is_closed: false,
    last_run_at: null,
    runs: [],
    passes: [],
    job: null,
  };
}

/** A copy that later decisions do not change; marks are shared, since an extra mark deletes nothing. */
export function snapshot(stream: StreamState): StreamState {
  const passes = stream.passes.map((pass) => ({ ...pass }));
  return { ...stream, runs: new Map(stream.runs), passes };
}

export function newRun(runId: string, attempt: number): StreamRun {
  return {
    run_id: runId,
    attempt,
    last_n: 0,
    answer: null,
    added: 0,
    updated: 0,
    deleted: 0,
    unchanged: 0,
    failures: [],
    keep_newer_than: null,
    own_positions: [],
    last_at: 0,
  };
}

export function putRun(stream: StreamState, run: StreamRun): void {
  stream.runs.delete(run.run_id);
  stream.runs.set(run.run_id, run);
  if (stream.runs.size <= runsMax) return;
  for (const id of stream.runs.keys()) {
    stream.runs.delete(id);
    return;
  }
}

/** Puts the marks into the head: `command` is the last one up to which they are complete. */
export function saveMarks(pass: Pass, command: number, now: number): void {
  if (pass.isDirty) pass.saved = pass.bitmap.encode();
  pass.savedOffset = command;
  pass.savedAt = now;
  pass.isDirty = false;
}
