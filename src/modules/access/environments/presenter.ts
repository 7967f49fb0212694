import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { presentConnectUi } from '../connect-ui/connect-ui.ts';
import type { Vault } from '../vault/vault.ts';
import { openUrl, urlOfEnvironment } from '../vault/webhook-urls.ts';
import type { Environment } from './environment.ts';
import { presentRetention } from './retention.ts';

const id = z.int();
const name = z.string().meta({ examples: ['staging'] });

export const environmentsShape = data(
  z.array(
    z.strictObject({
      id: id.describe('Number of the environment.'),
      name: name.describe('Name of the environment.'),
      is_production: z.boolean(),
    }),
  ),
);

export const madeEnvironmentShape = data(
  z.strictObject({
    id: id.describe('Number of the environment.'),
    name: name.describe('Name of the environment.'),
  }),
);

const color = z.string().meta({ examples: ['#2457c5'] });
const primary = z.strictObject({ primary: color });

const periods = { prune_after_days: z.int(), delete_after_days: z.int() };

interface OpenedEnvironment extends Environment {
  readonly opened: { readonly primary: string | null; readonly secondary: string | null };
}

/** An environment with its settings; the uuid is the one in webhook addresses. */
const environment = representation<OpenedEnvironment>()({
  id: id.describe('Number of the environment.'),
  uuid: [
    z.uuid().describe('UUID of the environment, part of the addresses of provider webhooks.'),
    ({ uid }) => uid,
  ],
  name: name.describe('Name of the environment.'),
  is_production: z.boolean(),
  webhook_url: [z.string().nullable(), ({ opened }) => opened.primary],
  webhook_url_secondary: [z.string().nullable(), ({ opened }) => opened.secondary],
  on_auth_creation: [z.boolean(), ({ webhookFlags }) => webhookFlags.onAuthCreation],
  on_auth_refresh_error: [z.boolean(), ({ webhookFlags }) => webhookFlags.onAuthRefreshError],
  on_sync_error: [z.boolean(), ({ webhookFlags }) => webhookFlags.onSyncError],
  on_sync_completion_always: [
    z.boolean(),
    ({ webhookFlags }) => webhookFlags.onSyncCompletionAlways,
  ],
  on_async_action_completion: [
    z.boolean(),
    ({ webhookFlags }) => webhookFlags.onAsyncActionCompletion,
  ],
  webhook_retry_waits_seconds: [
    z.array(z.number()),
    ({ webhookRetryWaitsMs: waits }) =>
      (waits ?? limits.webhookRetryWaitsMs).map((ms) => ms / 1000),
  ],
  payload_mode: z.enum(['plain', 'sealed']),
  retention: [z.strictObject(periods), ({ retention }) => presentRetention(retention)],
  validation: [z.enum(['off', 'warn', 'error']), ({ validation }) => validation ?? 'warn'],
  connect_ui: [
    z.strictObject({
      theme: z.strictObject({ light: primary, dark: primary }),
      default_theme: z.enum(['light', 'dark', 'system']),
      show_watermark: z.boolean(),
      logo: z.string().optional(),
      texts: z.record(z.string(), z.record(z.string(), z.string())).optional(),
    }),
    (one) => presentConnectUi(one),
  ],
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoMillis(updatedAt)],
});

export const environmentShape = data(environment.schema.meta({ id: 'Environment' }));

export async function presentEnvironment(vault: Vault, state: Environment) {
  const { uid, webhookUrls } = state;
  const url = (target: keyof typeof webhookUrls) =>
    openUrl(vault, urlOfEnvironment(uid, target), webhookUrls[target]);
  const opened = { primary: await url('primary'), secondary: await url('secondary') };
  return environment.of({ ...state, opened });
}

const signingKey = z
  .string()
  .meta({ examples: ['whsec_NmYxYzBjNmUtNWQwYi00ZDBlLTlkNTctMGE0YjNkOGMxZjEx'] });

export const signingKeyShape = data(z.strictObject({ webhook_signing_key: signingKey }));

/** The key that signs, and the one before it while it signs beside it. */
export const signingKeysShape = data(
  z
    .strictObject({
      webhook_signing_key: signingKey,
      previous_webhook_signing_key: signingKey.nullable(),
    })
    .meta({ id: 'WebhookSigningKeys' }),
);
