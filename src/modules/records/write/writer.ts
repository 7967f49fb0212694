import type { RecordId } from '#kernel/ids.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { Micros } from '#kernel/time.ts';
import type { BarrierArgs, ClosedStream } from '../model/commands.ts';
import type { Stream } from '../model/stream.ts';
import type { RetentionDue } from './retention-preview.ts';

/** The writer: a run's attempt, or a caller of the API. Attempts and stale commands are distinguished by it. */
export interface WriteOrigin {
  readonly runId: string;
  /** From 1; a lower attempt than the stream has seen is refused. */
  readonly attempt: number;
  readonly syncName: string | null;
  readonly actor: string;
}

export interface ModelCounts {
  readonly added: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
}

/** Reply of a stream's owner at the end of a run. */
export interface BarrierAnswer {
  readonly counts: ModelCounts;
  /** Position on `svc.records.v1` that is after all changes of the run on this stream. */
  readonly partition: number;
  readonly offset: number;
  /** Refusals after acknowledgment (a merge over the limit, a dead-lettered command); empty without any. */
  readonly failures: readonly string[];
}

/** A record as its owner returns it. */
export interface StoredRecord {
  readonly id: string;
  readonly payload: JsonObject;
  readonly deletedAt: Micros | null;
}

/** A record to restore to a former state. */
export interface FormerRecord {
  /** As the history has it. */
  readonly id: RecordId;
  /** The required current position. */
  readonly expected: number;
  /** JSON; null: it is deleted with its current payload. */
  readonly payload: string | null;
  /** With a payload: its deletion time; null: not deleted. */
  readonly deletedAt: Micros | null;
}

/**
 * Writes records (docs/architecture.md#the-path-of-a-record). Each call is validated completely before its first
 * command; it resolves when the commands are durably in the log. Calls of one origin and stream are decided in order.
 */
export interface RecordWriter {
  /**
   * Upsert. Any length; split into commands of up to 1000 records and 1 MB. Duplicate ids: the last wins.
   * @throws GatewayError `invalid_sync_record` (a record without a usable id), `record_too_large`; nothing of the call is saved.
   */
  save(stream: Stream, origin: WriteOrigin, records: readonly Json[]): Promise<void>;
  /** Deep merge into existing records; unknown ids are ignored. */
  update(stream: Stream, origin: WriteOrigin, records: readonly Json[]): Promise<void>;
  /** Only `id` of each is used. */
  delete(stream: Stream, origin: WriteOrigin, records: readonly Json[]): Promise<void>;
  passStart(stream: Stream, origin: WriteOrigin): Promise<void>;
  /** @throws GatewayError `delete_pass_missing`; `stale_attempt` when a later run has continued the pass */
  passEnd(stream: Stream, origin: WriteOrigin): Promise<{ deletedKeys: string[] }>;
  /**
   * Opens the pass over the whole run, beside that of `passStart`; in a later attempt it continues. `isResumed`: the
   * run resumes from a checkpoint, so that the pass of an unsuccessful earlier run continues.
   */
  runPassStart(
    stream: Stream,
    origin: WriteOrigin,
    options: { readonly isResumed: boolean },
  ): Promise<void>;
  /**
   * Deletes the records that the run did not save; any number of times.
   * @throws GatewayError `delete_pass_missing`: the run has opened none
   */
  runPassEnd(stream: Stream, origin: WriteOrigin): Promise<{ deletedKeys: string[] }>;
  /** Known ids only, deleted ones too. */
  lookup(stream: Stream, origin: WriteOrigin, ids: readonly string[]): Promise<StoredRecord[]>;
  setMergingStrategy(
    stream: Stream,
    origin: WriteOrigin,
    strategy: 'override' | 'ignore_if_modified_after',
  ): Promise<void>;
  /** Any number of records, one change each. Returns the ids of those that had moved: they are not reverted. */
  revert(
    stream: Stream,
    origin: WriteOrigin,
    records: readonly FormerRecord[],
  ): Promise<readonly string[]>;
  /** Empties payloads of not yet pruned records up to and including the position, oldest first. */
  prune(
    stream: Stream,
    actor: string,
    until: { position: number; limit: number },
  ): Promise<{ count: number; lastPosition: number | null }>;
  /**
   * Data of an environment that retention would remove now.
   * @throws GatewayError `log_unavailable`
   */
  previewRetention(environmentUid: string): Promise<RetentionDue>;
  /** Removes every record of the stream for good; its numbers continue. */
  empty(stream: Stream, actor: string): Promise<void>;
  /** Empties the stream and refuses every later command of it (its connection was deleted). */
  close(stream: Stream, actor: string): Promise<ClosedStream>;
  /** Replies after every earlier command of the stream was decided. */
  barrier(stream: Stream, origin: WriteOrigin, end?: BarrierArgs): Promise<BarrierAnswer>;
}
