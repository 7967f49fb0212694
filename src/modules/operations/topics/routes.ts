import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { jsonObject, text, wholeNumber } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { json, anyJson, data, timestamp } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { isoMillis } from '#kernel/time.ts';
import type { PartitionRange } from '../consumer-groups/positions.ts';
import { defineRoute } from '../services.ts';
import { asyncapiDocument } from './asyncapi.ts';
import { settingsOf } from './catalogue.ts';
import {
  findTopic,
  listTopics,
  messagesOfTopic,
  type GroupLag,
  type MessagesPage,
  type ShownMessage,
  type TopicFacts,
} from './handlers.ts';
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

const topicsShape = data(z.array(summary.schema.meta({ id: 'Topic' })));
const oneTopicShape = data(detail.schema.meta({ id: 'TopicWithSchema' }));

const presentTopic = (facts: TopicFacts, prefix: string) => summary.of({ ...facts, prefix });
const presentTopicWithSchema = (facts: TopicFacts, prefix: string) =>
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

const messagesShape = z.strictObject({
  data: z.array(message.schema.meta({ id: 'TopicMessage' })),
  ranges: z.array(range.schema),
  next_cursor: z.string().nullable(),
});

const presentMessages = ({ messages, ranges, nextCursor }: MessagesPage) => ({
  data: messages.map(message.of),
  ranges: ranges.map(range.of),
  next_cursor: nextCursor,
});

const asyncapi = defineRoute({
  method: 'GET',
  path: '/asyncapi.json',
  credential: 'none',
  scopes: [],
  summary: 'Get the public topics as an AsyncAPI document.',
  answers: { 200: json('The document.', jsonObject) },
  errors: [],
  async handle({ services }) {
    const { version, floor, partitions: ownedPartitions, topicPrefix: prefix } = services.settings;
    const installation = { version, floor, ownedPartitions, prefix };
    return { status: 200, body: asyncapiDocument(installation, services.addedTopics) };
  },
});

const path = z.strictObject({
  name: text(1, 255).meta({ description: 'Name of the topic.', examples: ['svc.records.v1'] }),
});

const list = defineRoute({
  method: 'GET',
  path: '/topics',
  credential: 'account',
  scopes: ['account:topics:read'],
  summary: 'List the public topics.',
  description: 'With their settings and the lag of the consumer groups of the service.',
  answers: { 200: json('The topics.', topicsShape) },
  errors: [],
  async handle({ services }) {
    const { topicPrefix } = services.settings;
    const topics = await listTopics(services);
    return { status: 200, body: { data: topics.map((one) => presentTopic(one, topicPrefix)) } };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/topics/{name}',
  credential: 'account',
  scopes: ['account:topics:read'],
  summary: 'Get a public topic.',
  description: 'With the schemas of its values and headers.',
  params: path,
  answers: { 200: json('The topic.', oneTopicShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    const topic = await findTopic(services, params.name);
    const data = presentTopicWithSchema(topic, services.settings.topicPrefix);
    return { status: 200, body: { data } };
  },
});

const positions = ['offset', 'since', 'key'] as const;

const messages = defineRoute({
  method: 'GET',
  path: '/topics/{name}/messages',
  credential: 'account',
  scopes: ['account:topics:read_messages'],
  summary: 'Search the messages of a topic.',
  description:
    'From an `offset` or a time (`since`) on, or of a `key`; otherwise the newest first. Encrypted payloads stay encrypted. The read is audited.',
  params: path,
  query: z
    .strictObject({
      partition: wholeNumber(0, 100_000).optional().describe('Only messages of this partition.'),
      offset: wholeNumber(0, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('Offset of the first message; needs `partition`.'),
      since: z.iso
        .datetime({ offset: true })
        .optional()
        .describe('Only messages from this time on (RFC 3339).'),
      key: text(1, 4_096).optional().describe('Only messages with this key.'),
      cursor: text(1, 262_144).optional(),
      limit: wholeNumber(1, limits.topicMessagesPageSizeMax).default(
        limits.topicMessagesPageSizeDefault,
      ),
    })
    .superRefine((query, context) => {
      const [, second] = positions.filter((name) => query[name] !== undefined);
      if (second === undefined) return;
      const message = 'Send one of offset, since and key.';
      context.addIssue({ code: 'custom', message, path: [second] });
    }),
  answers: { 200: json('A page of messages.', messagesShape) },
  errors: ['not_found', 'invalid_query_params', 'invalid_cursor_value'],
  async handle({ params, query, services, signal }) {
    const { since, limit } = query;
    const from = { ...query, since: since === undefined ? undefined : Date.parse(since), limit };
    const page = await messagesOfTopic(services, params.name, from, signal);
    return { status: 200, body: presentMessages(page) };
  },
});

export const topicRoutes: readonly AnyRoute[] = [asyncapi, list, get, messages];
