import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import {
  revocation,
  type Revocation,
  type RevocationCommand,
  type RevocationEvent,
} from './revocation.ts';

export interface RevocationEntity {
  readonly kind: 'revocation';
  readonly state: Revocation;
  readonly command: RevocationCommand;
  readonly event: RevocationEvent;
}

/** In the scope of its connection, so that both are decided together. */
export const revocationRef = ({
  environmentUid,
  integrationKey,
  connectionId,
  connectionUid,
}: Pick<
  Revocation,
  'environmentUid' | 'integrationKey' | 'connectionId' | 'connectionUid'
>): EntityRef<RevocationEntity> => ({
  kind: 'revocation',
  scope: joinKey(environmentUid, integrationKey, connectionId),
  path: [environmentUid, integrationKey, connectionId, connectionUid],
});

/** Published on no topic: its outcome is in the log of operations and in the audit. */
export const revocationEntity: EntityDefinition<RevocationEntity> = {
  kind: 'revocation',
  decider: revocation,
  dueAt: ({ dueAt }) => dueAt,
  publish: () => [],
};
