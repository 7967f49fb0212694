import { configMessages } from '../../../control-plane/public-message.ts';
import {
  type EntityDefinition,
  type EntityRef,
  whileDeleting,
} from '../../../control-plane/entity.ts';
import { integration, type IntegrationCommand } from './decider.ts';
import type { IntegrationEvent } from './events.ts';
import type { Integration } from './state.ts';

export const integrationRef = (environmentUid: string, uniqueKey: string): EntityRef => ({
  kind: 'integration',
  scope: environmentUid,
  path: [environmentUid, uniqueKey],
});

const actions = {
  IntegrationCreated: 'created',
  IntegrationChanged: 'updated',
  IntegrationRenamed: 'renamed',
  IntegrationDeletionBegun: 'deletion_begun',
  IntegrationDeleted: 'deleted',
} as const satisfies Record<IntegrationEvent['type'], string>;

export const integrationEntity: EntityDefinition<
  Integration,
  IntegrationCommand,
  IntegrationEvent
> = {
  kind: 'integration',
  indexes: {
    uid: ({ uid }) => uid,
    deleting: whileDeleting,
  },
  decider: integration,

  publish(event, before, after, meta) {
    const subject = after ?? before;
    if (subject === null) return [];
    const { uid, environmentUid, uniqueKey, displayName, provider, forwardWebhooks } = subject;
    return configMessages(
      {
        kind: 'integration',
        id: [environmentUid, uniqueKey],
        environmentUid,
        integration: uniqueKey,
        action: actions[event.type],
        document: {
          uid,
          unique_key: uniqueKey,
          display_name: displayName,
          provider,
          forward_webhooks: forwardWebhooks,
        },
        isGone: after === null,
      },
      meta,
    );
  },
};
