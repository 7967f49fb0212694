import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { limits } from '../../../kernel/limits.ts';
import { isoMillis } from '../../../kernel/time.ts';
import type { Vault } from '../vault/vault.ts';
import { openUrl, urlOfEnvironment } from '../vault/webhook-urls.ts';
import { presentConnectUi } from '../connect-ui/connect-ui.ts';
import { presentRetention } from './retention.ts';
import type { Environment } from './state.ts';

const id = z.int();
const name = z.string().meta({ examples: ['staging'] });

export const environmentsShape = data(
  z.array(z.strictObject({ id, name, is_production: z.boolean() })),
);

export const madeEnvironmentShape = data(z.strictObject({ id, name }));

const color = z.string().meta({ examples: ['#1f5fd0'] });
const primary = z.strictObject({ primary: color });

const periods = { prune_after_days: z.int(), delete_after_days: z.int() };

/** An environment with its settings. */
export const environmentShape = data(
  z
    .strictObject({
      id,
      uuid: z.uuid(),
      name,
      is_production: z.boolean(),
      webhook_url: z.string().nullable(),
      webhook_url_secondary: z.string().nullable(),
      on_auth_creation: z.boolean(),
      on_auth_refresh_error: z.boolean(),
      on_sync_error: z.boolean(),
      on_sync_completion_always: z.boolean(),
      on_async_action_completion: z.boolean(),
      webhook_retry_waits_seconds: z.array(z.number()),
      payload_mode: z.enum(['plain', 'sealed']),
      retention: z.strictObject(periods),
      validation: z.enum(['off', 'warn', 'error']),
      connect_ui: z.strictObject({
        theme: z.strictObject({ light: primary, dark: primary }),
        default_theme: z.enum(['light', 'dark', 'system']),
        show_watermark: z.boolean(),
        logo: z.string().optional(),
        texts: z.record(z.string(), z.record(z.string(), z.string())).optional(),
      }),
      created_at: timestamp,
      updated_at: timestamp,
    })
    .meta({ id: 'Environment' }),
);

export const signingKeyShape = data(z.strictObject({ webhook_signing_key: z.string() }));

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
