import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import {
  idempotentRequest,
  type IdempotentRequestCommand,
  type IdempotentRequestEvent,
  type IdempotentRequest,
} from './idempotent-request.ts';

export interface IdempotentRequestEntity {
  readonly kind: 'idempotent-request';
  readonly state: IdempotentRequest;
  readonly command: IdempotentRequestCommand;
  readonly event: IdempotentRequestEvent;
}

/** Each has its own scope, which distributes the requests of an environment over the owners. */
export function idempotentRequestRef(
  path: readonly [string, string, string],
): EntityRef<IdempotentRequestEntity> {
  return { kind: 'idempotent-request', scope: joinKey('idempotent-request', ...path), path };
}

export const idempotentRequestEntity: EntityDefinition<IdempotentRequestEntity> = {
  kind: 'idempotent-request',
  decider: idempotentRequest,
  publish: () => [],
  dueAt: ({ until }) => until,
};
