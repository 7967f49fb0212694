import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  connectSession,
  type ConnectSessionCommand,
  type ConnectSessionEvent,
  type ConnectSession,
} from './connect-session.ts';

export interface ConnectSessionEntity {
  readonly kind: 'connect-session';
  readonly state: ConnectSession;
  readonly command: ConnectSessionCommand;
  readonly event: ConnectSessionEvent;
  readonly index: 'hash';
}

export const connectSessionRef = (
  environmentUid: string,
  id: string,
): EntityRef<ConnectSessionEntity> => ({
  kind: 'connect-session',
  scope: environmentUid,
  path: [environmentUid, id],
});

/** Publishes nothing on public topics: the outcome of a session is a connection. */
export const connectSessionEntity: EntityDefinition<ConnectSessionEntity> = {
  kind: 'connect-session',
  indexes: { hash: ({ hash }) => hash },
  decider: connectSession,
  publish: () => [],
  dueAt: ({ expiresAt }) => expiresAt,
};
