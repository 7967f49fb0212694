import { z } from 'zod';
import { json } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute } from '../services.ts';
import { jsonObject, text, wholeNumber } from '../../../http/fields.ts';
import { limits } from '../../../kernel/limits.ts';
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
  summary: 'The public topics as an AsyncAPI document.',
  answers: { 200: json('The document.', jsonObject) },
  errors: [],
  async handle({ services }) {
    const { version, floor, partitions: ownedPartitions, topicPrefix: prefix } = services.settings;
    return { status: 200, body: asyncapiDocument({ version, floor, ownedPartitions, prefix }) };
  },
});

const path = z.strictObject({ name: text(1, 255) });

const list = defineRoute({
  method: 'GET',
  path: '/topics',
  credential: 'account',
  scopes: ['account:topics:read'],
  summary: 'The public topics, with their settings and the lag of the groups of the service.',
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
  summary: 'One public topic with the schemas of its values and headers.',
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
  summary:
    'Messages of a topic, decoded: from an offset or a time on, of a key, or else the newest first.',
  params: path,
  query: z
    .strictObject({
      partition: wholeNumber(0, 100_000).optional(),
      offset: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
      since: z.iso.datetime({ offset: true }).optional(),
      key: text(1, 4_096).optional(),
      cursor: text(1, 262_144).optional(),
      limit: wholeNumber(1, limits.topicMessagesPageSizeMax).optional(),
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
    const { since, limit = limits.topicMessagesPageSizeDefault } = query;
    const from = { ...query, since: since === undefined ? undefined : Date.parse(since), limit };
    const page = await messagesOfTopic(services, params.name, from, signal);
    return { status: 200, body: presentMessages(page) };
  },
});

export const topicRoutes: readonly AnyRoute[] = [asyncapi, list, get, messages];
