import { json } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute } from '../services.ts';
import { jsonObject } from '../../../http/fields.ts';
import { asyncapiDocument } from './asyncapi.ts';

const asyncapi = defineRoute({
  method: 'GET',
  path: '/asyncapi.json',
  credential: 'none',
  scopes: [],
  summary: 'The public topics as an AsyncAPI document.',
  answers: { 200: json('The document.', jsonObject) },
  errors: [],
  async handle({ services }) {
    const { version, partitions: ownedPartitions, topicPrefix: prefix } = services.settings;
    return { status: 200, body: asyncapiDocument({ version, ownedPartitions, prefix }) };
  },
});

export const topicRoutes: readonly AnyRoute[] = [asyncapi];
