/**
 * The values of the topics, made of their Avro schemas in `schemas` by `npm run generate`; do not edit. Open sets are
 * strings.
 */
import type { PublicFields } from '#kernel/public-fields.ts';
import type { Instant, Micros } from '#kernel/time.ts';

/** A change of a synced record; it carries the whole state of the record after it. */
export interface RecordChange extends PublicFields {
  /** Uid of the connection, never reused: a connection made again under the same id has another. */ readonly connection_uid: string;
  /** Name of the model. */ readonly model: string;
  /** Variant of the sync. */ readonly variant: string;
  /** Id of the record within its stream. */ readonly record_id: string;
  /** added, updated, deleted, pruned, purged or restored. An open set: ignore unknown values. */ readonly action: string;
  /** Number of the change in its stream (environment, connection, model, variant): from 1, without holes. */ readonly stream_seq: number;
  /** Names the count of stream_seq; another generation starts again at 1. */ readonly stream_generation: string;
  /** Grows with every new owner of the partition: ignore a change of a lower epoch than one seen before it. */ readonly owner_epoch: number;
  /** Number of the change in the life of the record, from 1. */ readonly version: number;
  /** stream_seq of the record's last modification: the order of the records API. Pruned, restored and purged changes keep it. */ readonly position: number;
  /** The position before, when this change moved it. */ readonly previous_position: number | null;
  /** The record: JSON in UTF-8 or, sealed, the ciphertext. Null once pruned or purged. */ readonly payload: Uint8Array | null;
  /** json, json+deflate+aes256gcm (deflated, then sealed: docs/records.md says how to open it), json+aes256gcm (sealed only, by earlier releases) or none. */ readonly payload_encoding: string;
  /** The data key of a sealed payload. */ readonly key_id: string | null;
  /** Keyed hash of the payload, 128 bits in hex; kept when the payload is pruned. */ readonly payload_hash: string;
  /** The hash before this change. */ readonly previous_hash: string | null;
  /** Names of the top-level fields that changed, where they are known. */ readonly changed_fields: readonly string[] | null;
  /** When the record was added (again). */ readonly first_seen_at: Micros;
  /** When the record was last modified; grows strictly along the positions of a stream. */ readonly last_modified_at: Micros;
  /** When the record was deleted; null while it lives. */ readonly deleted_at: Micros | null;
  /** When the payload was removed; null while it is there. */ readonly pruned_at: Micros | null;
  /** The sync that caused the change. */ readonly sync_name: string | null;
  /** The pass of delete tracking that found the record missing. */ readonly delete_pass_id: string | null;
}

/** What a run or a caller asks of the owner of a stream of records. Decided as a whole or not at all. */
export interface RecordCommand {
  /** UUID of the command; a reply names it. */ readonly command_id: string;
  /** save, update, delete, pass_start, pass_end, deleted_keys, lookup, strategy, prune, empty, close or barrier. */ readonly kind: string;
  /** Uid of the environment. */ readonly environment_id: string;
  /** Unique key of the integration. */ readonly integration: string;
  /** Id the application gave the connection. */ readonly connection_id: string;
  /** Uid of the connection. */ readonly connection_uid: string;
  /** Name of the model. */ readonly model: string;
  /** Variant of the sync. */ readonly variant: string;
  /** key:<id>, user:<id>, run:<id> or system. */ readonly actor: string;
  /** The run that asks; null when no run does. */ readonly run_id: string | null;
  /** Attempt of the run, from 1: a lower one than the stream has seen is refused. 0 without a run. */ readonly attempt: number;
  /** Number of the command within attempt and stream, from 1: a known one is not decided again. 0 without a run. */ readonly n: number;
  /** The sync of the run. */ readonly sync_name: string | null;
  /** When it was asked. */ readonly asked_at: Micros;
  /** The node that waits for a reply. */ readonly reply_to: string | null;
  /** Of the payloads: json, json-block+aes256gcm (joined, then sealed as one), json+aes256gcm (each sealed by itself) or none. */ readonly encoding: string;
  /** Ids of the records, each once. */ readonly ids: readonly string[];
  /** Not written and not read any more. Up to release 0.69.0: keyed hashes of the payloads, joined. */ readonly hashes: string;
  /** Where each payload ends among the joined ones, before they are sealed as one. */ readonly ends: readonly number[];
  /** The payloads, joined. */ readonly payloads: Uint8Array;
  /** Of a delete: the time the caller gave for each record in µs, 0 for none. Empty when no record has one. */ readonly deleted_at: readonly number[];
  /** Of kinds without records: their arguments as JSON. */ readonly args: string | null;
}

/** What a run did to the stream. */
export interface StreamRun {
  /** The run. */ readonly run_id: string;
  /** The highest attempt seen. */ readonly attempt: number;
  /** The last decided command of the attempt. */ readonly last_n: number;
  /** What the last command was answered, as JSON; null when it asked nothing. */ readonly answer: string | null;
  /** Records added. */ readonly added: number;
  /** Records updated. */ readonly updated: number;
  /** Records deleted. */ readonly deleted: number;
  /** Records saved again as they were. */ readonly unchanged: number;
  /** What was refused after it had been acknowledged. */ readonly failures: readonly string[];
  /** With the strategy ignore_if_modified_after: the position from which on other writers win. */ readonly keep_newer_than: number | null;
  /** With that strategy: first and last of the ranges of positions that the run itself wrote since. */ readonly own_positions: readonly number[];
  /** When its last command was decided. */ readonly last_at: Micros;
}

/** A pass of delete tracking. */
export interface DeletePass {
  /** UUID of the pass. */ readonly pass_id: string;
  /** The sync it belongs to. */ readonly sync_name: string | null;
  /** The run that last started, continued or ended it. */ readonly run_id: string | null;
  /** The attempt of that run. */ readonly attempt: number;
  /** True once ended by a run that is not known to have succeeded. */ readonly is_ended: boolean;
  /** True for the pass over a whole run, beside the one that its code starts and ends itself. */ readonly is_of_run: boolean;
  /** stream_seq when it began: what moved since has a higher position. */ readonly start_position: number;
  /** Positions that were saved unchanged since, as compressed bitmaps. */ readonly marks: Uint8Array;
  /** The command up to which the marks are complete; later ones are read again. */ readonly marks_offset: number;
  /** True when marks were lost: the pass deletes nothing. */ readonly is_lost: boolean;
}

/** Where a stream of records stands. Private to the owner of its partition. */
export interface StreamHead {
  /** Grows with every new owner of the partition. */ readonly owner_epoch: number;
  /** The last decided command of the partition; -1 for none. */ readonly command_offset: number;
  /** Uid of the environment. */ readonly environment_id: string;
  /** Unique key of the integration. */ readonly integration: string;
  /** Id the application gave the connection. */ readonly connection_id: string;
  /** Uid of the connection. */ readonly connection_uid: string;
  /** Name of the model. */ readonly model: string;
  /** Variant of the sync. */ readonly variant: string;
  /** Names the count of stream_seq. */ readonly generation: string;
  /** The last given number. */ readonly stream_seq: number;
  /** The last given modification time of the partition. */ readonly last_modified_at: Micros;
  /** True once the connection was deleted: every command is refused. */ readonly is_closed: boolean;
  /** When a run last asked anything of the stream. */ readonly last_run_at: Micros | null;
  /** The runs that touched the stream last. */ readonly runs: readonly StreamRun[];
  /** Passes of delete tracking that are open, or whose run has not succeeded yet. */ readonly passes: readonly DeletePass[];
  /** A decision over many records that is under way, as JSON. */ readonly job: string | null;
}

/** How far a partition of a typed topic is filled; of the key - what has been seen of the partition of records. */
export interface TypedTopicProgress {
  /** Uid of the opting in that it is filled for; empty of the key -. */ readonly opt_in: string;
  /** Offset of the records topic: everything before it is in the typed topic. */ readonly next: number;
  /** Whether the backfill has ended; from then on the position of the consumer group says how far it is. */ readonly is_live: boolean;
  /** Of the key -: the highest epoch of an owner seen in the partition; 0 of others. */ readonly owner_epoch: number;
}

/** A command to one entity. */
export interface ControlCommandItem {
  /** Kind of the entity. */ readonly kind: string;
  /** Name of the entity, unique within its kind. */ readonly path: readonly string[];
  /** The command as JSON: `type` and its fields. */ readonly body: string;
}

/** A command to the owner of one scope of the control plane. Private; secrets are sealed. */
export interface ControlCommand {
  /** Uuid of the command. */ readonly id: string;
  /** Common to all named entities; selects the partition. */ readonly scope: string;
  /** Decided in this order, all or none. */ readonly items: readonly ControlCommandItem[];
  /** Caller: `key:…`, `user:…`, `run:…` or `system`. */ readonly actor: string;
  /** Time of the request. */ readonly at: Instant;
  /** Refused after it. */ readonly deadline: Instant;
  /** Node that waits for the reply. */ readonly reply_to: string | null;
  /** The client's Idempotency-Key. */ readonly idempotency_key: string | null;
  /** Keyed hash of what the client sent. */ readonly request_hash: string | null;
}

/** Full state of one entity of the control plane, secrets sealed. Private. Also the owner's own notes, under kinds that begin with `~`. */
export interface ControlEntity {
  /** Kind of the entity. */ readonly kind: string;
  /** What it is unique within; the partition is chosen by it. */ readonly scope: string;
  /** Name of the entity, unique within its kind. */ readonly path: readonly string[];
  /** The state as JSON. */ readonly state: string;
  /** When the owner decided it. */ readonly decided_at: Instant;
}

/** What an owner answers to the node that asked. Private. */
export interface Reply {
  /** Uuid of the command or of the question. */ readonly command_id: string;
  /** Who asked. */ readonly node: string;
  /** `done` or `refused`. */ readonly outcome: string;
  /** Partition of the owner that answers. */ readonly partition: number;
  /** Place that the answer holds from: of the control plane the number of the decision in its partition, of records an offset. */ readonly offset: number;
  /** Error code of a refusal. */ readonly code: string | null;
  /** Details of the refusal as JSON. */ readonly details: string | null;
  /** The answer: of the control plane the state as JSON. */ readonly body: Uint8Array | null;
}

/** A data key wrapped by the root key. Private; a tombstone destroys it. */
export interface WrappedKey {
  /** Uid of what the key belongs to, `account` or `service`. */ readonly key_id: string;
  /** Which root key wrapped it: a cut hash of that key. */ readonly root_id: string;
  /** Nonce, ciphertext and tag of AES-256-GCM; the key id is the associated data. */ readonly wrapped: Uint8Array;
  /** When the key was made. */ readonly created_at: Instant;
}

/** Input or output of a run, sealed under the key of its connection. */
export interface RunBody {
  /** The run. */ readonly run_id: string;
  /** input or output. */ readonly part: string;
  /** The data key that seals the body: the uid of the connection. */ readonly key_id: string;
  /** Uid of the environment. */ readonly environment_id: string;
  /** JSON, AES-256-GCM; the associated data names environment, run and part. */ readonly body: Uint8Array;
}

/** What is wrong with the connection. */
export interface ConnectionError {
  /** `auth` or `sync`. */ readonly type: string;
  /** Log operation with the details. */ readonly log_id: string;
}

/** The state of a connection after a change, without secrets. */
export interface ConnectionChanged extends PublicFields {
  /** created, updated, reauthorized, auth_failed, auth_recovered, metadata_changed, tags_changed, deletion_begun, deleted or erased; an open set. */ readonly action: string;
  /** Uid of the connection, never reused. */ readonly connection_uid: string;
  /** Name of the provider. */ readonly provider: string;
  /** Authentication mode of the provider. */ readonly auth_mode: string;
  /** Tags; keys are lower case. */ readonly tags: Readonly<Record<string, string>>;
  /** Names of the top-level metadata keys. */ readonly metadata_keys: readonly string[];
  /** JSON of the metadata keys that the integration allows to be published. */ readonly metadata: string | null;
  /** Open errors. */ readonly errors: readonly ConnectionError[];
  /** When the connection was made. */ readonly created_at: Micros;
  /** When it was last changed. */ readonly updated_at: Micros;
  /** When its credentials were last fetched, noted about hourly. */ readonly last_fetched_at: Micros | null;
}

/** What became of a connection's credentials; never the credentials. */
export interface CredentialsChanged extends PublicFields {
  /** stored, refreshed, refresh_failed, revoked, rewrapped or shredded; an open set. */ readonly action: string;
  /** Uid of the connection, never reused. */ readonly connection_uid: string;
  /** Authentication mode. */ readonly auth_mode: string;
  /** Keyed hash of the credentials, 16 bytes in hex; empty when there are none. */ readonly fingerprint: string;
  /** Data key that seals them. */ readonly key_id: string;
  /** When the access token expires. */ readonly expires_at: Micros | null;
  /** Scopes that the provider granted, where known. */ readonly granted_scopes: readonly string[];
  /** Number of the stored set of credentials. */ readonly attempt: number;
  /** Why a refresh failed. */ readonly error_code: string | null;
  /** HTTP status that the provider answered. */ readonly provider_status: number | null;
  /** No more refreshes are tried. */ readonly exhausted: boolean;
  /** The refresh before this one had failed. */ readonly recovers: boolean;
  /** Receipt of a deletion, as JSON: what is unreadable at once, and what goes with compaction. */ readonly erasure: string | null;
}

/** A change of configuration, without secrets. */
export interface ConfigChanged extends PublicFields {
  /** environment, integration, function, endpoint, api_key or provider_overlay; an open set. */ readonly kind: string;
  /** created, updated, deployed, deleted and others; an open set. */ readonly action: string;
  /** The full state as JSON, without secrets. */ readonly document: string;
  /** Grows with each change of the same key. */ readonly revision: number;
}

/** The full state of a sync of a connection after a change. */
export interface SyncChanged extends PublicFields {
  /** Name of the function. */ readonly sync_name: string;
  /** base unless the sync has variants. */ readonly variant: string;
  /** enabled, disabled, paused, started, frequency_changed, triggered, reset, checkpoint_saved, checkpoint_cleared, redeployed. */ readonly action: string;
  /** Uid of the connection; never reused. */ readonly connection_uid: string;
  /** Models that the sync declares. */ readonly models: readonly string[];
  /** Interval of the schedule, for example 1h. */ readonly frequency: string | null;
  /** started or paused: whether the schedule runs. */ readonly state: string;
  /** The checkpoint as JSON. */ readonly checkpoint: string | null;
  /** When the schedule starts the next run. */ readonly next_due_at: Micros | null;
}

/** What a run changed in one model. */
export interface ModelCounts {
  /** Name of the model. */ readonly model: string;
  /** Records that were new, or alive again. */ readonly added: number;
  /** Records whose content changed. */ readonly updated: number;
  /** Records marked deleted. */ readonly deleted: number;
  /** Records saved with the content they had. */ readonly unchanged: number;
}

/** All changes of the run on the model's stream lie before this place of the records topic. */
export interface ModelPlace {
  /** Name of the model. */ readonly model: string;
  /** Partition of the records topic. */ readonly partition: number;
  /** Offset after the last change. */ readonly offset: number;
}

/** A line of the stack, in the source of the function. */
export interface FailureFrame {
  /** Name of the function; null without a name. */ readonly function: string | null;
  /** File of the project. */ readonly file: string;
  /** From 1. */ readonly line: number;
  /** From 1. */ readonly column: number;
}

/** Lines of the source around the first frame. */
export interface FailureExcerpt {
  /** Number of the first of the lines, from 1. */ readonly line: number;
  /** At most 6, cut to 160 characters. */ readonly lines: readonly string[];
}

/** An error that led to the failure. */
export interface FailureCause {
  /** Class of the error. */ readonly name: string;
  /** Its message. */ readonly message: string;
  /** Its code; null without one. */ readonly code: string | null;
  /** File, line and column where it was made; null where that is not known. */ readonly location: string | null;
}

/** A request to a provider that failed. */
export interface FailedCall {
  /** Method of the request. */ readonly method: string;
  /** Address of the request. */ readonly url: string;
  /** Status of the response; null without one. */ readonly status: number | null;
  /** The error without a response. */ readonly code: string | null;
  /** The start of the response, sealed under the key of the connection, in base64. */ readonly body: string | null;
}

/** Where and why the code of a function failed, without secrets of its connection. */
export interface FailureDetail {
  /** Class of the error. */ readonly name: string;
  /** From where the error was made outwards, at most 10. */ readonly frames: readonly FailureFrame[];
  /** Null where the source is not known. */ readonly excerpt: FailureExcerpt | null;
  /** From the direct cause on, at most 5. */ readonly causes: readonly FailureCause[];
  /** The request whose error ended the run. */ readonly call: FailedCall | null;
}

/** One thing that a run did; what does not apply is null. */
export interface TimelineEntry {
  /** When. */ readonly at: Micros;
  /** request, save, update, delete, track_deletes_start, track_deletes_end, checkpoint_saved, checkpoint_cleared, log, truncated (the rest is left out). An open set: ignore unknown values. */ readonly what: string;
  /** Of a request. */ readonly method: string | null;
  /** Of a request, without its query. */ readonly path: string | null;
  /** Of the answer; null without one. */ readonly status: number | null;
  /** Of a request. */ readonly duration_ms: number | null;
  /** Whose records. */ readonly model: string | null;
  /** How many records. */ readonly count: number | null;
  /** Of a line of the log. */ readonly level: string | null;
  /** A line of the log, or a checkpoint as JSON; scrubbed, at most 2 KiB. */ readonly message: string | null;
}

/** A step in the life of a run: queued, started, any number of progress, then exactly one end. */
export interface RunChanged extends PublicFields {
  /** sync, action, on-event or webhook. */ readonly kind: string;
  /** Name of the function. */ readonly function: string;
  /** Version label of the deployed function. */ readonly function_version: string;
  /** queued, started, progress, succeeded, failed, cancelled, timed_out or interrupted. */ readonly action: string;
  /** From 1; grows when a run whose runner was lost is queued again. */ readonly attempt: number;
  /** Uid of the connection; never reused. */ readonly connection_uid: string;
  /** Variant of the sync; base for all others. */ readonly variant: string;
  /** Models that the sync declares. */ readonly models: readonly string[];
  /** What queued the run: creation, start, schedule or api. */ readonly trigger: string | null;
  /** A queued run that has not started by then is not started. */ readonly start_by: Micros | null;
  /** The records of all models are removed before the run. */ readonly empty_cache: boolean;
  /** No successful run, or a reset, came before. */ readonly is_initial: boolean;
  /** Start of the first attempt. */ readonly started_at: Micros | null;
  /** Checkpoint at the start, as JSON. */ readonly checkpoint_from: string | null;
  /** Checkpoint at the end, as JSON. */ readonly checkpoint_to: string | null;
  /** What the run changed, by model; on its end. */ readonly counts: readonly ModelCounts[];
  /** Where the changes of the run end, by model; on its end. */ readonly positions: readonly ModelPlace[];
  /** From the start of the first attempt to the end. */ readonly duration_ms: number | null;
  /** Keyed hash of the input. */ readonly input_hash: string | null;
  /** Keyed hash of the output. */ readonly output_hash: string | null;
  /** Partition of the private topic of bodies: the input on queued and started, the output on an end. */ readonly body_partition: number | null;
  /** Offset of the body. */ readonly body_offset: number | null;
  /** Why the run did not succeed. */ readonly error_code: string | null;
  /** The same in words, scrubbed, at most 2 KiB. */ readonly error_message: string | null;
  /** What is known of the failure of the code, on its end; null where none of it failed. */ readonly failure: FailureDetail | null;
  /** Operation of the log that users read. */ readonly log_id: string;
  /** What the attempt did since the last progress; on progress. Bounded: a run leaves at most 1000 entries. */ readonly timeline: readonly TimelineEntry[];
}

/** A webhook of a provider, and what became of it. */
export interface WebhookIn extends PublicFields {
  /** Of one request of a provider; the same when the provider sends it again under its own id. */ readonly delivery_id: string;
  /** received, accepted, rejected, unmatched, duplicate, reprocessed or refused. */ readonly disposition: string;
  /** Error code of a rejection, or why nothing was done. */ readonly reason: string | null;
  /** Status that the provider was answered with; null on received. */ readonly status: number | null;
  /** Id that the provider gave the delivery, where it has one. */ readonly provider_delivery_id: string | null;
  /** Ids of the connections that it was attributed to. */ readonly matched_connections: readonly string[];
  /** Type of the webhook, which subscriptions of syncs are compared with. */ readonly subscription: string | null;
  /** Runs of functions that it started. */ readonly run_ids: readonly string[];
  /** Headers that hold nothing secret; without authorization, cookies and signatures. */ readonly headers: Readonly<Record<string, string>>;
  /** On received only: the exact bytes that came in, sealed under the key of the environment; null when they are not kept. */ readonly body: Uint8Array | null;
  /** On received only: all headers and the query as JSON, sealed under the key of the environment. */ readonly request: Uint8Array | null;
  /** Keyed hash of the body. */ readonly body_hash: string;
  /** When the request came in. */ readonly received_at: Micros;
  /** On refused only: number of unverified requests that were not kept so far in the hour; 1, 10, 100 and so on. */ readonly refused_count: number | null;
}

/** A webhook to the application, and what became of each attempt. */
export interface WebhookOut extends PublicFields {
  /** Stays the same in every attempt and at every endpoint; receivers de-duplicate on it. */ readonly message_id: string;
  /** primary, secondary, connection (an override of the connection), or the id of a webhook endpoint. */ readonly endpoint_id: string;
  /** created, attempt_succeeded, attempt_failed, exhausted, replayed or cancelled. */ readonly action: string;
  /** Kind of the webhook, such as auth or sync; an open set. */ readonly event_kind: string;
  /** On created only: the exact bytes to send, sealed under the key of the environment. */ readonly body: Uint8Array | null;
  /** From 1; 0 on created. */ readonly attempt: number;
  /** Status of the receiver's answer. */ readonly status: number | null;
  /** How long the attempt took. */ readonly latency_ms: number | null;
  /** When the next attempt is due. */ readonly next_attempt_at: Micros | null;
  /** Why there was no answer, or why no attempt is made. */ readonly error_code: string | null;
  /** The message that this one repeats. */ readonly replay_of: string | null;
  /** On created only, where no connection keeps the URL: sealed under the key of the environment. */ readonly address: Uint8Array | null;
  /** On created of a forwarded webhook only: the provider's headers as JSON, sealed under the key of the environment. */ readonly headers: Uint8Array | null;
}

/** An operation of the log that users read, or a message of one. */
export interface LogEntry extends PublicFields {
  /** The operation; a run's is the run id. */ readonly operation_id: string;
  /** debug, info, warn or error. */ readonly level: string;
  /** What users read. */ readonly message: string;
  /** Set on the entries that begin and end an operation, for example sync:run. */ readonly operation_type: string | null;
  /** running, success, failed, cancelled or timeout; set beside operation_type. */ readonly state: string | null;
  /** When the operation began; set beside operation_type. */ readonly started_at: Micros | null;
  /** Name of the function that the operation runs. */ readonly function: string | null;
  /** user: written by the code of a function; internal: by the service. */ readonly source: string | null;
  /** More of it as JSON, redacted, at most 16 KiB. */ readonly context: string | null;
}

/** Who did what: append-only, each event chained to the one before it. */
export interface AuditEvent extends PublicFields {
  /** What was done or tried, for example api_key.create. An open set. */ readonly action: string;
  /** What it was done to: an id, a name, or both. */ readonly target: string;
  /** success, or the code of the refusal. */ readonly outcome: string;
  /** Where the request came from: /24 of an IPv4 address, /48 of an IPv6 one. */ readonly ip_prefix: string | null;
  /** More of it as JSON, without secrets. */ readonly details: string | null;
  /** Place in the chain, from 1, without holes. */ readonly chain_seq: number;
  /** SHA-256 (hex) over the previous event's hash and this event; see docs/audit.md. */ readonly chain_hash: string;
}

/** One set of tables with its projector. */
export interface ProjectionGeneration {
  /** Its number; the first is 1, none is used again. */ readonly generation: number;
  /** Version of the tables. */ readonly schema_version: number;
  /** building, ready, active, kept, failed or retiring; an open set. */ readonly state: string;
  /** Whether it is fed at the moment. */ readonly is_paused: boolean;
  /** Share of the time that its building may take. */ readonly pace_percent: number;
  /** When it last began or ceased to be read. */ readonly switched_at: Micros | null;
  /** Set while it is to be compared with the active generation. */ readonly verification_id: string | null;
}

/** Which generations of a projection there are, and what has just become of one. */
export interface ProjectionChanged extends PublicFields {
  /** building, progress, ready, verifying, verified, switched, rolled_back, paused, resumed, failed, retiring or retired; an open set. */ readonly action: string;
  /** Version of the tables of the generation that the action is about. */ readonly schema_version: number;
  /** The generation that the action is about. */ readonly generation: number;
  /** By partition of the topic, the next offset to read, as last reported while it was built. */ readonly position: Readonly<Record<string, number>>;
  /** By partition, the end of the topic at that time. */ readonly end_position: Readonly<Record<string, number>>;
  /** Rows of its first table at that time, superseded ones included. */ readonly rows: number;
  /** The generation that is read. */ readonly active_generation: number;
  /** All that there are: the full state, for the topic is compacted. */ readonly generations: readonly ProjectionGeneration[];
}

/** A message that could not be processed, and what became of it: see type. */
export interface DeadLetter extends PublicFields {
  /** Consumer group that gave up. */ readonly consumer: string;
  /** Where the message is from. */ readonly topic: string;
  /** Its partition. */ readonly partition: number;
  /** Its offset. */ readonly offset: number;
  /** How often it was tried. */ readonly attempts: number;
  /** Code of the last error. */ readonly error_code: string;
  /** The last error, without values. */ readonly error_message: string;
  /** event_id of the dead letter that this is about; null on the letter itself. */ readonly letter_id: string | null;
  /** Of an order of an operator: the same key orders once. */ readonly order_key: string | null;
  /** Key of the message. */ readonly key: Uint8Array | null;
  /** Value of the message. */ readonly value: Uint8Array | null;
  /** Headers of the message. */ readonly headers: Readonly<Record<string, Uint8Array>>;
}

/** The values of the public topics, without the fields that all of them have. */
export interface PublishedValues {
  'svc.records.v1': Omit<RecordChange, keyof PublicFields>;
  'svc.connections.v1': Omit<ConnectionChanged, keyof PublicFields>;
  'svc.credentials.v1': Omit<CredentialsChanged, keyof PublicFields>;
  'svc.config.v1': Omit<ConfigChanged, keyof PublicFields>;
  'svc.syncs.v1': Omit<SyncChanged, keyof PublicFields>;
  'svc.runs.v1': Omit<RunChanged, keyof PublicFields>;
  'svc.webhooks-in.v1': Omit<WebhookIn, keyof PublicFields>;
  'svc.webhooks-out.v1': Omit<WebhookOut, keyof PublicFields>;
  'svc.logs.v1': Omit<LogEntry, keyof PublicFields>;
  'svc.audit.v1': Omit<AuditEvent, keyof PublicFields>;
  'svc.projections.v1': Omit<ProjectionChanged, keyof PublicFields>;
  'svc.dead-letters.v1': Omit<DeadLetter, keyof PublicFields>;
}
