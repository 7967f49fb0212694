import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import {
  webhookEndpoint,
  type CreateWebhookEndpoint,
  type WebhookEndpointCommand,
  type WebhookEndpointEvent,
  type WebhookEndpoint,
} from './webhook-endpoint.ts';

export interface WebhookEndpointEntity {
  readonly kind: 'webhook-endpoint';
  readonly state: WebhookEndpoint;
  readonly command: WebhookEndpointCommand;
  readonly event: WebhookEndpointEvent;
  readonly topic: 'svc.config.v1';
  readonly facts: Pick<CreateWebhookEndpoint, 'siblings'>;
}

export const webhookEndpointRef = (
  environmentUid: string,
  id: string,
): EntityRef<WebhookEndpointEntity> => ({
  kind: 'webhook-endpoint',
  scope: environmentUid,
  path: [environmentUid, id],
});

const actions = {
  WebhookEndpointCreated: 'created',
  WebhookEndpointChanged: 'updated',
  WebhookEndpointKeyRotated: 'signing_key_rotated',
  WebhookEndpointDeleted: 'deleted',
} as const;

export const webhookEndpointEntity: EntityDefinition<WebhookEndpointEntity> = {
  kind: 'webhook-endpoint',
  decider: webhookEndpoint,

  facts(command, ref, siblings) {
    if (command.type !== 'Create') return {};
    return { siblings: siblings.list(ref, ref.path.slice(0, 1)).length };
  },

  publishes: { 'svc.config.v1': true },
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
      header_names: subject.headerNames ?? [],
      retry_waits_seconds: subject.retryWaitsMs?.map((ms) => ms / 1000) ?? null,
    },
  })),
};
