import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { ApiKey } from './state.ts';

/** Keys of one environment, or the account's when null, oldest first. */
export function listKeys({ view }: ControlPlane, environmentUid: string | null): ApiKey[] {
  const found =
    environmentUid === null
      ? view.list<ApiKey>('account-key', [])
      : view.list<ApiKey>('api-key', [environmentUid]);
  return found.map(({ state }) => state).sort((a, b) => a.createdAt - b.createdAt);
}

export function findKey(
  { view }: ControlPlane,
  environmentUid: string | null,
  id: string,
): ApiKey | null {
  return environmentUid === null
    ? view.find<ApiKey>('account-key', [id])
    : view.find<ApiKey>('api-key', [environmentUid, id]);
}
