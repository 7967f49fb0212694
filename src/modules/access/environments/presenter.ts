import { limits } from '../../../kernel/limits.ts';
import { isoMicros, isoMillis } from '../../../kernel/time.ts';
import type { Vault } from '../../connections/credentials/vault.ts';
import { openUrl, urlOfEnvironment } from '../../connections/credentials/webhook-urls.ts';
import type { RetentionDue } from '../../records/retention-preview.ts';
import { presentConnectUi } from './connect-ui.ts';
import { presentRetention, type Retention } from './retention.ts';
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

/** What retention would do now (`GET /environments/{id}/retention`). */
export function presentDue(retention: Retention, due: RetentionDue) {
  const { isClockTrusted, prune, delete: gone, streams } = due;
  return {
    ...presentRetention(retention),
    clock_is_ahead: !isClockTrusted,
    prune,
    delete: gone,
    streams: streams.map(({ action, records, integration, connectionId, ...stream }) => ({
      action,
      records,
      provider_config_key: integration,
      connection_id: connectionId,
      model: stream.model,
      variant: stream.variant,
      last_run_at: stream.lastRunAt === null ? null : isoMicros(stream.lastRunAt),
    })),
  };
}
