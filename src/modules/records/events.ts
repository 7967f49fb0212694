import type { PublicFields } from '../../kernel/public-fields.ts';
import type { Micros } from '../../kernel/time.ts';

export type RecordAction = 'added' | 'updated' | 'deleted' | 'pruned' | 'purged' | 'restored';
/**
 * `json+deflate+aes256gcm` payloads are deflated and sealed under the connection's data key (`PayloadSealer`);
 * `json+aes256gcm` ones, of earlier releases, only sealed.
 */
export type PayloadEncoding = 'json' | 'json+aes256gcm' | 'json+deflate+aes256gcm' | 'none';

/**
 * A value of `svc.records.v1` (docs/reference/topics.md#svcrecordsv1), with the names of the topic, so that the hot
 * path needs no translation.
 * @see schemas/records/record-change.v1.avsc
 */
export interface RecordChange extends PublicFields {
  readonly connection_uid: string;
  readonly model: string;
  readonly variant: string;
  readonly record_id: string;
  readonly action: RecordAction;
  /** Starts at 1 and grows by 1 for each change of the stream. */
  readonly stream_seq: number;
  readonly stream_generation: string;
  readonly owner_epoch: number;
  /** Of the record, from 1. */
  readonly version: number;
  /** The seq of the record's last modification: the order of pages. */
  readonly position: number;
  /** The position before this change moved it; null for a first change and for one that keeps the position. */
  readonly previous_position: number | null;
  readonly payload: Uint8Array | null;
  readonly payload_encoding: PayloadEncoding;
  readonly key_id: string | null;
  /** Hex of a keyed hash of 128 bits; kept after pruning. */
  readonly payload_hash: string;
  readonly previous_hash: string | null;
  readonly changed_fields: readonly string[] | null;
  readonly first_seen_at: Micros;
  readonly last_modified_at: Micros;
  readonly deleted_at: Micros | null;
  readonly pruned_at: Micros | null;
  readonly sync_name: string | null;
  readonly delete_pass_id: string | null;
}

/** A change without content. */
export const blankChange: RecordChange = {
  event_id: '',
  type: '',
  occurred_at: 0,
  environment_id: '',
  integration: null,
  connection_id: null,
  actor: '',
  run_id: null,
  connection_uid: '',
  model: '',
  variant: '',
  record_id: '',
  action: 'added',
  stream_seq: 0,
  stream_generation: '',
  owner_epoch: 0,
  version: 0,
  position: 0,
  previous_position: null,
  payload: null,
  payload_encoding: 'none',
  key_id: null,
  payload_hash: '',
  previous_hash: null,
  changed_fields: null,
  first_seen_at: 0,
  last_modified_at: 0,
  deleted_at: null,
  pruned_at: null,
  sync_name: null,
  delete_pass_id: null,
};

/** As docs/reference/records.md#a-record has it. */
export function lastActionOf(
  change: Pick<RecordChange, 'deleted_at' | 'first_seen_at' | 'last_modified_at'>,
): 'ADDED' | 'UPDATED' | 'DELETED' {
  if (change.deleted_at !== null) return 'DELETED';
  return change.first_seen_at === change.last_modified_at ? 'ADDED' : 'UPDATED';
}

/** Changes of a run in one model. */
export type ModelResult = {
  readonly model: string;
  readonly added: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
};

/** All changes of the run on the model's stream are before this position of `svc.records.v1`. */
export type ModelPosition = {
  readonly model: string;
  readonly partition: number;
  readonly offset: number;
};
