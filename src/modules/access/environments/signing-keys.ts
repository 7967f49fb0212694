import { formatWebhookSecret } from '#kernel/webhook-secret.ts';
import { sealingContext } from '../vault/sealing-context.ts';
import type { Vault } from '../vault/vault.ts';
import type { Environment } from './environment.ts';

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
