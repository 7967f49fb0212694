import { type EntityDefinition, type EntityRef, whileDeleting } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import {
  integration,
  type IntegrationCommand,
  type IntegrationEvent,
  type Integration,
} from './integration.ts';

export interface IntegrationEntity {
  readonly kind: 'integration';
  readonly state: Integration;
  readonly command: IntegrationCommand;
  readonly event: IntegrationEvent;
  readonly topic: 'svc.config.v1';
  readonly index: 'uid' | 'deleting';
}

export const integrationRef = (
  environmentUid: string,
  uniqueKey: string,
): EntityRef<IntegrationEntity> => ({
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
} as const;

export const integrationEntity: EntityDefinition<IntegrationEntity> = {
  kind: 'integration',
  indexes: {
    uid: ({ uid }) => uid,
    deleting: whileDeleting,
  },
  decider: integration,

  publishes: { 'svc.config.v1': true },
  publish: publishConfig('integration', actions, (subject) => ({
    id: [subject.environmentUid, subject.uniqueKey],
    environmentUid: subject.environmentUid,
    integration: subject.uniqueKey,
    document: {
      uid: subject.uid,
      unique_key: subject.uniqueKey,
      display_name: subject.displayName,
      provider: subject.provider,
      forward_webhooks: subject.forwardWebhooks,
      revoke_on_disconnect: subject.revokeOnDisconnect === true,
      rate_limit: subject.rateLimit ?? 'provider',
    },
  })),
};
