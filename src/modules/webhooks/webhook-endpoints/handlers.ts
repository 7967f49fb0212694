import { randomUUID } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { present } from '#kernel/present.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealUrl, urlOfEndpoint } from '#modules/access/vault/webhook-urls.ts';
import { sealAuthentication, type EndpointAuthentication } from './authentication.ts';
import { webhookEndpointRef, type WebhookEndpointEntity } from './entity.ts';
import { sealHeaders, type EndpointHeaders } from './headers.ts';
import { requireEndpoint } from './queries.ts';
import type { EndpointSettings, WebhookEndpoint } from './webhook-endpoint.ts';

type SealedField = 'url' | 'headers' | 'headerNames' | 'oauth' | 'clientCertificate';

/** The fields that a caller sets, in plain text. */
type WantedEndpoint = Omit<EndpointSettings, SealedField> &
  Partial<EndpointAuthentication> & {
    readonly url: string;
    readonly headers?: EndpointHeaders | null;
  };

/** @throws GatewayError `resource_capped`, `invalid_body` (a connection without its integration) */
export async function createEndpoint(
  { control, vault }: SealedEntities,
  environmentUid: string,
  wanted: WantedEndpoint,
  options: ExecuteOptions,
): Promise<WebhookEndpoint> {
  const { idempotencyKey } = options;
  // A repeated request must create the same endpoint.
  const id = idempotencyKey === undefined ? randomUUID() : uuidV5(environmentUid, idempotencyKey);
  const { url, headers, oauth, clientCertificate, ...others } = wanted;
  const body: CommandOf<WebhookEndpointEntity> = {
    type: 'Create',
    id,
    environmentUid,
    ...others,
    url: await sealUrl(vault, urlOfEndpoint(environmentUid, id), url),
    ...(await sealHeaders(vault, environmentUid, id, headers)),
    ...(await sealAuthentication(vault, { environmentUid, id }, { oauth, clientCertificate })),
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
  { control, vault }: SealedEntities,
  environmentUid: string,
  id: string,
  wanted: { readonly [Field in keyof WantedEndpoint]?: WantedEndpoint[Field] | undefined },
  options: ExecuteOptions,
): Promise<WebhookEndpoint> {
  await requireEndpoint(control, environmentUid, id);
  const { url, headers, oauth, clientCertificate, ...others } = wanted;
  const owner = urlOfEndpoint(environmentUid, id);
  const sealed = url === undefined ? {} : { url: await sealUrl(vault, owner, url) };
  const body: CommandOf<WebhookEndpointEntity> = {
    type: 'Patch',
    changes: {
      ...present(others),
      ...sealed,
      ...(await sealHeaders(vault, environmentUid, id, headers)),
      ...(await sealAuthentication(vault, { environmentUid, id }, { oauth, clientCertificate })),
    },
  };
  const requestHash = vault.fingerprint('request', JSON.stringify(wanted));
  const ref = webhookEndpointRef(environmentUid, id);
  const changed = await control.execute(ref, body, { requestHash, ...options });
  if (changed === null) throw new GatewayError('not_found');
  return changed;
}

/** @throws GatewayError `not_found` */
export async function deleteEndpoint(
  { control }: SealedEntities,
  environmentUid: string,
  id: string,
  options: ExecuteOptions,
): Promise<void> {
  await requireEndpoint(control, environmentUid, id);
  await control.execute(webhookEndpointRef(environmentUid, id), { type: 'Delete' }, options);
}
