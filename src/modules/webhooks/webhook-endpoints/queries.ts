import { type ControlPlane, findCaughtUp } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { environmentName } from '#modules/access/environments/queries.ts';
import type { WebhookKind } from '../webhooks-out/events.ts';
import { webhookEndpointEntity, webhookEndpointRef } from './entity.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';

/** Of the environment, oldest first. */
export function listEndpoints(
  { view }: Pick<ControlPlane, 'view'>,
  environmentUid: string,
): WebhookEndpoint[] {
  return view
    .list(webhookEndpointEntity, [environmentUid])
    .map(({ state }) => state)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** @throws GatewayError `not_found` naming the endpoint and the environment */
export async function requireEndpoint(
  control: ControlPlane,
  environmentUid: string,
  id: string,
): Promise<WebhookEndpoint> {
  const ref = webhookEndpointRef(environmentUid, id);
  const found = await findCaughtUp(control.view, () => control.view.find(ref));
  if (found !== null) return found;
  const message = `The webhook endpoint "${id}" does not exist in the environment "${environmentName(control, environmentUid)}" of the key.`;
  throw new GatewayError('not_found', { message });
}

/** The subject of a webhook. */
export interface Subject {
  readonly kind: WebhookKind;
  readonly integrationKey: string;
  /** Null: not attributed to any connection. */
  readonly connectionId: string | null;
}

/** Whether the endpoint subscribes to it. */
export function wants(endpoint: WebhookEndpoint, { kind, ...ref }: Subject): boolean {
  const { isEnabled, kinds, integrationKey, connectionId } = endpoint;
  if (!isEnabled || (kinds !== null && !kinds.includes(kind))) return false;
  if (integrationKey !== null && integrationKey !== ref.integrationKey) return false;
  return connectionId === null || connectionId === ref.connectionId;
}
