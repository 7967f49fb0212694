import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import type { Micros } from '../../kernel/time.ts';
import type { BarrierArgs, ClosedStream } from './commands.ts';
import type { RetentionDue } from './retention-preview.ts';
import type { Stream } from './stream.ts';

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

/** What a stream's owner answers when a run ends. */
export interface BarrierAnswer {
  readonly counts: ModelCounts;
  /** Place on `svc.records.v1` up to which all changes of the run on this stream lie before. */
  readonly partition: number;
  readonly offset: number;
  /** Refusals after acknowledgement (a merge over the limit, a dead-lettered command); empty when all went well. */
  readonly failures: readonly string[];
}

/** A record as read back from the owner. */
export interface StoredRecord {
  readonly id: string;
  readonly payload: JsonObject;
  readonly deletedAt: Micros | null;
}

/** A record that is to be what it was. */
export interface FormerRecord {
  readonly id: string;
  /** The position that it must stand at. */
  readonly expected: number;
  /** JSON; null: it is deleted with the payload that it has. */
  readonly payload: string | null;
  /** With a payload: when it had been deleted; null: it lived. */
  readonly deletedAt: Micros | null;
}

/**
 * The way in for records (docs/architecture.md#the-path-of-a-record). Each call is checked whole before its first command; it
 * resolves when the log has the commands durably. Calls of one origin and stream are decided in order.
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
  /** @throws GatewayError `delete_pass_missing`; `stale_attempt` when a later run has gone on with the pass */
  passEnd(stream: Stream, origin: WriteOrigin): Promise<{ deletedKeys: string[] }>;
  /**
   * Opens the pass over the whole run, beside that of `passStart`; in a later attempt it goes on. `isResumed`: the run
   * resumes from a checkpoint, so that the pass of a run before it that has not succeeded goes on.
   */
  runPassStart(
    stream: Stream,
    origin: WriteOrigin,
    options: { readonly isResumed: boolean },
  ): Promise<void>;
  /**
   * Deletes what the run did not save; any number of times.
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
  /** Any number of records, each by a change of its own. Returns the ids of those that had moved: they are left alone. */
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
  /** What retention would take of an environment now. @throws GatewayError `log_unavailable` */
  previewRetention(environmentUid: string): Promise<RetentionDue>;
  /** Removes every record of the stream for good; the stream keeps counting. */
  empty(stream: Stream, actor: string): Promise<void>;
  /** Empties the stream and refuses every later command of it (its connection was deleted). */
  close(stream: Stream, actor: string): Promise<ClosedStream>;
  /** Answered after every earlier command of the stream was decided. */
  barrier(stream: Stream, origin: WriteOrigin, end?: BarrierArgs): Promise<BarrierAnswer>;
}
