import { limits } from '../../kernel/limits.ts';
import { isoMillis } from '../../kernel/time.ts';
import { presentConnectUi } from './connect-ui.ts';
import type { Environment } from './state.ts';

/** An environment with its settings; the uuid is the one in webhook addresses. */
export function presentEnvironment(environment: Environment) {
  const { webhookUrls, webhookFlags } = environment;
  return {
    id: environment.id,
    uuid: environment.uid,
    name: environment.name,
    is_production: environment.isProduction,
    webhook_url: webhookUrls.primary,
    webhook_url_secondary: webhookUrls.secondary,
    on_auth_creation: webhookFlags.onAuthCreation,
    on_auth_refresh_error: webhookFlags.onAuthRefreshError,
    on_sync_error: webhookFlags.onSyncError,
    on_sync_completion_always: webhookFlags.onSyncCompletionAlways,
    on_async_action_completion: webhookFlags.onAsyncActionCompletion,
    webhook_retry_waits_seconds: (
      environment.webhookRetryWaitsMs ?? limits.webhookRetryWaitsMs
    ).map((ms) => ms / 1000),
    payload_mode: environment.payloadMode,
    connect_ui: presentConnectUi(environment),
    created_at: isoMillis(environment.createdAt),
    updated_at: isoMillis(environment.updatedAt),
  };
}
