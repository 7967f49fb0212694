import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { formatWebhookSecret } from '#kernel/webhook-secret.ts';
import { sealingContext, type Vault } from '../vault/vault.ts';
import { environmentEntity, environmentRef } from './entity.ts';
import type { Environment } from './environment.ts';

/** By name, without environments that are being deleted. */
export function listEnvironments({ view }: ControlPlane): Environment[] {
  return view
    .list(environmentEntity, [])
    .map(({ state }) => state)
    .filter(({ isDeleting }) => !isDeleting)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function environmentByName({ view }: ControlPlane, name: string): Environment | null {
  return alive(view.findBy(environmentEntity, 'name', name)?.state);
}

/** By the number that the API shows. @throws GatewayError `not_found` naming it */
export async function requireEnvironmentById(
  control: ControlPlane,
  id: number,
): Promise<Environment> {
  const read = (): Environment | null =>
    alive(control.view.findBy(environmentEntity, 'id', String(id))?.state);
  return read() ?? afterCatchUp(control, read, `No environment with the id ${id}.`);
}

async function afterCatchUp(
  control: ControlPlane,
  read: () => Environment | null,
  message: string,
): Promise<Environment> {
  await control.view.caughtUp();
  const found = read();
  if (found === null) throw new GatewayError('not_found', { message });
  return found;
}

const alive = (environment: Environment | null | undefined): Environment | null =>
  environment === null || environment === undefined || environment.isDeleting ? null : environment;

/** For messages: the name, or the uid if this node does not have the environment. */
export function environmentName({ view }: ControlPlane, uid: string): string {
  return view.find(environmentRef(uid))?.name ?? uid;
}

/** The key that signs webhooks to the application, and the previous key while it is valid. */
export async function openSigningKeys(
  vault: Vault,
  environment: Environment,
  at: number,
): Promise<{ readonly current: string; readonly previous: string | null }> {
  const { uid, webhookSigningKey, previousSigningKey } = environment;
  await vault.ready(uid);
  const context = signingKeyContext(uid);
  const isOldAlive = previousSigningKey !== null && previousSigningKey.until > at;
  return {
    current: vault.open(uid, webhookSigningKey, context),
    previous: isOldAlive ? vault.open(uid, previousSigningKey.key, context) : null,
  };
}

/** As callers see a key: the libraries of Standard Webhooks take it in this form (docs/reference/webhooks-out.md#signing-keys). */
export const presentSigningKey = (key: string): string => formatWebhookSecret(Buffer.from(key));

export const signingKeyContext = (environmentUid: string): string =>
  sealingContext(environmentUid, environmentUid, 'webhook_signing_key');
