import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import {
  authorization,
  type AuthorizationCommand,
  type AuthorizationEvent,
  type Authorization,
} from './authorization.ts';

export interface AuthorizationEntity {
  readonly kind: 'authorization';
  readonly state: Authorization;
  readonly command: AuthorizationCommand;
  readonly event: AuthorizationEvent;
  readonly topic: 'svc.logs.v1';
  readonly index: 'hash';
}

export const authorizationRef = (
  environmentUid: string,
  id: string,
): EntityRef<AuthorizationEntity> => ({
  kind: 'authorization',
  scope: environmentUid,
  path: [environmentUid, id],
});

export const authorizationEntity: EntityDefinition<AuthorizationEntity> = {
  kind: 'authorization',
  indexes: { hash: ({ hash }) => hash },
  decider: authorization,

  /** Ends the operation of a user who never returned. */
  publishes: { 'svc.logs.v1': true },
  publish(event, before) {
    if (event.type !== 'AuthorizationAbandoned' || before === null) return [];
    const { environmentUid, integrationKey, connectionId, id } = before;
    const value = {
      operation_id: id,
      level: 'error',
      message: 'The user did not return from the provider in time.',
      operation_type: 'auth:create_connection',
      state: 'timeout',
      context: null,
      started_at: null,
      function: null,
      source: null,
    };
    return [
      {
        topic: 'svc.logs.v1',
        key: joinKey(environmentUid, id),
        type: 'svc.log.entry',
        environmentUid,
        integration: integrationKey,
        connectionId,
        value,
      },
    ];
  },

  dueAt: ({ expiresAt }) => expiresAt,
};
