import { randomUUID } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import type { OperationsServices } from '../services.ts';
import { typedTopicRef, type TypedTopicEntity } from './entity.ts';
import { addressOf, topicNameCharsMax, topicOf } from './names.ts';
import { allTypedTopics, schemaOfModel } from './queries.ts';
import type { TypedTopic } from './typed-topic.ts';

type Deps = Pick<OperationsServices, 'control'>;

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
  options: ExecuteOptions,
): Promise<TypedTopic> {
  const { environmentUid, integrationKey, model } = named;
  await requireIntegration(control, environmentUid, integrationKey);
  await requireModel({ control }, named);
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment === null) throw new GatewayError('unknown_environment');
  refuseSealed(environment);
  const address = addressOf(environment.name, integrationKey, model);
  refuseLongName(address);
  refuseForeign({ control }, environmentUid, address);
  const names = { environmentUid, integrationKey, model, address };
  const body: CommandOf<TypedTopicEntity> = { type: 'Enable', uid: randomUUID(), ...names };
  const ref = typedTopicRef(environmentUid, integrationKey, model);
  const requestHash = JSON.stringify(names);
  const enabled = await control.execute(ref, body, { requestHash, ...options });
  if (enabled === null) throw new GatewayError('server_error');
  return enabled;
}

/** @throws GatewayError `not_found` */
export async function endTypedTopic(
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

function refuseLongName(address: string): void {
  if (topicOf(address, 99).length <= topicNameCharsMax) return;
  const message = `The topic name ${address} has more than ${topicNameCharsMax} characters.`;
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
