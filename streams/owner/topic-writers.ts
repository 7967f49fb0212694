import type { DecisionMeta, EntityDefinitions, PublicMessage } from '#control-plane/entity.ts';
import {
  controlTopic,
  deadLettersTopic,
  epochHeader,
  repliesTopic,
  type EntityValue,
  type ReplyValue,
} from '#control-plane/message-codec.ts';
import { encodePublic, type PublicCodec } from '#control-plane/public-message.ts';
import { replyMessage } from '#control-plane/replies.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { EventLog, Message, PartitionMessages } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';

/** The topics of all definitions, and that of the commands that owners park. */
const publishedTopics = (definitions: EntityDefinitions): Set<string> =>
  new Set([
    deadLettersTopic,
    ...Object.values(definitions).flatMap(({ publishes = {} }) => Object.keys(publishes)),
  ]);

interface Target {
  readonly codec: PublicCodec;
  readonly partitions: number;
}

/** A message and its destination. */
export interface AddressedMessage {
  readonly topic: string;
  readonly partition: number;
  readonly message: Message;
}

/** Encodes everything that owners of the control plane write. */
export interface TopicWriters {
  entity(
    partition: number,
    key: string,
    value: EntityValue | null,
    epoch: number,
  ): AddressedMessage;
  reply(reply: Parameters<typeof replyMessage>[2]): AddressedMessage;
  published(
    message: PublicMessage,
    meta: DecisionMeta,
    causationId: string | null,
  ): AddressedMessage;
}

export async function openTopicWriters(
  log: EventLog,
  schemas: Schemas,
  definitions: EntityDefinitions,
): Promise<TopicWriters> {
  const entities = await schemas.codec<EntityValue>(controlTopic);
  const replies = await schemas.codec<ReplyValue>(repliesTopic);
  const replyPartitions = await log.partitions(repliesTopic);
  const targets = new Map<string, Target>();
  for (const topic of publishedTopics(definitions)) {
    const codec: PublicCodec = await schemas.codec(topic);
    targets.set(topic, { codec, partitions: await log.partitions(topic) });
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
      const metadata = { at: message.at ?? meta.at * 1000, actor: meta.actor, causationId };
      return { topic, partition, message: encodePublic(message, metadata, target.codec) };
    },
  };
}

/** Grouped by topic and partition, each in the order given. */
export function placed(messages: readonly AddressedMessage[]): PartitionMessages[] {
  const groups = new Map<string, { topic: string; partition: number; messages: Message[] }>();
  for (const { topic, partition, message } of messages) {
    const name = `${topic}/${partition}`;
    const group = groups.get(name) ?? { topic, partition, messages: [] };
    group.messages.push(message);
    groups.set(name, group);
  }
  return [...groups.values()];
}
