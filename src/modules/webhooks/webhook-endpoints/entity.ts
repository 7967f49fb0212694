import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
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
  WebhookEndpointFailed: 'failing',
  WebhookEndpointDisabled: 'disabled',
  WebhookEndpointRecovered: 'recovered',
  WebhookEndpointKeyRotated: 'signing_key_rotated',
  WebhookEndpointDeleted: 'deleted',
} as const;

const publishAlways = publishConfig('webhook_endpoint', actions, (subject: WebhookEndpoint) => ({
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
    failing_since: subject.failing == null ? null : isoMillis(subject.failing.since),
    disabled_at: isoMillisOrNull(subject.disabledAt ?? null),
  },
}));

export const webhookEndpointEntity: EntityDefinition<WebhookEndpointEntity> = {
  kind: 'webhook-endpoint',
  decider: webhookEndpoint,

  facts(command, ref, siblings) {
    if (command.type !== 'Create') return {};
    return { siblings: siblings.list(ref, ref.path.slice(0, 1)).length };
  },

  publishes: { 'svc.config.v1': true },
  publish: (event, before, after, meta) =>
    // Of failures in a row the first is published.
    event.type === 'WebhookEndpointFailed' && before?.failing != null
      ? []
      : publishAlways(event, before, after, meta),
};
