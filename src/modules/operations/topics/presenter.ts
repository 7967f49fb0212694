import { z } from 'zod';
import { jsonObject } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { anyJson, data, timestamp } from '#http/responses.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { isoMillis } from '#kernel/time.ts';
import type { PartitionRange } from '../consumer-groups/positions.ts';
import { settingsOf } from './catalogue.ts';
import type { GroupLag, MessagesPage, ShownMessage, TopicFacts } from './handlers.ts';
import { headersSchema } from './headers.ts';
import { prefixed } from './prefix.ts';

const group = representation<GroupLag>()({
  name: z.string().describe('Name of the consumer group.'),
  lag: z.int(),
});

/** Offsets have holes: `end - start` is an upper bound of the messages. */
const range = representation<PartitionRange>()({
  partition: z.int(),
  start: z.int().describe('Offset of the first message that is left.'),
  end: z.int().describe('Offset after the last message.'),
});

/** A topic, and the first part of the names of topics in this installation. */
type PrefixedTopic = TopicFacts & { readonly prefix: string };

const summaryFields = {
  name: z.string().meta({ description: 'Name of the topic.', examples: ['svc.records.v1'] }),
  address: [
    z.string().describe('Name of the topic in Kafka, with the prefix of this installation.'),
    ({ name, prefix }: PrefixedTopic) => prefixed(name, prefix),
  ],
  purpose: z.string().describe('Content of the topic.'),
  key: z.string().describe('Content of the key of its messages.'),
  partitions: [
    z.int().describe('Number of partitions.'),
    ({ ranges }: PrefixedTopic) => ranges.length,
  ],
  settings: [
    jsonObject.describe('Settings of the topic in Kafka.'),
    ({ cleanup }: PrefixedTopic) => settingsOf(cleanup),
  ],
  messages_max: [
    z.int().describe('Largest possible number of messages: compaction leaves gaps.'),
    ({ ranges }: PrefixedTopic) => ranges.reduce((sum, { start, end }) => sum + end - start, 0),
  ],
  groups: [
    z.array(group.schema).describe('Consumer groups of the service that read it.'),
    ({ groups }: PrefixedTopic) => groups.map(group.of),
  ],
} as const;

const summary = representation<PrefixedTopic>()(summaryFields);
const detail = representation<PrefixedTopic>()({
  ...summaryFields,
  ranges: [z.array(range.schema), ({ ranges }) => ranges.map(range.of)],
  value_schema: [jsonObject.describe('Avro schema of the values.'), ({ schema }) => schema()],
  headers_schema: [
    jsonObject.describe('JSON Schema of the headers.'),
    ({ kind }) => headersOf(kind),
  ],
});

function headersOf(kind: PrefixedTopic['kind']): JsonObject {
  const { required, properties, ...rest } = headersSchema(kind);
  const fields = Object.entries(properties).map(([name, schema]) => [name, { ...schema }] as const);
  return { ...rest, required, properties: Object.fromEntries(fields) };
}

export const topicsShape = data(z.array(summary.schema.meta({ id: 'Topic' })));
export const oneTopicShape = data(detail.schema.meta({ id: 'TopicWithSchema' }));

export const presentTopic = (facts: TopicFacts, prefix: string) => summary.of({ ...facts, prefix });
export const presentTopicWithSchema = (facts: TopicFacts, prefix: string) =>
  detail.of({ ...facts, prefix });

/** The end of the year 9999: other producers may write times that RFC 3339 does not have. */
const timeMax = 253_402_300_799_999;

const message = representation<ShownMessage>()({
  partition: z.int(),
  offset: z.int(),
  timestamp: [
    timestamp.nullable().describe('Time of the message (RFC 3339); null if it has none.'),
    ({ timestamp: at }) => (at >= 0 && at <= timeMax ? isoMillis(at) : null),
  ],
  key: z.string(),
  headers: z.record(z.string(), z.string()),
  kind: z
    .enum(['value', 'tombstone', 'unreadable'])
    .describe('Whether there is a value, a deletion, or bytes that the schema does not fit.'),
  schema_id: z.int().nullable().describe('Id of the schema; null without one.'),
  bytes: [z.int().describe('Size of the message in bytes.'), ({ written }) => written],
  value: anyJson.describe('The decoded value; null without one.'),
  error: z.string().nullable().describe('Why the value is unreadable; null otherwise.'),
});

export const messagesShape = z.strictObject({
  data: z.array(message.schema.meta({ id: 'TopicMessage' })),
  ranges: z.array(range.schema),
  next_cursor: z.string().nullable(),
});

export const presentMessages = ({ messages, ranges, nextCursor }: MessagesPage) => ({
  data: messages.map(message.of),
  ranges: ranges.map(range.of),
  next_cursor: nextCursor,
});
