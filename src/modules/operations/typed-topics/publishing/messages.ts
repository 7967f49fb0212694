import { joinKey, uuidV5 } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import type { Headers, Message } from '#ports/event-log.ts';
import type { Envelope } from '../envelope.ts';
import type { OpenTarget } from './targets.ts';

export interface MessageContext {
  readonly clock: Clock;
  /** Of the gateway. */
  readonly version: string;
  /** A backfill: the existing records are read. */
  readonly isBackfill: boolean;
  /** Whether the records were removed because the connection was deleted. */
  readonly isErased: boolean;
}

const types = {
  c: 'svc.cdc.created',
  u: 'svc.cdc.updated',
  d: 'svc.cdc.deleted',
  r: 'svc.cdc.read',
} as const satisfies Record<Envelope['op'], string>;

/**
 * The messages of a change on the topic of its model (docs/reference/topics.md#typed-topics): a delete is followed by a
 * tombstone; prune, restore and purge concern the cache only and publish nothing.
 */
export function messagesOf(
  change: RecordChange,
  headers: Headers,
  target: OpenTarget,
  context: MessageContext,
): Message[] {
  const op = opOf(change, target, context);
  if (op === null) return [];
  const { connection_uid: connectionUid, variant, record_id: recordId } = change;
  const key = joinKey(connectionUid, variant, recordId);
  const positionHeaders = {
    'svc-stream': streamKeyOfChange(change),
    'svc-seq': String(change.stream_seq),
  };
  const fields: Headers = {
    ce_specversion: '1.0',
    ce_id: uuidV5(change.event_id, `${target.topic} ${op}`),
    ce_type: types[op],
    ce_source: headers['ce_source'] ?? '',
    'content-type': 'application/avro',
    ...positionHeaders,
  };
  const value = target.codec.encode(envelopeOf(change, op, target, context));
  const message = { key, value, headers: fields };
  return op === 'd' ? [message, { key, value: null, headers: positionHeaders }] : [message];
}

function opOf(
  { action, payload_encoding: encoding }: RecordChange,
  { typed }: OpenTarget,
  { isBackfill, isErased }: MessageContext,
): Envelope['op'] | null {
  if (action === 'purged') return isErased ? 'd' : null;
  if (typed.endedAt !== null) return null;
  if (action === 'deleted') return 'd';
  // Readers of the topic must not get a sealed payload.
  if ((action !== 'added' && action !== 'updated') || encoding !== 'json') return null;
  if (isBackfill) return 'r';
  return action === 'added' ? 'c' : 'u';
}

function envelopeOf(
  change: RecordChange,
  op: Envelope['op'],
  target: OpenTarget,
  { clock, version, isBackfill }: MessageContext,
): Envelope {
  const { record_id: recordId, connection_id: connectionId, variant } = change;
  const ref = { recordId, connectionId: connectionId ?? '', variant };
  const row = target.row(ref, op === 'd', payloadOf(change));
  const now = clock.nowMicros();
  return {
    before: op === 'd' ? row : null,
    after: op === 'd' ? null : row,
    source: {
      version,
      connector: 'svc',
      name: target.typed.address,
      ts_ms: Math.floor(change.occurred_at / 1000),
      snapshot: isBackfill ? 'true' : 'false',
      connection_id: ref.connectionId,
      sync: change.sync_name,
      variant,
      seq: change.stream_seq,
    },
    op,
    ts_ms: Math.floor(now / 1000),
    ts_us: now,
    transaction: null,
  };
}

function payloadOf({ payload, payload_encoding: encoding }: RecordChange): JsonObject | null {
  if (payload === null || encoding !== 'json') return null;
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString();
  return JSON.parse(text) as JsonObject;
}

const streamKeyOfChange = (change: RecordChange): string =>
  joinKey(change.environment_id, change.connection_uid, change.model, change.variant);
