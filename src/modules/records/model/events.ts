import type * as values from '#streams/values.ts';

export const recordsTopic = 'svc.records.v1';
export const headsTopic = 'svc.internal.streams.v1';

/** Key of the message that raises the epoch of a partition without a stream; also the filler's key. */
export const reservedKey = '-';

/** The changes of a run in a stream. */
export type StreamRun = values.StreamRun;

/** A value of `svc.internal.streams.v1`. */
export type StreamHeadValue = values.StreamHead;

export type RecordAction = 'added' | 'updated' | 'deleted' | 'pruned' | 'purged' | 'restored';
/**
 * `json+deflate+aes256gcm` payloads are deflated and sealed under the connection's data key (`PayloadSealer`);
 * `json+aes256gcm` ones, of earlier releases, only sealed.
 */
export type PayloadEncoding = 'json' | 'json+aes256gcm' | 'json+deflate+aes256gcm' | 'none';

/**
 * A value of `svc.records.v1` (docs/reference/topics.md#svcrecordsv1), with the names of the topic, so that the hot
 * path needs no translation.
 */
export interface RecordChange extends values.RecordChange {
  readonly action: RecordAction;
  readonly payload_encoding: PayloadEncoding;
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
export type ModelResult = values.ModelCounts;

/** All changes of the run on the model's stream are before this position of `svc.records.v1`. */
export type ModelPosition = values.ModelPlace;
