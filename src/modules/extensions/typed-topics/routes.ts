import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { integrationKey, modelName, text } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, succeeded, data, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import { defineRoute } from '../../operations/services.ts';
import { prefixed } from '../../operations/topics/prefix.ts';
import { typedTopicRef, type TypedTopicEntity } from './entity.ts';
import { topicOf, addressOf, heartbeatTopicOf, topicNameCharsMax } from './names.ts';
import { listTypedTopics, allTypedTopics, schemaOfModel } from './queries.ts';
import type { TypedTopic, TypedTopicFormat } from './typed-topic.ts';

interface Deps {
  readonly control: ControlPlane;
}

/** A model of an integration in the environment of the caller. */
interface ModelIdentity {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly model: string;
}

/**
 * Opts a model in; idempotent.
 * @throws GatewayError `not_found` (integration or model), `conflict` (sealed payloads, a topic of that name),
 *   `invalid_uri_params` (the name would be too long)
 */
export async function enableTypedTopic(
  { control }: Deps,
  named: ModelIdentity,
  format: TypedTopicFormat & Pick<TypedTopic, 'snapshot' | 'heartbeatS'>,
  options: ExecuteOptions,
): Promise<TypedTopic> {
  const { environmentUid, integrationKey, model } = named;
  await requireIntegration(control, environmentUid, integrationKey);
  await requireModel({ control }, named);
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment === null) throw new GatewayError('unknown_environment');
  refuseSealed(environment);
  const address = addressOf(environment.name, integrationKey, model);
  refuseLongName(format.heartbeatS ? heartbeatTopicOf(address) : topicOf(address, 99));
  refuseForeign({ control }, environmentUid, address);
  const names = { environmentUid, integrationKey, model, address, ...format };
  const body: CommandOf<TypedTopicEntity> = { type: 'Enable', uid: randomUUID(), ...names };
  const ref = typedTopicRef(environmentUid, integrationKey, model);
  const requestHash = JSON.stringify(names);
  const enabled = await control.execute(ref, body, { requestHash, ...options });
  if (enabled === null) throw new GatewayError('server_error');
  return enabled;
}

/** @throws GatewayError `not_found` */
async function endTypedTopic(
  { control }: Deps,
  { environmentUid, integrationKey, model }: ModelIdentity,
  options: ExecuteOptions,
): Promise<void> {
  await control.execute(
    typedTopicRef(environmentUid, integrationKey, model),
    { type: 'End' },
    options,
  );
}

async function requireModel({ control }: Deps, named: ModelIdentity): Promise<void> {
  const { environmentUid, integrationKey, model } = named;
  const isDeclared = () => schemaOfModel(control, environmentUid, integrationKey, model) !== null;
  if (isDeclared()) return;
  await control.view.caughtUp();
  if (isDeclared()) return;
  const message = `No deployed sync of the integration "${integrationKey}" declares the model "${model}".`;
  throw new GatewayError('not_found', { message });
}

/** A typed topic would publish payloads in plain text. */
function refuseSealed({ name, payloadMode }: Environment): void {
  if (payloadMode === 'plain') return;
  const message =
    `The environment "${name}" seals its payloads, and a typed topic would show them in clear. ` +
    'Set payload_mode to plain first.';
  throw new GatewayError('conflict', { message });
}

function refuseLongName(topic: string): void {
  if (topic.length <= topicNameCharsMax) return;
  const message = `The topic name ${topic} has more than ${topicNameCharsMax} characters.`;
  throw new GatewayError('invalid_uri_params', {
    message,
    errors: [{ code: 'too_big', message, path: ['model'] }],
  });
}

/** Environments share the log: a topic name of a deleted environment is still reserved. */
function refuseForeign({ control }: Deps, environmentUid: string, address: string): void {
  const isForeign = (one: TypedTopic) =>
    one.address === address && one.environmentUid !== environmentUid;
  if (!allTypedTopics(control).some(isForeign)) return;
  const message = `The topic ${address} still contains records of another environment.`;
  throw new GatewayError('conflict', { message });
}

const keyFormat = z.enum(['text', 'struct']);

const shown = representation<TypedTopic & { readonly topic: string }>()({
  provider_config_key: [z.string(), ({ integrationKey }) => integrationKey],
  model: z.string(),
  topic: z.string(),
  subject: [
    z.string().describe('Subject of its schema in the registry.'),
    ({ topic }) => `${topic}-value`,
  ],
  before: [
    z.boolean().describe('Whether updates have the row as it was.'),
    ({ hasBefore }) => hasBefore ?? false,
  ],
  ts_ns: [
    z.boolean().describe('Whether times are in nanoseconds too.'),
    ({ hasNanoseconds }) => hasNanoseconds ?? false,
  ],
  key: [
    keyFormat.describe(
      'Whether keys are text, or a structure for the JSON converter of Kafka Connect.',
    ),
    ({ hasStructKey }) => (hasStructKey ? 'struct' : 'text'),
  ],
  snapshot: [
    z.string().nullable().describe('Name of the last snapshot that was requested.'),
    ({ snapshot }) => snapshot ?? null,
  ],
  heartbeat_s: [
    z.int().nullable().describe('Seconds between heartbeats; null: none.'),
    ({ heartbeatS }) => heartbeatS ?? null,
  ],
  enabled_at: [
    timestamp.describe('Time from which it is written (RFC 3339).'),
    ({ enabledAt }) => isoMillis(enabledAt),
  ],
});

const presentTypedTopic = (typed: TypedTopic, prefix: string) =>
  shown.of({ ...typed, topic: prefixed(topicOf(typed.address, Math.max(typed.major, 1)), prefix) });

const typedTopicShape = shown.schema.meta({
  id: 'TypedTopic',
  examples: [
    {
      provider_config_key: 'crm-prod',
      model: 'Contact',
      topic: 'svc.cdc.dev.crm-prod.Contact.v1',
      subject: 'svc.cdc.dev.crm-prod.Contact.v1-value',
      before: false,
      ts_ns: false,
      key: 'text',
      snapshot: null,
      heartbeat_s: null,
      enabled_at: '2026-02-01T08:00:00.000Z',
    },
  ],
});

const oneTypedTopicShape = data(typedTopicShape);
const typedTopicsShape = data(z.array(typedTopicShape));

const path = z.strictObject({ integration: integrationKey, model: modelName });

const list = defineRoute({
  method: 'GET',
  path: '/typed-topics',
  credential: 'environment',
  scopes: ['environment:typed_topics:read'],
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
  scopes: ['environment:typed_topics:write'],
  summary: 'Create a typed topic for a model.',
  description: 'It is filled with the changes that the records topic has of the model.',
  params: path,
  query: z.strictObject({
    before: z
      .enum(['true', 'false'])
      .optional()
      .describe('Whether updates have the row as it was, at the cost of memory. Default: false.'),
    ts_ns: z
      .enum(['true', 'false'])
      .optional()
      .describe(
        'Whether times are in nanoseconds too, which exceed the exact numbers of JavaScript. Default: false.',
      ),
    key: keyFormat.optional().describe('Form of the keys. Default: text.'),
    snapshot: text(1, 100)
      .optional()
      .describe(
        'Name of a snapshot: unless it is the name of the last one, the topic gets the latest state of each record again.',
      ),
    heartbeat_s: z.coerce
      .number()
      .int()
      .min(0)
      .max(limits.heartbeatMaxS)
      .optional()
      .describe(
        'Seconds between the messages of its heartbeat topic, which show progress while records do not change; 0: none. Default: as it is, at first none.',
      ),
  }),
  answers: { 200: json('The topic.', oneTypedTopicShape) },
  errors: ['not_found', 'conflict'],
  async handle(input) {
    const { params, query, caller, services } = input;
    const { environmentUid } = caller;
    const ref = { environmentUid, integrationKey: params.integration, model: params.model };
    const { snapshot, heartbeat_s: heartbeatS } = query;
    const format = {
      ...(query.before === 'true' && { hasBefore: true as const }),
      ...(query.ts_ns === 'true' && { hasNanoseconds: true as const }),
      ...(query.key === 'struct' && { hasStructKey: true as const }),
      ...(snapshot !== undefined && { snapshot }),
      ...(heartbeatS !== undefined && { heartbeatS }),
    };
    const enabled = await enableTypedTopic(services, ref, format, askOptions(input));
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
  scopes: ['environment:typed_topics:write'],
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
