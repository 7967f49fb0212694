import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { jsonObject, text, wholeNumber } from '#http/fields.ts';
import { json } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { defineRoute } from '../services.ts';
import { asyncapiDocument } from './asyncapi.ts';
import { findTopic, listTopics, messagesOfTopic } from './handlers.ts';
import {
  messagesShape,
  oneTopicShape,
  presentMessages,
  presentTopic,
  presentTopicWithSchema,
  topicsShape,
} from './presenter.ts';

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
    return { status: 200, body: asyncapiDocument({ version, floor, ownedPartitions, prefix }) };
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
