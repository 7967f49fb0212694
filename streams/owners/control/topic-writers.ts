import type { DecisionMeta, PublicMessage } from '../../../src/control-plane/entity.ts';
import { replyMessage } from '../../../src/control-plane/replies.ts';
import {
  controlTopic,
  deadLettersTopic,
  epochHeader,
  repliesTopic,
  type EntityValue,
  type ReplyValue,
} from '../../../src/control-plane/wire.ts';
import { uuidV7 } from '../../../src/kernel/ids.ts';
import { partitionOf } from '../../../src/kernel/partition.ts';
import { isoMicros } from '../../../src/kernel/time.ts';
import type { EventLog, Headers, Message, Placed } from '../../../src/ports/event-log.ts';
import type { Codec, Schemas } from '../../../src/ports/schemas.ts';
import type { TopicName } from '../../topics.ts';

/** Where entities publish: a kind that needs another topic adds it here. */
const publicTopics = [
  'svc.config.v1',
  'svc.connections.v1',
  'svc.credentials.v1',
  'svc.syncs.v1',
  'svc.runs.v1',
  deadLettersTopic,
] as const satisfies readonly TopicName[];

type Value = Readonly<Record<string, unknown>>;

interface Target {
  readonly codec: Codec<Value>;
  readonly partitions: number;
}

/** A message and where it goes. */
export interface Addressed {
  readonly topic: string;
  readonly partition: number;
  readonly message: Message;
}

/** Encodes everything that owners of the control plane write. */
export interface TopicWriters {
  entity(partition: number, key: string, value: EntityValue | null, epoch: number): Addressed;
  reply(reply: Parameters<typeof replyMessage>[2]): Addressed;
  published(message: PublicMessage, meta: DecisionMeta, causationId: string | null): Addressed;
}

export async function openTopicWriters(log: EventLog, schemas: Schemas): Promise<TopicWriters> {
  const entities = await schemas.codec<EntityValue>(controlTopic);
  const replies = await schemas.codec<ReplyValue>(repliesTopic);
  const replyPartitions = await log.partitions(repliesTopic);
  const targets = new Map<string, Target>();
  for (const topic of publicTopics) {
    const partitions = await log.partitions(topic);
    targets.set(topic, { codec: await schemas.codec<Value>(topic), partitions });
  }

  return {
    entity(partition, key, value, epoch) {
      const headers = { 'content-type': 'application/avro', [epochHeader]: String(epoch) };
      const encoded = value === null ? null : entities.encode(value);
      return { topic: controlTopic, partition, message: { key, value: encoded, headers } };
    },
    reply: (reply) => replyMessage(replies, replyPartitions, reply),
    published(message, meta, causationId) {
      const target = targets.get(message.topic);
      if (target === undefined) throw new Error(`no entity may publish to ${message.topic}`);
      const { topic, key, partitionBy = key } = message;
      const partition = partitionOf(partitionBy, target.partitions);
      return { topic, partition, message: toMessage(message, meta, causationId, target.codec) };
    },
  };
}

/** With the headers and the common fields of every public message (contract/topics.md sections 1 and 3). */
function toMessage(
  message: PublicMessage,
  meta: DecisionMeta,
  causationId: string | null,
  codec: Codec<Value>,
): Message {
  const { key, type, environmentUid, integration, connectionId, runId, value } = message;
  const id = uuidV7(meta.at);
  const headers: Headers = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_type: type,
    ce_source: sourceOf(message),
    ce_subject: key,
    ce_time: isoMicros(meta.at * 1000),
    ...(causationId === null ? {} : { ce_causationid: causationId }),
    'content-type': 'application/avro',
  };
  if (value === null) return { key, value: null, headers };
  const common = {
    event_id: id,
    type,
    occurred_at: meta.at * 1000,
    environment_id: environmentUid,
    integration: integration ?? null,
    connection_id: connectionId ?? null,
    actor: meta.actor,
    run_id: runId ?? null,
  };
  return { key, value: codec.encode({ ...common, ...value }), headers };
}

function sourceOf({ environmentUid, integration, connectionId }: PublicMessage): string {
  const parts = [`/environments/${encodeURIComponent(environmentUid)}`];
  if (integration !== undefined) parts.push(`integrations/${encodeURIComponent(integration)}`);
  if (connectionId !== undefined) parts.push(`connections/${encodeURIComponent(connectionId)}`);
  return parts.join('/');
}

/** Grouped by topic and partition, each in the order given. */
export function placed(messages: readonly Addressed[]): Placed[] {
  const groups = new Map<string, { topic: string; partition: number; messages: Message[] }>();
  for (const { topic, partition, message } of messages) {
    const name = `${topic}/${partition}`;
    const group = groups.get(name) ?? { topic, partition, messages: [] };
    group.messages.push(message);
    groups.set(name, group);
  }
  return [...groups.values()];
}
