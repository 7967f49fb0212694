import type { Sealed } from '#kernel/ids.ts';
import { sealingContext, type Vault } from './vault.ts';

/**
 * The key that seals a webhook address, and the context that it is bound to. Sealed because an address may contain
 * secrets.
 */
export interface UrlOwner {
  readonly keyId: string;
  readonly context: string;
}

export const urlOfEndpoint = (environmentUid: string, id: string): UrlOwner => ({
  keyId: environmentUid,
  context: sealingContext(environmentUid, id, 'webhook_endpoint_url'),
});

export const urlOfEnvironment = (uid: string, name: 'primary' | 'secondary'): UrlOwner => ({
  keyId: uid,
  context: sealingContext(uid, uid, `webhook_url.${name}`),
});

/** Context for a connect session and the authorizations that it started. */
export const urlOfSession = (environmentUid: string): UrlOwner => ({
  keyId: environmentUid,
  context: sealingContext(environmentUid, environmentUid, 'connect_session_webhook_url'),
});

export const urlOfConnection = ({
  environmentUid,
  uid,
}: {
  readonly environmentUid: string;
  readonly uid: string;
}): UrlOwner => ({
  keyId: uid,
  context: sealingContext(environmentUid, uid, 'webhook_url_override'),
});

export async function sealUrl(vault: Vault, owner: UrlOwner, url: string): Promise<Sealed<string>>;
export async function sealUrl(
  vault: Vault,
  owner: UrlOwner,
  url: string | null,
): Promise<Sealed<string> | null>;
export async function sealUrl(
  vault: Vault,
  { keyId, context }: UrlOwner,
  url: string | null,
): Promise<Sealed<string> | null> {
  if (url === null) return null;
  await vault.ready(keyId);
  return vault.seal(keyId, url, context);
}

/**
 * The address in plain text. Earlier releases sealed only the addresses of endpoints.
 * @throws GatewayError `not_found` when the key was destroyed
 */
export async function openUrl<Url extends Sealed<string> | null>(
  vault: Vault,
  { keyId, context }: UrlOwner,
  url: Url,
): Promise<string | Url> {
  if (url === null || !isSealed(url)) return url;
  await vault.ready(keyId);
  return vault.open(keyId, url, context);
}

/** The address to store: the existing ciphertext if it is sealed and the address is unchanged. */
export async function changedUrl(
  vault: Vault,
  owner: UrlOwner,
  wanted: string | null,
  stored: Sealed<string> | null,
): Promise<Sealed<string> | null> {
  const isSame =
    stored !== null && isSealed(stored) && wanted === (await openUrl(vault, owner, stored));
  return isSame ? stored : sealUrl(vault, owner, wanted);
}

/** A plain-text address starts with http. */
const isSealed = (url: string): boolean => url.startsWith('v1.');
