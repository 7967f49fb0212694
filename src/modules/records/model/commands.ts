import type { RecordId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/time.ts';
import type * as values from '#streams/values.ts';
import type { PayloadEncoding } from './events.ts';

export const recordCommandsTopic = 'svc.internal.record-commands.v1';

export type CommandKind =
  | 'save'
  | 'update'
  | 'delete'
  | 'pass_start'
  | 'pass_end'
  | 'deleted_keys'
  | 'lookup'
  | 'strategy'
  | 'prune'
  | 'revert'
  | 'empty'
  | 'close'
  | 'barrier';

/**
 * Sent to a complete partition, under the reserved key: a preview of the retention of an environment. Has no effect.
 */
export const retentionPreview = 'retention_preview';

/**
 * `json-block+aes256gcm`: the joined payloads are sealed as one, under the connection's data key. One by one, as
 * up to release 0.67.0 and as changes still are, each costs 5 µs more.
 */
export type CommandEncoding = PayloadEncoding | 'json-block+aes256gcm';

/**
 * A value of `svc.internal.record-commands.v1`, without `hashes`. Records are columns, so that a command with a
 * thousand is read without creating a thousand objects.
 */
export interface RecordCommandValue extends Omit<values.RecordCommand, 'hashes'> {
  readonly encoding: CommandEncoding;
  /** Checked once, by the writer, which receives them from the code of a function. */
  readonly ids: readonly RecordId[];
}

/** Arguments and replies of the commands with a reply, by kind. */
export interface PruneArgs {
  readonly position: number;
  readonly limit: number;
}
export interface PruneAnswer {
  readonly count: number;
  readonly lastPosition: number | null;
}

export interface RevertArgs {
  /** The required position of each id: a changed record is skipped. */
  readonly expected: readonly number[];
  /** Indexes of records that are deleted with their current payload; the others get the payload of the command. */
  readonly deletes: readonly number[];
}
export interface RevertAnswer {
  /** Ids of changed records. */
  readonly left: readonly string[];
}

/** Records of one stream that the retention would delete now. */
export interface DueStream {
  readonly action: 'prune' | 'delete';
  readonly records: number;
  readonly integration: string;
  readonly connectionId: string;
  readonly model: string;
  readonly variant: string;
  readonly lastRunAt: Micros | null;
}

/** Records of a stream when it was closed; all zero if it was closed before. */
export interface ClosedStream {
  readonly plain: number;
  readonly sealed: number;
  readonly pruned: number;
}

export interface RetentionPreviewArgs {
  /** Number of the last stream of the previous part. */
  readonly after: number;
}
export interface RetentionPreviewAnswer {
  readonly isClockTrusted: boolean;
  readonly streams: readonly DueStream[];
  /** Where the next part starts; null at the end. */
  readonly next: number | null;
}

/** Deletions of an ended pass stand at consecutive positions: `after` exclusive, `through` inclusive. */
export interface DeletedKeysArgs {
  readonly after: number;
  readonly through: number;
}
export interface DeletedKeysAnswer {
  readonly keys: readonly string[];
  /** Where the next part starts; null at the end. */
  readonly next: DeletedKeysArgs | null;
}

export interface LookupAnswer {
  readonly found: readonly LookedUp[];
  /** Number of ids that were read: a reply ends at about 1 MB. */
  readonly done: number;
}
export interface LookedUp {
  readonly id: string;
  readonly deletedAt: Micros | null;
  /** JSON, or base64 of the sealed JSON; null once pruned. */
  readonly payload: string | null;
  readonly isSealed: boolean;
}

/** Of `pass_start` and `pass_end`: the pass over the whole run. Absent: the pass that the function's code starts. */
export interface RunPassArgs {
  readonly isOfRun: true;
  /** Of a start: the run resumes from a checkpoint, so that the previous run's pass continues. */
  readonly isResumed?: boolean;
}

export interface StrategyArgs {
  readonly strategy: 'override' | 'ignore_if_modified_after';
}

export interface BarrierArgs {
  /** The code of the run ended without an error and within its time budget: no run resumes from its checkpoint. */
  readonly hasSucceeded: boolean;
}
export interface BarrierReply {
  readonly added: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly offset: number;
  readonly failures: readonly string[];
}
