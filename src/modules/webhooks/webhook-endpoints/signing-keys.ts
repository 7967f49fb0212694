import { randomUUID } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Instant } from '#kernel/time.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { openSigningKeys } from '#modules/access/environments/queries.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import type { SigningKeys } from '#rules/signature.ts';
import { webhookEndpointRef, type WebhookEndpointEntity } from './entity.ts';
import { previousSigningKey, type WebhookEndpoint } from './webhook-endpoint.ts';

const contextOf = (environmentUid: string, id: string): string =>
  sealingContext(environmentUid, id, 'webhook_endpoint_signing_key');

/**
 * The keys that sign deliveries to the endpoint now; without one of its own, those of the environment.
 * @param endpoint null for an address of the environment or of a connection
 * @throws GatewayError `not_found` when the key of the environment was destroyed
 */
export async function openEndpointKeys(
  vault: Vault,
  {
    environment,
    endpoint,
  }: { readonly environment: Environment; readonly endpoint: WebhookEndpoint | null },
  at: Instant,
): Promise<SigningKeys> {
  const ofEnvironment = await openSigningKeys(vault, environment, at);
  if (endpoint?.signingKey === undefined) return ofEnvironment;
  const { id, signingKey } = endpoint;
  const context = contextOf(environment.uid, id);
  const previous = previousSigningKey(endpoint, at);
  const openPrevious = (): string | null => {
    if (previous == null) return null;
    if (previous.key === null) return ofEnvironment.current;
    return vault.open(environment.uid, previous.key, context);
  };
  return { current: vault.open(environment.uid, signingKey, context), previous: openPrevious() };
}

/**
 * Gives the endpoint a key of its own, or another one; the key before signs beside it for the overlap.
 * @throws GatewayError `not_found`, `multiple_webhook_signing_keys` while the one before still signs
 */
export async function rotateEndpointKey(
  { control, vault }: SealedEntities,
  { environmentUid, id }: Pick<WebhookEndpoint, 'environmentUid' | 'id'>,
  overlapMs: number,
  options: ExecuteOptions,
): Promise<WebhookEndpoint> {
  await vault.ready(environmentUid);
  // 122 random bits, of which the libraries of Standard Webhooks take the text.
  const plain = randomUUID({ disableEntropyCache: true });
  const body: CommandOf<WebhookEndpointEntity> = {
    type: 'RotateKey',
    key: vault.seal(environmentUid, plain, contextOf(environmentUid, id)),
    overlapMs,
  };
  const requestHash = vault.fingerprint('request', JSON.stringify([id, overlapMs]));
  const ref = webhookEndpointRef(environmentUid, id);
  const rotated = await control.execute(ref, body, { requestHash, ...options });
  if (rotated === null) throw new GatewayError('not_found');
  return rotated;
}
