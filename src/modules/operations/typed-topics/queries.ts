import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { listFunctions } from '#modules/functions/functions/queries.ts';
import { typedTopicEntity } from './entity.ts';
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
