import { randomUUID } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { present } from '#kernel/present.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { sealUrl, urlOfEndpoint } from '#modules/access/vault/webhook-urls.ts';
import type { WebhooksServices } from '../services.ts';
import { webhookEndpointRef, type WebhookEndpointEntity } from './entity.ts';
import { requireEndpoint } from './queries.ts';
import type { EndpointSettings, WebhookEndpoint } from './webhook-endpoint.ts';

type Deps = Pick<WebhooksServices, 'control' | 'vault'>;

/** The fields that a caller sets, with the address in plain text. */
export type WantedEndpoint = Omit<EndpointSettings, 'url'> & { readonly url: string };

/** @throws GatewayError `resource_capped`, `invalid_body` (a connection without its integration) */
export async function createEndpoint(
  { control, vault }: Deps,
  environmentUid: string,
  wanted: WantedEndpoint,
  options: ExecuteOptions,
): Promise<WebhookEndpoint> {
  const { idempotencyKey } = options;
  // A repeated request must create the same endpoint.
  const id = idempotencyKey === undefined ? randomUUID() : uuidV5(environmentUid, idempotencyKey);
  const url = await sealUrl(vault, urlOfEndpoint(environmentUid, id), wanted.url);
  const body: CommandOf<WebhookEndpointEntity> = {
    type: 'Create',
    id,
    environmentUid,
    ...wanted,
    url,
  };
  const requestHash = vault.fingerprint('request', JSON.stringify(wanted));
  const ref = webhookEndpointRef(environmentUid, id);
  const made = await control.execute(ref, body, { requestHash, ...options });
  if (made === null) throw new GatewayError('server_error');
  return made;
}

/**
 * Changes the given fields.
 * @throws GatewayError `not_found`, `invalid_body`
 */
export async function patchEndpoint(
  { control, vault }: Deps,
  environmentUid: string,
  id: string,
  wanted: { readonly [Field in keyof WantedEndpoint]?: WantedEndpoint[Field] | undefined },
  options: ExecuteOptions,
): Promise<WebhookEndpoint> {
  await requireEndpoint(control, environmentUid, id);
  const { url, ...others } = wanted;
  const owner = urlOfEndpoint(environmentUid, id);
  const sealed = url === undefined ? {} : { url: await sealUrl(vault, owner, url) };
  const body: CommandOf<WebhookEndpointEntity> = {
    type: 'Patch',
    changes: { ...present(others), ...sealed },
  };
  const requestHash = vault.fingerprint('request', JSON.stringify(wanted));
  const ref = webhookEndpointRef(environmentUid, id);
  const changed = await control.execute(ref, body, { requestHash, ...options });
  if (changed === null) throw new GatewayError('not_found');
  return changed;
}

/** @throws GatewayError `not_found` */
export async function deleteEndpoint(
  { control }: Deps,
  environmentUid: string,
  id: string,
  options: ExecuteOptions,
): Promise<void> {
  await requireEndpoint(control, environmentUid, id);
  await control.execute(webhookEndpointRef(environmentUid, id), { type: 'Delete' }, options);
}

/** The addresses that are settings of the environment itself. */
export const ownAddresses = ['primary', 'secondary'] as const;

/** @throws GatewayError `not_found` when the environment has no such address */
export function requireOwnAddress(
  { control }: Pick<Deps, 'control'>,
  environmentUid: string,
  name: (typeof ownAddresses)[number],
): void {
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment !== null && environment.webhookUrls[name] !== null) return;
  const message = `The environment has no ${name} webhook address.`;
  throw new GatewayError('not_found', { message });
}
