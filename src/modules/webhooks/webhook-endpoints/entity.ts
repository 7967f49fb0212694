import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
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
} as const;

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

  publish: publishConfig('webhook_endpoint', actions, (subject) => ({
    id: [subject.environmentUid, subject.id],
    environmentUid: subject.environmentUid,
    document: {
      id: subject.id,
      display_name: subject.displayName,
      kinds: subject.kinds,
      connection_id: subject.connectionId,
      provider_config_key: subject.integrationKey,
      enabled: subject.isEnabled,
    },
  })),
};
