import { configMessages } from '../../../control-plane/public-message.ts';
import type { EntityDefinition, EntityRef } from '../../../control-plane/entity.ts';
import { webhookEndpoint, type WebhookEndpointCommand } from './decider.ts';
import type { WebhookEndpointEvent } from './events.ts';
import type { WebhookEndpoint } from './state.ts';

export const webhookEndpointRef = (environmentUid: string, id: string): EntityRef => ({
  kind: 'webhook-endpoint',
  scope: environmentUid,
  path: [environmentUid, id],
});

const actions = {
  WebhookEndpointCreated: 'created',
  WebhookEndpointChanged: 'updated',
  WebhookEndpointDeleted: 'deleted',
} as const satisfies Record<WebhookEndpointEvent['type'], string>;

export const webhookEndpointEntity: EntityDefinition<
  WebhookEndpoint,
  WebhookEndpointCommand,
  WebhookEndpointEvent
> = {
  kind: 'webhook-endpoint',
  decider: webhookEndpoint,

  facts(command, { path }, siblings) {
    if (command.type !== 'Create') return {};
    const [environmentUid = ''] = path;
    return { siblings: siblings.list('webhook-endpoint', [environmentUid]).length };
  },

  publish(event, before, after, meta) {
    const subject = after ?? before;
    if (subject === null) return [];
    const { id, environmentUid, displayName, kinds, integrationKey, connectionId, isEnabled } =
      subject;
    const document = {
      id,
      display_name: displayName,
      kinds,
      connection_id: connectionId,
      provider_config_key: integrationKey,
      enabled: isEnabled,
    };
    return configMessages(
      {
        kind: 'webhook_endpoint',
        id: [environmentUid, id],
        environmentUid,
        action: actions[event.type],
        document,
        isGone: after === null,
      },
      meta,
    );
  },
};
