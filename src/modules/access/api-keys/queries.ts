import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { ApiKey } from './api-key.ts';
import { accountKeyEntity, apiKeyEntity, accountKeyRef, apiKeyRef } from './entity.ts';

/** Keys of one environment, or the account's when null, oldest first. */
export function listKeys({ view }: ControlPlane, environmentUid: string | null): ApiKey[] {
  const found =
    environmentUid === null
      ? view.list(accountKeyEntity, [])
      : view.list(apiKeyEntity, [environmentUid]);
  return found.map(({ state }) => state).sort((a, b) => a.createdAt - b.createdAt);
}

export function findKey(
  { view }: ControlPlane,
  environmentUid: string | null,
  id: string,
): ApiKey | null {
  return environmentUid === null
    ? view.find(accountKeyRef(id))
    : view.find(apiKeyRef(environmentUid, id));
}
