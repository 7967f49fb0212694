import type { ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { EnvironmentDependents } from '#modules/access/environments/dependents.ts';
import type { IntegrationDependents } from '#modules/connections/integrations/dependents.ts';
import { listFunctions } from '#modules/functions/functions/queries.ts';
import { typedTopicEntity, typedTopicRef } from './entity.ts';
import type { TypedTopic } from './typed-topic.ts';

/** In path order; those in use, of one environment or of all. */
export function listTypedTopics({ view }: ControlPlane, environmentUid?: string): TypedTopic[] {
  return allTypedTopics({ view }, environmentUid).filter(({ endedAt }) => endedAt === null);
}

/** Including ended ones that are not deleted yet. */
export function allTypedTopics(
  { view }: Pick<ControlPlane, 'view'>,
  environmentUid?: string,
): TypedTopic[] {
  const prefix = environmentUid === undefined ? [] : [environmentUid];
  return view.list(typedTopicEntity, prefix).map(({ state }) => state);
}

/** The JSON schema of the deployed sync that declares the model; null when none does. */
export function schemaOfModel(
  control: ControlPlane,
  environmentUid: string,
  integrationKey: string,
  model: string,
): JsonObject | null {
  const syncs = listFunctions(control, environmentUid, { integrationKey, kind: 'sync' });
  return syncs.find(({ models }) => models.includes(model))?.jsonSchema ?? null;
}

/** Names of typed topics contain the environment's name, and their payloads are plain text. */
export const typedTopicsOfEnvironments = (control: ControlPlane): EnvironmentDependents => ({
  refuseChange(environmentUid, { isRenamed, isSealed }) {
    if (!isRenamed && !isSealed) return;
    const [first] = listTypedTopics(control, environmentUid);
    if (first === undefined) return;
    const what = isRenamed ? 'keeps its name' : 'keeps its payloads in clear';
    const { integrationKey, model } = first;
    const message = `An environment with typed topics ${what}: delete that of "${integrationKey}", "${model}" first.`;
    throw new GatewayError('conflict', { message });
  },
});

/** Names of typed topics contain the key of the integration. */
export const typedTopicsOfIntegrations = (control: ControlPlane): IntegrationDependents => ({
  refuseMove({ environmentUid, uniqueKey }) {
    const [first] = ofIntegration(control, environmentUid, uniqueKey);
    if (first === undefined) return;
    const message = `An integration with typed topics keeps its unique key: delete that of "${first.model}" first.`;
    throw new GatewayError('invalid_body', {
      message,
      errors: [{ code: 'custom', message, path: ['unique_key'] }],
    });
  },
  moves: () => [],
  removals: ({ environmentUid, uniqueKey }) =>
    ofIntegration(control, environmentUid, uniqueKey).map(({ model }) =>
      commandTo(typedTopicRef(environmentUid, uniqueKey, model), { type: 'End' }),
    ),
});

const ofIntegration = (control: ControlPlane, environmentUid: string, key: string) =>
  listTypedTopics(control, environmentUid).filter(({ integrationKey }) => integrationKey === key);
