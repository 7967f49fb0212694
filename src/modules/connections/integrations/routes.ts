import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { bodyRefused } from '#http/error-response.ts';
import { displayName, integrationKey, listOf, mapOf, providerName, text } from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { data, json, succeeded, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMillis } from '#kernel/time.ts';
import { connectionsTotalOf } from '../connections/queries.ts';
import type { Provider } from '../providers/definition.ts';
import { checkFields } from '../providers/field-check.ts';
import { rateLimit } from '../providers/proxy-rules.ts';
import { logoUrl } from '../providers/routes.ts';
import { authModes } from '../providers/schema-parts.ts';
import { rateLimitOf, sharedLimitOf } from '../rate-limits/limit-of-call.ts';
import { defineRoute, type ConnectionsServices } from '../services.ts';
import { presentIntegrationCredentials } from './credentials.ts';
import {
  createIntegration,
  deleteIntegration,
  readIntegrationCredentials,
  updateIntegration,
} from './handlers.ts';
import type { Integration, IntegrationCredentials } from './integration.ts';
import { listIntegrations, requireIntegration } from './queries.ts';

const rateLimitShape = rateLimit.meta({
  id: 'RateLimit',
  examples: [{ requests: 100, seconds: 60, per: 'integration' }],
});
const rateLimitSetting = z.union([rateLimitShape, z.enum(['provider', 'none'])]);

/** An integration without its secrets. */
const shown = representation<Integration & { readonly publicUrl: string }>()({
  unique_key: z.string(),
  display_name: z.string(),
  provider: z.string(),
  logo: [z.string(), ({ publicUrl, provider }) => logoUrl(publicUrl, provider)],
  forward_webhooks: z.boolean(),
  revoke_on_disconnect: [z.boolean(), ({ revokeOnDisconnect }) => revokeOnDisconnect === true],
  rate_limit: [rateLimitSetting, ({ rateLimit }) => rateLimit ?? 'provider'],
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoMillis(updatedAt)],
});

export const presentIntegration = (integration: Integration, publicUrl: string) =>
  shown.of({ ...integration, publicUrl });

/** By the mode of the provider; null where the mode needs none. */
const credentials = z.record(z.string(), z.string().nullable()).nullable();

const shownValues = z.record(z.string(), z.string());

/** Fields of `include` are at the end. */
const integrationShape = shown.schema
  .extend({
    webhook_url: z
      .string()
      .nullable()
      .optional()
      .describe('Address for webhooks of the provider; null where it sends none.'),
    integration_config: shownValues
      .optional()
      .describe('Values of the fields that the provider declares.'),
    custom: shownValues
      .optional()
      .describe('Values of your own that templates of the provider read.'),
    scopes: z
      .array(z.string())
      .nullable()
      .optional()
      .describe('Scopes that authorizations ask for; null where the app has none.')
      .meta({ examples: [['crm.objects.contacts.read']] }),
    credentials: credentials
      .optional()
      .describe('OAuth client or app; null where the authentication mode needs none.'),
    auth_mode: z
      .enum(authModes)
      .nullable()
      .optional()
      .describe('Authentication mode; null when the catalog no longer has the provider.'),
    rate_limit_use: z
      .strictObject({
        limit: rateLimitShape
          .nullable()
          .describe('The limit that counts; null: requests are neither counted nor delayed.'),
        requests: z
          .int()
          .nullable()
          .describe('Requests of the last span; null where each connection has its own.'),
        paused_seconds: z
          .number()
          .nullable()
          .describe('Until the provider takes requests again, as it said; 0: it takes them.'),
      })
      .optional()
      .describe('How much of the limit of the provider is used.'),
    connections: z.int().optional().describe('Number of connections.'),
  })
  .meta({
    id: 'Integration',
    examples: [
      {
        unique_key: 'crm-prod',
        display_name: 'CRM',
        provider: 'crm',
        logo: 'https://gateway.example.com/images/template-logos/crm.svg',
        forward_webhooks: true,
        revoke_on_disconnect: false,
        rate_limit: 'provider',
        created_at: '2026-02-01T08:00:00.000Z',
        updated_at: '2026-02-01T08:00:00.000Z',
      },
    ],
  });

/** Address for the provider's webhooks; null when it has no routing script. */
export function webhookUrlOf(
  { environmentUid, uniqueKey }: Integration,
  provider: Provider | null,
  publicUrl: string,
): string | null {
  const hasRouting = provider?.webhook_routing_script ?? provider?.webhook_routing;
  if (hasRouting === undefined) return null;
  return `${publicUrl}/webhook/${environmentUid}/${encodeURIComponent(uniqueKey)}`;
}

const listCredentials = 'environment:integrations:list_credentials';
const readCredentials = 'environment:integrations:read_credentials';
const noStore = { 'cache-control': 'no-store' };
const path = z.strictObject({ uniqueKey: integrationKey });
const values = mapOf(text(1, 255), text(0, 8192));

const usageOf = (
  { control, providers }: Pick<ConnectionsServices, 'control' | 'providers'>,
  { environmentUid, uniqueKey, provider }: Integration,
) => ({
  auth_mode: providers.find(provider)?.auth_mode ?? null,
  connections: connectionsTotalOf(control, environmentUid, uniqueKey),
});

const list = defineRoute({
  method: 'GET',
  path: '/integrations',
  credential: 'environment',
  takesConnectToken: true,
  scopes: ['environment:integrations:list', listCredentials],
  summary: 'List the integrations of the environment.',
  description:
    'With the token of a connect session, only those that the session allows. With the scope for credentials each has its credentials.',
  query: z.strictObject({
    credentials: z.enum(['none']).optional().describe('`none`: leave the credentials out.'),
    include: z
      .enum(['usage'])
      .optional()
      .describe('`usage`: with the authentication mode and the number of connections.'),
  }),
  answers: { 200: json('The integrations.', data(z.array(integrationShape))) },
  errors: [],
  async handle({ query, caller, services }) {
    const withCredentials = query.credentials !== 'none' && caller.has(listCredentials);
    const { publicUrl } = services.settings;
    const allowed = caller.session?.allowedIntegrations ?? [];
    const isShown = ({ uniqueKey }: Integration) =>
      allowed.length === 0 || allowed.includes(uniqueKey);
    const integrations = listIntegrations(services.control, caller.environmentUid).filter(isShown);
    const data = await Promise.all(
      integrations.map(async (integration) => {
        const usage = query.include === 'usage' ? usageOf(services, integration) : {};
        const shown = { ...presentIntegration(integration, publicUrl), ...usage };
        if (!withCredentials) return shown;
        const credentials = await readIntegrationCredentials(services, integration);
        return { ...shown, credentials: presentIntegrationCredentials(credentials) };
      }),
    );
    return { status: 200, body: { data }, ...(withCredentials ? { headers: noStore } : {}) };
  },
});

const create = defineRoute({
  method: 'POST',
  path: '/integrations',
  credential: 'environment',
  scopes: ['environment:integrations:create'],
  summary: 'Create an integration.',
  description:
    'Configures a provider for the environment. The provider decides which `credentials` it needs.',
  body: z.strictObject({
    provider: providerName,
    unique_key: integrationKey,
    display_name: displayName.optional(),
    credentials: z
      .unknown()
      .optional()
      .describe('OAuth client or app of the integration, with its `type`.'),
    forward_webhooks: z.boolean().optional(),
    revoke_on_disconnect: z.boolean().optional(),
    rate_limit: rateLimitSetting.optional(),
    integration_config: values.optional(),
    custom: values.optional(),
  }),
  answers: { 200: json('The created integration.', data(integrationShape)) },
  errors: [],
  async handle(input) {
    const { body, caller, services } = input;
    const provider = services.providers.find(body.provider);
    if (provider === null) {
      throw bodyRefused(['provider'], `The provider "${body.provider}" is not in the catalog.`);
    }
    checkConfig(provider, body, false);
    checkRevocation(provider, body);
    const made = await createIntegration(
      services,
      {
        environmentUid: caller.environmentUid,
        uniqueKey: body.unique_key,
        provider,
        displayName: body.display_name,
        credentials: body.credentials,
        forwardWebhooks: body.forward_webhooks,
        revokeOnDisconnect: body.revoke_on_disconnect,
        rateLimit: body.rate_limit,
        integrationConfig: body.integration_config,
        custom: body.custom,
      },
      askOptions(input),
    );
    const data = presentIntegration(made, services.settings.publicUrl);
    return { status: 200, body: { data } };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/integrations/{uniqueKey}',
  credential: 'environment',
  scopes: ['environment:integrations:read', readCredentials],
  summary: 'Get an integration.',
  params: path,
  query: z.strictObject({
    include: listOf(z.enum(['webhook', 'scopes', 'credentials', 'config', 'rate_limit']))
      .optional()
      .describe(
        'Further fields: `webhook` adds `webhook_url`, `scopes` those of authorizations, `credentials` the credentials, `config` `integration_config` and `custom`, `rate_limit` `rate_limit_use`.',
      ),
  }),
  answers: { 200: json('The integration.', data(integrationShape)) },
  errors: ['not_found'],
  async handle({ params, query, caller, services }) {
    const { environmentUid } = caller;
    const integration = await requireIntegration(
      services.control,
      environmentUid,
      params.uniqueKey,
    );
    const { publicUrl } = services.settings;
    const included = new Set(query.include);
    const provider = services.providers.find(integration.provider);
    const webhook = included.has('webhook')
      ? { webhook_url: webhookUrlOf(integration, provider, publicUrl) }
      : {};
    const scopes = included.has('scopes')
      ? { scopes: scopesOf(await readIntegrationCredentials(services, integration)) }
      : {};
    const limited = included.has('rate_limit')
      ? { rate_limit_use: await rateLimitUse(services, integration, provider) }
      : {};
    // A key without the scope gets the response without these fields, and no sign that they are missing.
    const mayRead = caller.has(readCredentials);
    const secrets =
      mayRead && included.has('credentials')
        ? {
            credentials: presentIntegrationCredentials(
              await readIntegrationCredentials(services, integration),
            ),
          }
        : {};
    const { integrationConfig: integration_config, custom } = integration;
    // A provider may declare a secret among its fields.
    const config = mayRead && included.has('config') ? { integration_config, custom } : {};
    const shown = presentIntegration(integration, publicUrl);
    const data = { ...shown, ...webhook, ...scopes, ...limited, ...config, ...secrets };
    const hasSecrets = mayRead && (included.has('credentials') || included.has('config'));
    return { status: 200, body: { data }, ...(hasSecrets ? { headers: noStore } : {}) };
  },
});

async function rateLimitUse(
  { coordination }: Pick<ConnectionsServices, 'coordination'>,
  { environmentUid, uniqueKey, rateLimit }: Integration,
  provider: Provider | null,
) {
  const limit = rateLimitOf(rateLimit, provider);
  const shared = sharedLimitOf(limit, { environmentUid, integrationKey: uniqueKey });
  if (shared === null || limit?.per === 'connection') {
    return { limit, requests: null, paused_seconds: null };
  }
  const { calls, pausedMs } = await coordination.callsTaken(shared.name, shared.budget);
  return { limit, requests: calls, paused_seconds: Math.ceil(pausedMs / 1000) };
}

/** The user sees them while connecting: they are no secret. */
const scopesOf = (credentials: IntegrationCredentials | null): string[] | null =>
  credentials?.scopes?.split(',').filter((scope) => scope !== '') ?? null;

const patch = defineRoute({
  method: 'PATCH',
  path: '/integrations/{uniqueKey}',
  credential: 'environment',
  scopes: ['environment:integrations:update'],
  summary: 'Update an integration.',
  description:
    'Absent fields keep their value. Only an integration without connections can get another `unique_key`.',
  params: path,
  body: z.strictObject({
    unique_key: integrationKey.optional(),
    display_name: displayName.optional(),
    credentials: z
      .unknown()
      .optional()
      .describe('OAuth client or app of the integration, with its `type`.'),
    forward_webhooks: z.boolean().optional(),
    revoke_on_disconnect: z.boolean().optional(),
    rate_limit: rateLimitSetting.optional(),
    integration_config: values.optional(),
    custom: values.optional(),
  }),
  answers: { 200: json('The changed integration.', data(integrationShape)) },
  errors: ['not_found', 'unknown_provider', 'conflict'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const existing = await requireIntegration(
      services.control,
      caller.environmentUid,
      params.uniqueKey,
    );
    const provider = services.providers.find(existing.provider);
    if (provider === null) throw new GatewayError('unknown_provider');
    checkConfig(provider, body, true);
    checkRevocation(provider, body);
    const changed = await updateIntegration(
      services,
      caller.environmentUid,
      params.uniqueKey,
      {
        uniqueKey: body.unique_key,
        displayName: body.display_name,
        credentials: body.credentials,
        forwardWebhooks: body.forward_webhooks,
        revokeOnDisconnect: body.revoke_on_disconnect,
        rateLimit: body.rate_limit,
        integrationConfig: body.integration_config,
        custom: body.custom,
      },
      provider,
      askOptions(input),
    );
    const data = presentIntegration(changed, services.settings.publicUrl);
    return { status: 200, body: { data } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/integrations/{uniqueKey}',
  credential: 'environment',
  scopes: ['environment:integrations:delete'],
  summary: 'Delete an integration.',
  description: 'Its connections, syncs, functions and records are deleted, too.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    await deleteIntegration(
      services,
      caller.environmentUid,
      params.uniqueKey,
      repeatableOptions(input),
    );
    return { status: 200, body: { success: true } };
  },
});

/** @throws GatewayError `invalid_body` (docs/reference/http.md#providers-and-integrations) */
function checkConfig(
  { integration_config: fields }: Provider,
  sent: {
    readonly integration_config?: Readonly<Record<string, string>> | undefined;
    readonly custom?: Readonly<Record<string, string>> | undefined;
  },
  isPatch: boolean,
): void {
  if (fields && sent.custom) {
    throw bodyRefused(['custom'], 'This provider takes integration_config instead.');
  }
  if (isPatch && !sent.integration_config) return;
  checkFields('integration_config', fields ?? {}, sent.integration_config ?? {}, { isPatch });
}

/** @throws GatewayError `invalid_body`: the definition of the provider has no `revocation` */
function checkRevocation(
  { name, revocation }: Provider,
  { revoke_on_disconnect: isWanted }: { readonly revoke_on_disconnect?: boolean | undefined },
): void {
  if (isWanted !== true || revocation !== undefined) return;
  throw bodyRefused(
    ['revoke_on_disconnect'],
    `The provider "${name}" declares no revocation: leave it false, or add "revocation" to its definition.`,
  );
}

export const integrationRoutes: readonly AnyRoute[] = [list, create, get, patch, remove];
