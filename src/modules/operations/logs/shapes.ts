import { z } from 'zod';
import { anyJson, data, timestamp } from '../../../http/responses.ts';

const failure = z.strictObject({ name: z.string(), message: z.string() });

/** The request to a provider, in an operation or a message. */
const facts = {
  error: failure.optional(),
  request: z
    .strictObject({ method: z.string(), url: z.string(), headers: z.strictObject({}) })
    .optional(),
  response: z.strictObject({ code: z.int(), headers: z.strictObject({}) }).optional(),
  retry: z.strictObject({ attempt: z.int() }).optional(),
  meta: anyJson.optional(),
};

const level = z.string().meta({ examples: ['info'] });
const state = z.string().meta({ examples: ['success'] });

const operationShape = z
  .strictObject({
    id: z.string(),
    operation: z.strictObject({
      type: z.string().meta({ examples: ['sync'] }),
      action: z.string().meta({ examples: ['run'] }),
    }),
    state,
    level,
    message: z.string(),
    source: z.literal('internal'),
    environmentId: z.int().nullable(),
    environmentName: z.string().nullable(),
    providerName: z.string().nullable(),
    integrationId: z.string().nullable(),
    integrationName: z.string().nullable(),
    connectionId: z.string().nullable(),
    connectionName: z.string().nullable(),
    endUserId: z.string().nullable(),
    endUserName: z.string().nullable(),
    syncConfigId: z.string().nullable(),
    syncConfigName: z.string().nullable(),
    runId: z.string().nullable(),
    ...facts,
    createdAt: timestamp,
    updatedAt: timestamp,
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
    expiresAt: timestamp,
    durationMs: z.int().nullable(),
  })
  .meta({ id: 'LogOperation' });

const messageShape = z
  .strictObject({
    id: z.string(),
    parentId: z.string(),
    source: z.string().meta({ examples: ['user'] }),
    level,
    type: z.enum(['log', 'http']),
    message: z.string(),
    context: z.enum(['script', 'proxy', 'webhook', 'auth']).optional(),
    state: state.optional(),
    ...facts,
    durationMs: z.number().optional(),
    createdAt: timestamp,
  })
  .meta({ id: 'LogMessage' });

export const oneOperationShape = data(operationShape);

export const operationsShape = z.strictObject({
  data: z.array(operationShape),
  pagination: z.strictObject({ total: z.int(), cursor: z.string().nullable() }),
});

export const messagesShape = z.strictObject({
  data: z.array(messageShape),
  pagination: z.strictObject({
    total: z.int(),
    cursorBefore: z.string().nullable(),
    cursorAfter: z.string().nullable(),
  }),
});
