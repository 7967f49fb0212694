import type {
  CommandValue,
  EntityValue,
  ReplyValue,
} from '../../src/control-plane/message-codec.ts';
import type { Micros } from '../../src/kernel/time.ts';
import type { WrappedKey } from '../../src/modules/access/vault/key-ring.ts';
import type { ProjectionMessage } from '../../streams/projector/projection-message.ts';
import type { RecordCommandValue } from '../../src/modules/records/commands.ts';
import type { RecordChange } from '../../src/modules/records/events.ts';
import type { StreamHeadValue } from '../../src/modules/records/stream-head.ts';
import { quietEntry, type RunChanged } from '../../src/modules/functions/runs/events.ts';
import type { TypedTopicProgress } from '../../src/modules/operations/typed-topics/progress.ts';
import type { IncomingStep } from '../../src/modules/webhooks/webhooks-in/events.ts';
import type { DeliveryStep } from '../../src/modules/webhooks/webhooks-out/events.ts';
import type { TopicName } from '../../streams/topics.ts';
import { audited } from './audit-value.ts';

/**
 * A full value of each topic, as it looks in service: of the code's own type where it has one, so that the
 * types and the schemas are proved to agree. A release freezes what they encode to (release.ts).
 */

const environment_id = '0198c1a2-7d30-7000-8000-000000000001';
const connection_uid = '0198c1a2-7d30-7000-8000-000000000002';
const run_id = '0198c1a2-7d30-7000-8000-000000000003';
const at: Micros = 1_790_000_000_123_456;
const atMillis = 1_790_000_000_123;

const sealed = (text: string): Buffer => Buffer.from(`v1 sealed ${text}`);

/** The fields that every public value begins with. */
const common = (type: string) => ({
  event_id: '0198c1a2-7d30-7000-8000-0000000000ff',
  type,
  occurred_at: at,
  environment_id,
  integration: 'github' as string | null,
  connection_id: 'user-42' as string | null,
  actor: `run:${run_id}`,
  run_id: run_id as string | null,
});

const recordChange: RecordChange = {
  ...common('svc.record.updated'),
  connection_uid,
  model: 'Contact',
  variant: 'base',
  record_id: 'c-17',
  action: 'updated',
  stream_seq: 4_294_967_296,
  stream_generation: '8f14e45fceea167a',
  owner_epoch: 3,
  version: 2,
  position: 4_294_967_296,
  previous_position: 11,
  payload: Buffer.from('{"id":"c-17","name":"Åsa Ünal","tags":["a","b"]}'),
  payload_encoding: 'json',
  key_id: connection_uid,
  payload_hash: '5f4dcc3b5aa765d61d8327deb882cf99',
  previous_hash: '098f6bcd4621d373cade4e832627b4f6',
  changed_fields: ['name', 'tags'],
  first_seen_at: at - 86_400_000_000,
  last_modified_at: at,
  deleted_at: at - 5,
  pruned_at: at - 4,
  sync_name: 'contacts',
  delete_pass_id: 'pass-1',
};

const recordCommand: RecordCommandValue & { readonly hashes: string } = {
  command_id: '0198c1a2-7d30-7000-8000-000000000010',
  kind: 'save',
  environment_id,
  integration: 'github',
  connection_id: 'user-42',
  connection_uid,
  model: 'Contact',
  variant: 'base',
  actor: `run:${run_id}`,
  run_id,
  attempt: 1,
  n: 7,
  sync_name: 'contacts',
  asked_at: at,
  reply_to: 'node-a',
  encoding: 'json',
  ids: ['c-1', 'c-2'],
  hashes: '',
  ends: [12, 24],
  payloads: Buffer.from('{"id":"c-1"}{"id":"c-2"}'),
  deleted_at: [0, at],
  args: '{"strategy":"ignore_if_modified_after"}',
};

const streamHead: StreamHeadValue = {
  owner_epoch: 3,
  command_offset: 1_234,
  environment_id,
  integration: 'github',
  connection_id: 'user-42',
  connection_uid,
  model: 'Contact',
  variant: 'base',
  generation: '8f14e45fceea167a',
  stream_seq: 4_294_967_296,
  last_modified_at: at,
  is_closed: false,
  last_run_at: at - 60_000_000,
  runs: [
    {
      run_id,
      attempt: 1,
      last_n: 7,
      answer: '{"keys":[]}',
      added: 10,
      updated: 4,
      deleted: 1,
      unchanged: 985,
      failures: ['record_too_large: c-9'],
      keep_newer_than: 90,
      own_positions: [101, 102],
      last_at: at,
    },
  ],
  passes: [
    {
      pass_id: 'pass-1',
      sync_name: 'contacts',
      run_id,
      attempt: 1,
      is_ended: true,
      is_of_run: true,
      start_position: 90,
      marks: Buffer.from([0b0000_0101, 0xff]),
      marks_offset: 1_200,
      is_lost: false,
    },
  ],
  job: '{"offset":1234,"from":90,"after":12}',
};

const command: CommandValue = {
  id: '0198c1a2-7d30-7000-8000-000000000011',
  scope: environment_id,
  items: [
    { kind: 'variable', path: [environment_id, 'API_BASE'], body: '{"type":"Delete"}' },
    { kind: 'variable', path: [environment_id, 'Ünïcode'], body: '{"type":"Delete"}' },
  ],
  actor: 'key:17',
  at: atMillis,
  deadline: atMillis + 10_000,
  reply_to: 'node-a',
  idempotency_key: 'order-1',
  request_hash: '5f4dcc3b5aa765d61d8327deb882cf99',
};

const entity: EntityValue = {
  kind: 'variable',
  scope: environment_id,
  path: [environment_id, 'API_BASE'],
  state: '{"name":"API_BASE","value":"v1.sealed"}',
  decided_at: atMillis,
};

const reply: ReplyValue = {
  command_id: command.id,
  node: 'node-a',
  outcome: 'refused',
  partition: 3,
  offset: 1_235,
  code: 'conflict',
  details: '{"message":"This name is taken."}',
  body: Buffer.from('{"id":17}'),
};

const wrappedKey: WrappedKey = {
  key_id: connection_uid,
  root_id: 'c0ffee00',
  wrapped: sealed('data key'),
  created_at: atMillis,
};

const runBody = {
  run_id,
  part: 'input',
  key_id: connection_uid,
  environment_id,
  body: sealed('{"name":"koa"}'),
};

const connectionChanged = {
  ...common('svc.connection.auth_failed'),
  action: 'auth_failed',
  connection_uid,
  provider: 'github',
  auth_mode: 'OAUTH2',
  tags: { plan: 'pro', 'end user': 'Åsa' },
  metadata_keys: ['packages'],
  metadata: '{"packages":["koa"]}',
  errors: [{ type: 'auth', log_id: '0198c1a2-7d30-7000-8000-000000000012' }],
  created_at: at - 86_400_000_000,
  updated_at: at,
  last_fetched_at: at - 1_000_000,
};

const credentialsChanged = {
  ...common('svc.credentials.refresh_failed'),
  action: 'refresh_failed',
  connection_uid,
  auth_mode: 'OAUTH2',
  fingerprint: '098f6bcd4621d373cade4e832627b4f6',
  key_id: connection_uid,
  expires_at: at + 3_600_000_000,
  granted_scopes: ['repo', 'read:user'],
  attempt: 2,
  error_code: 'invalid_credentials',
  provider_status: 401,
  exhausted: true,
  recovers: true,
  erasure: '{"connection_uid":"c-1","records":[]}',
};

const configChanged = {
  ...common('svc.integration.updated'),
  kind: 'integration',
  action: 'updated',
  document: '{"unique_key":"github","provider":"github"}',
  revision: atMillis,
};

const syncChanged = {
  ...common('svc.sync.checkpoint_saved'),
  sync_name: 'contacts',
  variant: 'base',
  action: 'checkpoint_saved',
  connection_uid,
  models: ['Contact', 'Account'],
  frequency: '1h',
  state: 'started',
  checkpoint: '{"since":"2026-09-21T00:00:00Z"}',
  next_due_at: at + 3_600_000_000,
};

const asked = { what: 'request', method: 'GET', path: '/contacts', status: 200, duration_ms: 84 };
const runChanged: RunChanged = {
  ...common('svc.run.failed'),
  kind: 'sync',
  function: 'contacts',
  function_version: '1.2.0',
  action: 'failed',
  attempt: 2,
  connection_uid,
  variant: 'base',
  models: ['Contact'],
  trigger: 'schedule',
  start_by: at + 3_600_000_000,
  empty_cache: true,
  is_initial: true,
  started_at: at - 4_000_000,
  checkpoint_from: '{"since":"2026-09-20T00:00:00Z"}',
  checkpoint_to: '{"since":"2026-09-21T00:00:00Z"}',
  counts: [{ model: 'Contact', added: 10, updated: 4, deleted: 1, unchanged: 985 }],
  positions: [{ model: 'Contact', partition: 3, offset: 88_001 }],
  duration_ms: 4_000,
  input_hash: '5f4dcc3b5aa765d61d8327deb882cf99',
  output_hash: '098f6bcd4621d373cade4e832627b4f6',
  body_partition: 1,
  body_offset: 512,
  error_code: 'script_http_error',
  error_message: 'The provider answered 500.',
  log_id: run_id,
  timeline: [{ ...quietEntry, at, ...asked }],
};

const webhookOut: DeliveryStep & ReturnType<typeof common> = {
  ...common('svc.webhook.attempt_failed'),
  message_id: '0198c1a2-7d30-5000-8000-000000000013',
  endpoint_id: 'primary',
  action: 'attempt_failed',
  event_kind: 'sync',
  body: sealed('{"type":"sync"}'),
  address: sealed('https://hooks.example'),
  headers: sealed('{"x-event":"push"}'),
  attempt: 1,
  status: 503,
  latency_ms: 120,
  next_attempt_at: at + 3_000_000,
  error_code: 'timeout',
  replay_of: '0198c1a2-7d30-5000-8000-000000000014',
};

const webhookIn: IncomingStep & ReturnType<typeof common> = {
  ...common('svc.webhook-in.accepted'),
  delivery_id: '0198c1a2-7d30-5000-8000-000000000015',
  disposition: 'accepted',
  reason: 'no_subscription',
  status: 200,
  provider_delivery_id: 'd-17',
  matched_connections: ['user-42', 'user-43'],
  subscription: 'push',
  run_ids: [run_id],
  headers: { 'x-github-event': 'push' },
  body: sealed('{"action":"opened"}'),
  request: sealed('{"headers":{},"query":""}'),
  body_hash: '5f4dcc3b5aa765d61d8327deb882cf99',
  received_at: at,
  refused_count: 100,
};

const logEntry = {
  ...common('svc.log.entry'),
  operation_id: run_id,
  level: 'error',
  message: 'The run failed.',
  operation_type: 'sync:run',
  state: 'failed',
  started_at: at - 2_000_000,
  function: 'contacts',
  source: 'internal',
  context: '{"status":500}',
};

const typedTopicProgress: TypedTopicProgress = {
  opt_in: '0198c1a2-7d30-7000-8000-000000000009',
  next: 12_345,
  is_live: true,
  owner_epoch: 3,
};

const deadLetter = {
  ...common('svc.dead-letter.created'),
  consumer: 'svc.record-owners',
  topic: 'svc.internal.record-commands.v1',
  partition: 2,
  offset: 4_294_967_297,
  attempts: 5,
  error_code: 'server_error',
  error_message: 'TypeError',
  letter_id: '0192f0c1-7a3b-7c4d-8e5f-001122334455',
  order_key: 'retry/key:17/once',
  key: Buffer.from(`${environment_id}/${connection_uid}/Contact/base`),
  value: Buffer.from([0, 0, 0, 0, 7, 1, 2, 3]),
  headers: { 'content-type': Buffer.from('application/avro') },
};

const projectionChanged: ProjectionMessage = {
  ...common('svc.projection.verified'),
  action: 'verified',
  schema_version: 2,
  generation: 3,
  position: { '0': 4_294_967_296, '1': 7 },
  end_position: { '0': 4_294_967_296, '1': 7 },
  rows: 100_000_000,
  active_generation: 1,
  generations: [
    {
      generation: 1,
      schema_version: 1,
      state: 'active',
      is_paused: false,
      pace_percent: 100,
      switched_at: at,
      verification_id: null,
    },
    {
      generation: 3,
      schema_version: 2,
      state: 'ready',
      is_paused: true,
      pace_percent: 75,
      switched_at: null,
      verification_id: '0198c1a2-7d30-7000-8000-000000000031',
    },
  ],
};

export const fullValues: Readonly<Partial<Record<TopicName, object>>> = {
  'svc.records.v1': recordChange,
  'svc.internal.record-commands.v1': recordCommand,
  'svc.internal.streams.v1': streamHead,
  'svc.internal.typed-topics.v1': typedTopicProgress,
  'svc.internal.commands.v1': command,
  'svc.internal.control.v1': entity,
  'svc.internal.replies.v1': reply,
  'svc.internal.keys.v1': wrappedKey,
  'svc.internal.run-bodies.v1': runBody,
  'svc.connections.v1': connectionChanged,
  'svc.credentials.v1': credentialsChanged,
  'svc.config.v1': configChanged,
  'svc.syncs.v1': syncChanged,
  'svc.runs.v1': runChanged,
  'svc.webhooks-in.v1': webhookIn,
  'svc.webhooks-out.v1': webhookOut,
  'svc.logs.v1': logEntry,
  'svc.audit.v1': { ...common('svc.audit.event'), ...audited },
  'svc.projections.v1': projectionChanged,
  'svc.dead-letters.v1': deadLetter,
};
