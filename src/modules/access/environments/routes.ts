import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { environmentName, retryWaits, webhookUrl, wholeNumber } from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, nothing, data, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, isoMillisOrNull, minuteMs, type Instant } from '#kernel/time.ts';
import { changedConnectUi, connectUiShape, presentConnectUi } from '../connect-ui/connect-ui.ts';
import { defineRoute } from '../services.ts';
import type { Vault } from '../vault/vault.ts';
import { openUrl, urlOfEnvironment } from '../vault/webhook-urls.ts';
import { environmentRef } from './entity.ts';
import type { Environment } from './environment.ts';
import {
  createEnvironment,
  deleteEnvironment,
  patchEnvironment,
  rotateSigningKey,
} from './handlers.ts';
import {
  listEnvironments,
  requireEnvironmentById,
  openSigningKeys,
  presentSigningKey,
} from './queries.ts';
import { defaultRetention, type Retention, presentRetention } from './retention.ts';

const id = z.int();
const name = z.string().meta({ examples: ['staging'] });

const environmentsShape = data(
  z.array(
    z.strictObject({
      id: id.describe('Number of the environment.'),
      name: name.describe('Name of the environment.'),
      is_production: z.boolean(),
    }),
  ),
);

const madeEnvironmentShape = data(
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

const inputValidation = z
  .enum(['warn', 'error'])
  .describe(
    'Whether an input of an action that does not fit its schema is refused, or only logged.',
  );

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
  input_validation: [inputValidation, (one) => one.inputValidation ?? 'error'],
  keep_all_logs_until: [
    timestamp
      .nullable()
      .describe('Until then functions keep log lines of every level; null or past: their level.'),
    ({ allLogsUntil }) => isoMillisOrNull(allLogsUntil ?? null),
  ],
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

const environmentShape = data(environment.schema.meta({ id: 'Environment' }));

async function presentEnvironment(vault: Vault, state: Environment) {
  const { uid, webhookUrls } = state;
  const url = (target: keyof typeof webhookUrls) =>
    openUrl(vault, urlOfEnvironment(uid, target), webhookUrls[target]);
  const opened = { primary: await url('primary'), secondary: await url('secondary') };
  return environment.of({ ...state, opened });
}

const signingKey = z
  .string()
  .meta({ examples: ['whsec_NmYxYzBjNmUtNWQwYi00ZDBlLTlkNTctMGE0YjNkOGMxZjEx'] });

const signingKeyShape = data(z.strictObject({ webhook_signing_key: signingKey }));

/** The key that signs, and the one before it while it signs beside it. */
const signingKeysShape = data(
  z
    .strictObject({
      webhook_signing_key: signingKey,
      previous_webhook_signing_key: signingKey.nullable(),
    })
    .meta({ id: 'WebhookSigningKeys' }),
);

const path = z.strictObject({ environmentId: wholeNumber(0, Number.MAX_SAFE_INTEGER) });

const list = defineRoute({
  method: 'GET',
  path: '/environments',
  credential: 'account',
  scopes: ['account:environments:list'],
  summary: 'List the environments of the account.',
  answers: { 200: json('The environments.', environmentsShape) },
  errors: [],
  async handle({ services }) {
    const data = listEnvironments(services.control).map((environment) => {
      const { id, name, isProduction } = environment;
      return { id, name, is_production: isProduction };
    });
    return { status: 200, body: { data } };
  },
});

const create = defineRoute({
  method: 'POST',
  path: '/environments',
  credential: 'account',
  scopes: ['account:environments:create'],
  summary: 'Create an environment.',
  description: 'It has an API key with full access and a key that signs webhooks.',
  body: z.strictObject({
    name: environmentName.describe('Name of the environment, unique in the account.'),
    is_production: z.boolean().optional(),
  }),
  answers: { 200: json('The environment.', madeEnvironmentShape) },
  errors: ['conflict', 'invalid_is_prod_flag'],
  async handle(input) {
    const { name, is_production: isProduction } = input.body;
    const wanted = { name, isProduction };
    const { environment } = await createEnvironment(input.services, wanted, askOptions(input));
    return { status: 200, body: { data: { id: environment.id, name: environment.name } } };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/environments/{environmentId}',
  credential: 'account',
  scopes: ['account:environments:read'],
  summary: 'Get an environment with its settings.',
  params: path,
  answers: { 200: json('The environment.', environmentShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    const environment = await requireEnvironmentById(services.control, params.environmentId);
    return { status: 200, body: { data: await presentEnvironment(services.vault, environment) } };
  },
});

const flags = {
  on_auth_creation: 'onAuthCreation',
  on_auth_refresh_error: 'onAuthRefreshError',
  on_sync_error: 'onSyncError',
  on_sync_completion_always: 'onSyncCompletionAlways',
  on_async_action_completion: 'onAsyncActionCompletion',
} as const satisfies Record<string, keyof Environment['webhookFlags']>;

const days = z.number().int().min(1).max(limits.retentionDaysMax);

const settings = z.strictObject({
  name: environmentName.optional().describe('Name of the environment, unique in the account.'),
  is_production: z.boolean().optional(),
  webhook_url: webhookUrl.nullable().optional(),
  webhook_url_secondary: webhookUrl.nullable().optional(),
  on_auth_creation: z.boolean().optional(),
  on_auth_refresh_error: z.boolean().optional(),
  on_sync_error: z.boolean().optional(),
  on_sync_completion_always: z.boolean().optional(),
  on_async_action_completion: z.boolean().optional(),
  webhook_retry_waits_seconds: retryWaits.optional(),
  payload_mode: z.enum(['plain', 'sealed']).optional(),
  retention: z
    .strictObject({ prune_after_days: days.optional(), delete_after_days: days.optional() })
    .optional(),
  validation: z.enum(['off', 'warn', 'error']).optional(),
  input_validation: inputValidation.optional(),
  keep_all_logs_minutes: z
    .number()
    .int()
    .min(0)
    .max(limits.allLogsMinutesMax)
    .optional()
    .describe('For how long functions keep log lines of every level, from now on; 0 ends it.'),
  connect_ui: connectUiShape.optional(),
});

const patch = defineRoute({
  method: 'PATCH',
  path: '/environments/{environmentId}',
  credential: 'account',
  scopes: ['account:environments:update'],
  summary: 'Update the settings of an environment.',
  description: 'Absent settings keep their value; an empty webhook address clears it.',
  params: path,
  body: settings,
  answers: { 200: json('The environment as changed.', environmentShape) },
  errors: ['not_found', 'conflict', 'invalid_is_prod_flag'],
  async handle(input) {
    const { params, body, services } = input;
    const existing = await requireEnvironmentById(services.control, params.environmentId);
    const changes = changesOf(body, existing, services.clock.now());
    const changed = await patchEnvironment(services, existing.uid, changes, askOptions(input));
    return { status: 200, body: { data: await presentEnvironment(services.vault, changed) } };
  },
});

function changesOf(body: z.output<typeof settings>, existing: Environment, now: Instant) {
  const sentFlags = Object.entries(flags).flatMap(([field, flag]) => {
    const value = body[field as keyof typeof flags];
    return value === undefined ? [] : [[flag, value] as const];
  });
  const { webhook_url: primary, webhook_url_secondary: secondary } = body;
  const hasUrls = primary !== undefined || secondary !== undefined;
  return {
    name: body.name,
    isProduction: body.is_production,
    payloadMode: body.payload_mode,
    validation: body.validation,
    inputValidation: body.input_validation,
    ...(body.keep_all_logs_minutes === undefined
      ? {}
      : { allLogsUntil: now + body.keep_all_logs_minutes * minuteMs }),
    ...(body.webhook_retry_waits_seconds === undefined
      ? {}
      : { webhookRetryWaitsMs: body.webhook_retry_waits_seconds.map((s) => s * 1000) }),
    ...(body.retention === undefined
      ? {}
      : { retention: changedRetention(body.retention, existing) }),
    ...(body.connect_ui ? { connectUi: changedConnectUi(body.connect_ui, existing) } : {}),
    ...(hasUrls
      ? {
          webhookUrls: {
            primary: primary === undefined ? undefined : primary || null,
            secondary: secondary === undefined ? undefined : secondary || null,
          },
        }
      : {}),
    ...(sentFlags.length > 0
      ? { webhookFlags: { ...existing.webhookFlags, ...Object.fromEntries(sentFlags) } }
      : {}),
  };
}

function changedRetention(
  sent: NonNullable<z.output<typeof settings>['retention']>,
  { retention = defaultRetention }: Environment,
): Retention {
  const { prune_after_days: prune, delete_after_days: purge } = sent;
  return {
    pruneAfterDays: prune ?? retention.pruneAfterDays,
    deleteAfterDays: purge ?? retention.deleteAfterDays,
  };
}

const remove = defineRoute({
  method: 'DELETE',
  path: '/environments/{environmentId}',
  credential: 'account',
  scopes: ['account:environments:delete'],
  summary: 'Delete an environment.',
  description:
    'Everything in it is deleted in the background. The environment `prod` cannot be deleted.',
  params: path,
  answers: { 204: nothing('It is being deleted.') },
  errors: ['not_found', 'cannot_delete_prod_environment'],
  async handle(input) {
    const { params, services } = input;
    const existing = await requireEnvironmentById(services.control, params.environmentId);
    await deleteEnvironment(services, existing.uid, repeatableOptions(input));
    return { status: 204 };
  },
});

const rotate = defineRoute({
  method: 'POST',
  path: '/environment/webhook-signing-key/rotate',
  credential: 'environment',
  scopes: ['environment:webhook_signing_key:rotate'],
  summary: 'Rotate the key that signs webhooks.',
  description: 'For a day webhooks carry signatures of both keys.',
  answers: { 200: json('The new key.', signingKeyShape) },
  errors: ['multiple_webhook_signing_keys'],
  async handle(input) {
    const { environmentUid } = input.caller;
    const key = await rotateSigningKey(input.services, environmentUid, askOptions(input));
    const headers = { 'cache-control': 'no-store' };
    return {
      status: 200,
      body: { data: { webhook_signing_key: presentSigningKey(key) } },
      headers,
    };
  },
});

const readSigningKey = defineRoute({
  method: 'GET',
  path: '/environment/webhook-signing-key',
  credential: 'environment',
  scopes: ['environment:webhook_signing_key:read'],
  summary: 'Get the key that signs webhooks.',
  description: 'The read is audited.',
  answers: { 200: json('The key, and the one before while it signs too.', signingKeysShape) },
  errors: [],
  async handle({ caller, services }) {
    const { vault, control, clock } = services;
    const environment = control.view.find(environmentRef(caller.environmentUid));
    if (environment === null) throw new GatewayError('unknown_environment');
    const { current, previous } = await openSigningKeys(vault, environment, clock.now());
    const data = {
      webhook_signing_key: presentSigningKey(current),
      previous_webhook_signing_key: previous === null ? null : presentSigningKey(previous),
    };
    return { status: 200, body: { data }, headers: { 'cache-control': 'no-store' } };
  },
});

export const environmentRoutes: readonly AnyRoute[] = [
  list,
  create,
  get,
  patch,
  remove,
  readSigningKey,
  rotate,
];
