import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { environmentName } from '#modules/access/environments/queries.ts';
import { integrationEntity, integrationRef } from './entity.ts';
import type { Integration } from './integration.ts';

/** By unique key, without those being deleted. */
export function listIntegrations({ view }: ControlPlane, environmentUid: string): Integration[] {
  return view
    .list(integrationEntity, [environmentUid])
    .map(({ state }) => state)
    .filter(({ isDeleting }) => !isDeleting);
}

export function findIntegration(
  { view }: ControlPlane,
  environmentUid: string,
  uniqueKey: string,
): Integration | null {
  const found = view.find(integrationRef(environmentUid, uniqueKey));
  return found === null || found.isDeleting ? null : found;
}

/**
 * The integration, after this node has caught up with the log if necessary.
 * @throws GatewayError `not_found` or the code of the parameter; the message names the integration and the environment
 */
export async function requireIntegration(
  control: ControlPlane,
  environmentUid: string,
  uniqueKey: string,
  otherwise: { readonly code?: ErrorCode; readonly status?: number } = {},
): Promise<Integration> {
  const existing = findIntegration(control, environmentUid, uniqueKey);
  if (existing !== null) return existing;
  await control.view.caughtUp();
  const found = findIntegration(control, environmentUid, uniqueKey);
  if (found !== null) return found;
  const { code = 'not_found', status } = otherwise;
  const message = `The integration "${uniqueKey}" does not exist in the environment "${environmentName(control, environmentUid)}" of the key.`;
  throw new GatewayError(code, { message, ...(status === undefined ? {} : { status }) });
}
