import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey, uuidV5 } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import { functionEntity } from '#modules/functions/functions/entity.ts';
import { recordsTopic, type RecordChange } from '#modules/records/model/events.ts';
import type { EventLog, Headers, Message } from '#ports/event-log.ts';
import type { Codec, Schemas } from '#ports/schemas.ts';
import { heartbeatCleanup, typedTopicCleanup } from '#streams/topics.ts';
import { typedTopicEntity, typedTopicRef } from '../entity.ts';
import {
  structKey,
  timesOf,
  typedSchema,
  type Envelope,
  type Row,
  type Snapshot,
  type TypedSchema,
} from '../envelope.ts';
import { heartbeatSchema, type Heartbeat } from '../heartbeat.ts';
import { heartbeatTopicOf, topicOf } from '../names.ts';
import { allTypedTopics, schemaOfModel } from '../queries.ts';
import type { TypedTopic } from '../typed-topic.ts';

/** A model that is opted in, with the JSON schema that declares it now; null when no sync does. */
export interface Target {
  readonly typed: TypedTopic;
  readonly models: JsonObject | null;
}

/** A target whose topic and schema exist. */
export interface OpenTarget extends Target {
  readonly topic: string;
  readonly codec: Codec<Envelope>;
  readonly row: TypedSchema['row'];
  /** Null: it has none. */
  readonly heartbeats: HeartbeatTopic | null;
}

interface HeartbeatTopic {
  readonly topic: string;
  readonly codec: Codec<Heartbeat>;
  readonly everyMs: number;
}

/** The opted-in models in the view of this node. */
export class Targets implements Disposable {
  readonly #control: ControlPlane;
  readonly #unsubscribe: () => void;
  #list: readonly Target[];
  #text: string;
  #changed = new AbortController();

  constructor(control: ControlPlane) {
    this.#control = control;
    this.#list = targetsOf(control);
    this.#text = targetsText(this.#list);
    this.#unsubscribe = control.view.onChange([typedTopicEntity, functionEntity], () =>
      this.#look(),
    );
  }

  /** `changed` aborts when the list is out of date. */
  current(): { readonly list: readonly Target[]; readonly changed: AbortSignal } {
    return { list: this.#list, changed: this.#changed.signal };
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #look(): void {
    const list = targetsOf(this.#control);
    const text = targetsText(list);
    if (text === this.#text) return;
    this.#list = list;
    this.#text = text;
    this.#changed.abort();
    this.#changed = new AbortController();
  }
}

function targetsOf(control: ControlPlane): Target[] {
  return allTypedTopics(control).map((typed) => {
    const { environmentUid, integrationKey, model } = typed;
    return { typed, models: schemaOfModel(control, environmentUid, integrationKey, model) };
  });
}

/** The relevant fields of a target, without the newest major version, which is looked up. */
const targetsText = (list: readonly Target[]): string =>
  JSON.stringify(list.map(({ typed, models }) => [{ ...typed, major: 0 }, models]));

interface OpenDeps extends LogPorts {
  readonly control: Pick<ControlPlane, 'enqueue'>;
}

/**
 * Creates the topic and registers the schema: in the newest major version, or in a new one when the earlier schemas of
 * that version are incompatible with the current model. Earlier versions are never reused. Null: the opt-in ended
 * before the topic was created.
 */
export async function openTarget(deps: OpenDeps, target: Target): Promise<OpenTarget | null> {
  const { log, schemas, control } = deps;
  const { typed, models } = target;
  const { address, model, environmentUid, integrationKey } = typed;
  const { definition, row } = typedSchema(address, model, models);
  const newest = await newestMajor(log, address);
  if (newest === 0 && typed.endedAt !== null) return null;
  let major = Math.max(newest, 1);
  let codec = await codecOf(schemas, topicOf(address, major), definition);
  while (codec === null) codec = await codecOf(schemas, topicOf(address, ++major), definition);
  const topic = topicOf(address, major);
  const partitions = await log.partitions(recordsTopic);
  if (major > newest) {
    await log.ensureTopics([{ name: topic, partitions, cleanup: typedTopicCleanup }]);
  }
  if (major > typed.major) {
    const ref = typedTopicRef(environmentUid, integrationKey, model);
    await control.enqueue(ref, { type: 'Opened', major }, { actor: 'system' });
  }
  const heartbeats = await openHeartbeats(deps, typed, partitions);
  return { ...target, topic, codec, row, heartbeats };
}

/** Creates the topic of the heartbeats where the opt-in asks for them. */
async function openHeartbeats(
  { log, schemas }: OpenDeps,
  { address, heartbeatS, endedAt }: TypedTopic,
  partitions: number,
): Promise<HeartbeatTopic | null> {
  if (heartbeatS === undefined || endedAt !== null) return null;
  const topic = heartbeatTopicOf(address);
  const codec = await schemas.codecOf<Heartbeat>(topic, heartbeatSchema(address));
  await log.ensureTopics([{ name: topic, partitions, cleanup: heartbeatCleanup }]);
  return { topic, codec, everyMs: heartbeatS * 1000 };
}

async function newestMajor(log: EventLog, address: string): Promise<number> {
  for (let major = 1; ; major++) {
    try {
      await log.partitions(topicOf(address, major));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'unknown_topic') return major - 1;
      throw error;
    }
  }
}

/** Null when this schema is incompatible with the topic's earlier schemas. */
async function codecOf(
  schemas: Schemas,
  topic: string,
  definition: object,
): Promise<Codec<Envelope> | null> {
  try {
    return await schemas.codecOf<Envelope>(topic, definition);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'incompatible_schema') return null;
    throw error;
  }
}

interface MessageContext {
  readonly clock: Clock;
  /** Of the gateway. */
  readonly version: string;
  /** Other than `false`: existing records are read. */
  readonly snapshot: Snapshot;
  /** Whether the records were removed because the connection was deleted. */
  readonly isErased: boolean;
  /** The payload before the change, where the opt-in asks for it and there is one. */
  readonly previous: Uint8Array | null;
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
  const { address, hasStructKey } = target.typed;
  const key = hasStructKey
    ? structKey(address, connectionUid, variant, recordId)
    : joinKey(connectionUid, variant, recordId);
  const positionHeaders = {
    'svc-stream': streamKeyOfChange(change),
    'svc-seq': String(change.stream_seq),
  };
  const fields: Headers = {
    ce_specversion: '1.0',
    ce_id: uuidV5(change.event_id, [target.topic, op, ...snapshotName(target, context)].join(' ')),
    ce_type: types[op],
    ce_source: headers['ce_source'] ?? '',
    'content-type': 'application/avro',
    ...positionHeaders,
  };
  const value = target.codec.encode(envelopeOf(change, op, target, context));
  const message = { key, value, headers: fields };
  return op === 'd' ? [message, { key, value: null, headers: positionHeaders }] : [message];
}

/** A message of a snapshot on request is another one than that of the filling. */
const snapshotName = ({ typed }: OpenTarget, { snapshot }: MessageContext): string[] =>
  snapshot === 'incremental' ? [typed.snapshot ?? ''] : [];

function opOf(
  { action, payload_encoding: encoding }: RecordChange,
  { typed }: OpenTarget,
  { snapshot, isErased }: MessageContext,
): Envelope['op'] | null {
  if (action === 'purged') return isErased ? 'd' : null;
  if (typed.endedAt !== null) return null;
  if (action === 'deleted') return 'd';
  // Readers of the topic must not get a sealed payload.
  if ((action !== 'added' && action !== 'updated') || encoding !== 'json') return null;
  if (snapshot !== 'false') return 'r';
  return action === 'added' ? 'c' : 'u';
}

function envelopeOf(
  change: RecordChange,
  op: Envelope['op'],
  target: OpenTarget,
  { clock, version, snapshot, previous }: MessageContext,
): Envelope {
  const { record_id: recordId, connection_id: connectionId, variant } = change;
  const ref = { recordId, connectionId: connectionId ?? '', variant };
  const row = target.row(ref, op === 'd', payloadOf(change));
  const { hasNanoseconds } = target.typed;
  return {
    before: op === 'd' ? row : beforeOf(op, previous, (payload) => target.row(ref, false, payload)),
    after: op === 'd' ? null : row,
    source: {
      version,
      connector: 'svc',
      name: target.typed.address,
      ...timesOf(change.occurred_at, hasNanoseconds),
      snapshot,
      connection_id: ref.connectionId,
      sync: change.sync_name,
      variant,
      seq: change.stream_seq,
    },
    op,
    ...timesOf(clock.nowMicros(), hasNanoseconds),
    transaction: null,
  };
}

const beforeOf = (
  op: Envelope['op'],
  previous: Uint8Array | null,
  row: (payload: JsonObject) => Row,
): Row | null => (op === 'u' && previous !== null ? row(parsed(previous)) : null);

function payloadOf({ payload, payload_encoding: encoding }: RecordChange): JsonObject | null {
  if (payload === null || encoding !== 'json') return null;
  return parsed(payload);
}

function parsed({ buffer, byteOffset, byteLength }: Uint8Array): JsonObject {
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as JsonObject;
}

const streamKeyOfChange = (change: RecordChange): string =>
  joinKey(change.environment_id, change.connection_uid, change.model, change.variant);
