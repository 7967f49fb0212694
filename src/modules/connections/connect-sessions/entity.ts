import type { EntityDefinition, EntityRef } from '../../../control-plane/entity.ts';
import { connectSession, type ConnectSessionCommand } from './decider.ts';
import type { ConnectSessionEvent } from './events.ts';
import type { ConnectSession } from './state.ts';

export const connectSessionRef = (environmentUid: string, id: string): EntityRef => ({
  kind: 'connect-session',
  scope: environmentUid,
  path: [environmentUid, id],
});

/** Says nothing on public topics: what comes of a session is told as connections. */
export const connectSessionEntity: EntityDefinition<
  ConnectSession,
  ConnectSessionCommand,
  ConnectSessionEvent
> = {
  kind: 'connect-session',
  indexes: { hash: ({ hash }) => hash },
  decider: connectSession,
  publish: () => [],
  dueAt: ({ expiresAt }) => expiresAt,
};
