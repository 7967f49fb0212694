import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import type { Integration } from '#modules/connections/integrations/state.ts';
import { forgottenAt, typedTopic, type TypedTopicCommand } from './decider.ts';
import type { TypedTopicEvent } from './events.ts';
import type { TypedTopic } from './state.ts';

export const typedTopicRef = (
  environmentUid: string,
  integrationKey: string,
  model: string,
): EntityRef => ({
  kind: 'typed-topic',
  scope: environmentUid,
  path: [environmentUid, integrationKey, model],
});

const actions = {
  TypedTopicEnabled: 'enabled',
  TypedTopicOpened: 'opened',
  TypedTopicEnded: 'ended',
  TypedTopicForgotten: 'forgotten',
} as const;

export const typedTopicEntity: EntityDefinition<TypedTopic, TypedTopicCommand, TypedTopicEvent> = {
  kind: 'typed-topic',
  decider: typedTopic,
  dueAt: forgottenAt,

  facts(command, { path }, siblings) {
    if (command.type !== 'Enable') return {};
    const [environmentUid = '', integrationKey = '', model = ''] = path;
    const integration = siblings.find<Integration>('integration', [environmentUid, integrationKey]);
    const other = siblings
      .list<TypedTopic>('typed-topic', [environmentUid])
      .filter((one) => one.integrationKey !== integrationKey || one.model !== model)
      .find(({ address }) => address === command['address']);
    return {
      isIntegrationKnown: integration !== null && !integration.isDeleting,
      sameAddress: other === undefined ? null : `${other.integrationKey}/${other.model}`,
    };
  },

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
