import { limits } from '../../../kernel/limits.ts';
import { isoMillis } from '../../../kernel/time.ts';
import type { Vault } from '../vault/vault.ts';
import { openUrl, urlOfEnvironment } from '../vault/webhook-urls.ts';
import { presentConnectUi } from '../connect-ui/connect-ui.ts';
import { presentRetention } from './retention.ts';
import type { Environment } from './state.ts';

/** An environment with its settings; the uuid is the one in webhook addresses. */
export async function presentEnvironment(vault: Vault, environment: Environment) {
  const { uid, webhookUrls, webhookFlags } = environment;
  const url = (name: keyof typeof webhookUrls) =>
    openUrl(vault, urlOfEnvironment(uid, name), webhookUrls[name]);
  return {
    id: environment.id,
    uuid: environment.uid,
    name: environment.name,
    is_production: environment.isProduction,
    webhook_url: await url('primary'),
    webhook_url_secondary: await url('secondary'),
    on_auth_creation: webhookFlags.onAuthCreation,
    on_auth_refresh_error: webhookFlags.onAuthRefreshError,
    on_sync_error: webhookFlags.onSyncError,
    on_sync_completion_always: webhookFlags.onSyncCompletionAlways,
    on_async_action_completion: webhookFlags.onAsyncActionCompletion,
    webhook_retry_waits_seconds: (
      environment.webhookRetryWaitsMs ?? limits.webhookRetryWaitsMs
    ).map((ms) => ms / 1000),
    payload_mode: environment.payloadMode,
    retention: presentRetention(environment.retention),
    validation: environment.validation ?? 'warn',
    connect_ui: presentConnectUi(environment),
    created_at: isoMillis(environment.createdAt),
    updated_at: isoMillis(environment.updatedAt),
  };
}
