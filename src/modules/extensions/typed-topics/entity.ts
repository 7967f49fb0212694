import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import { integrationRef } from '#modules/connections/integrations/entity.ts';
import {
  forgottenAt,
  typedTopic,
  type EnableTypedTopic,
  type TypedTopicCommand,
  type TypedTopicEvent,
  type TypedTopic,
} from './typed-topic.ts';

export interface TypedTopicEntity {
  readonly kind: 'typed-topic';
  readonly state: TypedTopic;
  readonly command: TypedTopicCommand;
  readonly event: TypedTopicEvent;
  readonly topic: 'svc.config.v1';
  readonly facts: Pick<EnableTypedTopic, 'isIntegrationKnown' | 'sameAddress'>;
}

export const typedTopicRef = (
  environmentUid: string,
  integrationKey: string,
  model: string,
): EntityRef<TypedTopicEntity> => ({
  kind: 'typed-topic',
  scope: environmentUid,
  path: [environmentUid, integrationKey, model],
});

const actions = {
  TypedTopicEnabled: 'enabled',
  TypedTopicOpened: 'opened',
  TypedTopicSnapshotRequested: 'snapshot_requested',
  TypedTopicHeartbeatChanged: 'heartbeat_changed',
  TypedTopicEnded: 'ended',
  TypedTopicForgotten: 'forgotten',
} as const;

export const typedTopicEntity: EntityDefinition<TypedTopicEntity> = {
  kind: 'typed-topic',
  decider: typedTopic,
  dueAt: forgottenAt,

  facts(command, ref, siblings) {
    if (command.type !== 'Enable') return {};
    const [environmentUid = '', integrationKey = '', model = ''] = ref.path;
    const integration = siblings.find(integrationRef(environmentUid, integrationKey));
    const other = siblings
      .list(ref, [environmentUid])
      .filter((one) => one.integrationKey !== integrationKey || one.model !== model)
      .find(({ address }) => address === command.address);
    return {
      isIntegrationKnown: integration !== null && !integration.isDeleting,
      sameAddress: other === undefined ? null : `${other.integrationKey}/${other.model}`,
    };
  },

  publishes: { 'svc.config.v1': true },
  publish: publishConfig(
    'typed_topic',
    actions,
    ({ environmentUid, integrationKey: integration, model, address, major }) => ({
      id: [environmentUid, integration, model],
      environmentUid,
      integration,
      document: { integration, model, address, major },
    }),
  ),
};
