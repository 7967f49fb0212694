import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { integrationKey, modelName } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { json, succeeded } from '#http/responses.ts';
import { defineRoute } from '../services.ts';
import { enableTypedTopic, endTypedTopic } from './handlers.ts';
import { oneTypedTopicShape, presentTypedTopic, typedTopicsShape } from './presenter.ts';
import { listTypedTopics } from './queries.ts';

const path = z.strictObject({ integration: integrationKey, model: modelName });

const list = defineRoute({
  method: 'GET',
  path: '/typed-topics',
  credential: 'environment',
  scopes: ['environment:*'],
  summary: 'List the models with a topic of their own.',
  answers: { 200: json('The topics.', typedTopicsShape) },
  errors: [],
  async handle({ caller, services }) {
    const { topicPrefix } = services.settings;
    const typed = listTypedTopics(services.control, caller.environmentUid);
    return { status: 200, body: { data: typed.map((one) => presentTypedTopic(one, topicPrefix)) } };
  },
});

const enable = defineRoute({
  method: 'PUT',
  path: '/typed-topics/{integration}/{model}',
  credential: 'environment',
  scopes: ['environment:*'],
  summary: 'Create a typed topic for a model.',
  description: 'It is filled with the changes that the records topic has of the model.',
  params: path,
  answers: { 200: json('The topic.', oneTypedTopicShape) },
  errors: ['not_found', 'conflict'],
  async handle(input) {
    const { params, caller, services } = input;
    const { environmentUid } = caller;
    const ref = { environmentUid, integrationKey: params.integration, model: params.model };
    const enabled = await enableTypedTopic(services, ref, askOptions(input));
    return {
      status: 200,
      body: { data: presentTypedTopic(enabled, services.settings.topicPrefix) },
    };
  },
});

const end = defineRoute({
  method: 'DELETE',
  path: '/typed-topics/{integration}/{model}',
  credential: 'environment',
  scopes: ['environment:*'],
  summary: 'Stop the typed topic of a model.',
  description: 'It gets no further changes; its messages expire within 30 days.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    const { environmentUid } = caller;
    const ref = { environmentUid, integrationKey: params.integration, model: params.model };
    await endTypedTopic(services, ref, askOptions(input));
    return { status: 200, body: { success: true } };
  },
});

export const typedTopicRoutes: readonly AnyRoute[] = [list, enable, end];
