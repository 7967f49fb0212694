import { z } from 'zod';
import { type AnyRoute, type Caller, errorAt } from '#http/define-route.ts';
import { bodyRefused } from '#http/error-response.ts';
import {
  connectionId,
  endUserInput,
  flag,
  integrationKey,
  jsonObject,
  organizationInput,
  webhookUrl,
} from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { json, succeeded } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Instant } from '#kernel/time.ts';
import { modeContext } from '../credentials/mode-context.ts';
import { requireIntegration } from '../integrations/queries.ts';
import { withAliasedFields } from '../providers/field-check.ts';
import { defineRoute, type ConnectionsServices } from '../services.ts';
import { importCredentials, acceptCredentials } from './accept-credentials.ts';
import { plainInputs, setFields } from './fields.ts';
import {
  deleteConnection,
  noteFetched,
  patchConnection,
  writeMetadata,
  type ProfileInput,
  renewJwt,
} from './handlers.ts';
import { connectValidated, runBeforeDeletion } from './lifecycle.ts';
import { listRoute } from './list-route.ts';
import { connectionShape, presentConnection } from './presenter.ts';
import { findConnection, requireConnection } from './queries.ts';
import type { Connection } from './state.ts';

const readScopes = ['environment:connections:read', 'environment:connections:read_credentials'];
const noStore = { 'cache-control': 'no-store' };

const path = z.strictObject({ connectionId });
const ofIntegration = z.strictObject({ provider_config_key: integrationKey });

/** Loose, except for the fields that the service reads: the scopes as a list, or in the format of sessions. */
const connectionConfig = jsonObject.refine(
  ({ oauth_scopes_override: scopes = [] }) =>
    typeof scopes === 'string' ||
    (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')),
  { message: 'Send a list of scopes.', path: ['oauth_scopes_override'] },
);

const profile = {
  webhook_url_override: webhookUrl.optional(),
  end_user: endUserInput.optional(),
  organization: organizationInput.optional(),
  ...plainInputs,
};

function profileOf({
  webhook_url_override: url,
  end_user: user,
  organization,
  ...rest
}: z.output<z.ZodObject<typeof profile>>): ProfileInput {
  if (organization !== undefined && user === undefined) {
    throw bodyRefused(['organization'], 'Send end_user beside its organization.');
  }
  const endUser = user && {
    id: user.id,
    email: user.email ?? null,
    displayName: user.display_name ?? null,
    tags: user.tags ?? {},
    organization: organization
      ? { id: organization.id, displayName: organization.display_name ?? null }
      : null,
  };
  return { webhookUrlOverride: url === '' ? null : url, endUser, ...setFields(rest) };
}

/** @throws GatewayError `invalid_body` for a time that has not come yet */
function creationTime(text: string | undefined, now: Instant): Instant | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (at >= 0 && at <= now) return at;
  throw bodyRefused(['created_at'], 'Send a time between 1970 and now.');
}

const create = defineRoute({
  method: 'POST',
  path: '/connections',
  credential: 'environment',
  scopes: ['environment:connections:create'],
  summary: 'Create or update a connection with given credentials.',
  description:
    'For credentials that the application has already. The credentials are verified with the provider if its definition says how. An existing connection of that id gets the new credentials.',
  body: z.strictObject({
    provider_config_key: integrationKey,
    connection_id: connectionId.optional().describe('Id of the connection; a UUID if absent.'),
    metadata: jsonObject.optional(),
    connection_config: connectionConfig.optional(),
    created_at: z.iso.datetime({ offset: true }).optional().meta({
      description: 'When it was created at another gateway; ignored for a connection that exists.',
    }),
    ...profile,
    credentials: z.unknown().meta({
      description: 'Credentials with their `type`: the authentication mode of the provider.',
      examples: [{ type: 'API_KEY', apiKey: 'k-0123' }],
    }),
  }),
  answers: { 201: json('The connection.', connectionShape) },
  errors: [
    'not_found',
    'connection_test_failed',
    'connection_validation_failed',
    'conflict',
    'run_interrupted',
  ],
  async handle(input) {
    const { body, caller, services } = input;
    const { environmentUid } = caller;
    const integration = await requireIntegration(
      services.control,
      environmentUid,
      body.provider_config_key,
    );
    const provider = services.providers.find(integration.provider);
    if (provider === null) {
      const message = `The provider "${integration.provider}" is no longer in the catalog.`;
      throw new GatewayError('not_found', { message });
    }
    const config = withAliasedFields(provider, body.connection_config ?? {});
    const context = await modeContext(services, integration, provider, config);
    const credentials = await acceptCredentials(services, {
      integration,
      context,
      credentials: await importCredentials(context, body.credentials),
      metadata: body.metadata,
    });
    const connection = await connectValidated(
      services,
      {
        environmentUid,
        integrationKey: integration.uniqueKey,
        connectionId: body.connection_id,
        provider,
        credentials,
        metadata: body.metadata,
        connectionConfig: { ...config, ...credentials.connectionConfig },
        createdAt: creationTime(body.created_at, services.clock.now()),
        ...profileOf(body),
      },
      askOptions(input),
    );
    const withCredentials = maySeeCredentials(caller);
    const view = { withCredentials, withRefreshToken: false };
    const shown = await presentConnection(services.vault, connection, view);
    return { status: 201, body: shown, headers: noStore };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/connections/{connectionId}',
  credential: 'environment',
  scopes: readScopes,
  summary: 'Get a connection.',
  description:
    'Credentials that are about to expire are refreshed first. They are included if the key has the scope for credentials; otherwise `credentials` is empty.',
  params: path,
  query: z.strictObject({
    provider_config_key: integrationKey,
    force_refresh: flag
      .optional()
      .describe('True: refresh the credentials, even if they have not expired.'),
    refresh_token: flag.optional().describe('True: include the refresh token.'),
    refresh_github_app_jwt_token: flag
      .optional()
      .describe('True: renew the token of a GitHub app, too.'),
    credentials: z.enum(['masked']).optional().meta({
      description:
        'Every secret is `***`. Without a refresh option nothing is refreshed, and the read is not audited.',
    }),
  }),
  answers: { 200: json('The connection.', connectionShape) },
  errors: [
    errorAt(400, 'unknown_provider_config'),
    'not_found',
    'invalid_credentials',
    errorAt(424, 'invalid_credentials'),
  ],
  async handle({ params, query, caller, services }) {
    const withCredentials = maySeeCredentials(caller);
    const { force_refresh, refresh_token, refresh_github_app_jwt_token } = query;
    const isMasked = query.credentials === 'masked';
    const isForced = [force_refresh, refresh_token, refresh_github_app_jwt_token].includes(true);
    if (isForced && !withCredentials) {
      const message = 'Token options need the scope environment:connections:read_credentials.';
      throw new GatewayError('forbidden', { message });
    }
    const connection = await requireConnection(
      services.control,
      caller.environmentUid,
      query.provider_config_key,
      params.connectionId,
      { code: 'not_found', integrationCode: 'unknown_provider_config', integrationStatus: 400 },
    );
    if (isMasked && !isForced) {
      const body = await presentConnection(services.vault, connection, maskedView);
      return { status: 200, body, headers: noStore };
    }
    const renewed = await freshOrRefused(services, connection, force_refresh === true);
    const fresh =
      refresh_github_app_jwt_token === true ? await renewJwt(services, renewed) : renewed;
    void observeFetch(services, fresh);
    const view = { withCredentials, withRefreshToken: refresh_token ?? false };
    const body = await presentConnection(services.vault, fresh, {
      ...(isMasked ? maskedView : view),
      fetchedAt: services.clock.now(),
    });
    return { status: 200, body, headers: noStore };
  },
});

const patch = defineRoute({
  method: 'PATCH',
  path: '/connections/{connectionId}',
  credential: 'environment',
  scopes: ['environment:connections:update'],
  summary: 'Update end user, tags and webhook address of a connection.',
  description: 'Absent fields keep their value.',
  params: path,
  query: ofIntegration,
  body: z.strictObject(profile),
  answers: succeeded,
  errors: [errorAt(400, 'unknown_provider_config'), 'not_found'],
  async handle(input) {
    const { params, query, body, caller, services } = input;
    const connection = await requireConnection(
      services.control,
      caller.environmentUid,
      query.provider_config_key,
      params.connectionId,
      { code: 'not_found', integrationCode: 'unknown_provider_config', integrationStatus: 400 },
    );
    await patchConnection(services, connection, profileOf(body), askOptions(input));
    return { status: 200, body: { success: true } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/connections/{connectionId}',
  credential: 'environment',
  scopes: ['environment:connections:delete'],
  summary: 'Delete a connection.',
  description:
    'Its syncs and records are deleted, and its data key is destroyed. On-event functions for the deletion run first and can refuse it.',
  params: path,
  query: ofIntegration,
  answers: succeeded,
  errors: [errorAt(400, 'unknown_connection'), 'connection_deletion_refused', 'run_interrupted'],
  async handle(input) {
    const { params, query, caller, services } = input;
    const connection = await requireConnection(
      services.control,
      caller.environmentUid,
      query.provider_config_key,
      params.connectionId,
      { status: 400, integrationCode: 'unknown_connection', integrationStatus: 400 },
    );
    const options = repeatableOptions(input);
    await runBeforeDeletion(services, connection, options);
    await deleteConnection(services, connection, options);
    return { status: 200, body: { success: true } };
  },
});

const metadataBody = z
  .strictObject({
    connection_id: z
      .union([connectionId, z.array(connectionId).min(1).max(1000)])
      .describe('Id of one connection, or ids of several.'),
    provider_config_key: integrationKey,
    metadata: jsonObject,
  })
  .meta({ id: 'ConnectionsMetadata' });

const replaceMetadata = defineRoute({
  method: 'POST',
  path: '/connections/metadata',
  credential: 'environment',
  scopes: ['environment:connections:update'],
  summary: 'Replace the metadata of connections.',
  body: metadataBody,
  answers: { 201: json('What was sent.', metadataBody) },
  errors: ['unknown_connection', 'unknown_provider_config'],
  async handle(input) {
    await writeMetadata(
      input.services,
      { ...metadataOf(input.body, input.caller), how: 'replace' },
      askOptions(input),
    );
    return { status: 201, body: input.body };
  },
});

const mergeMetadata = defineRoute({
  method: 'PATCH',
  path: '/connections/metadata',
  credential: 'environment',
  scopes: ['environment:connections:update'],
  summary: 'Merge keys into the metadata of connections.',
  description: 'Top-level keys are replaced; others stay.',
  body: metadataBody,
  answers: { 200: json('What was sent.', metadataBody) },
  errors: ['unknown_connection', 'unknown_provider_config'],
  async handle(input) {
    await writeMetadata(
      input.services,
      { ...metadataOf(input.body, input.caller), how: 'merge' },
      askOptions(input),
    );
    return { status: 200, body: input.body };
  },
});

function metadataOf(body: z.output<typeof metadataBody>, caller: Caller) {
  const { connection_id: ids, provider_config_key, metadata } = body;
  return {
    environmentUid: caller.environmentUid,
    integrationKey: provider_config_key,
    connectionIds: typeof ids === 'string' ? [ids] : [...new Set(ids)],
    metadata,
  };
}

/**
 * A fetch never returns credentials that are known to be expired (docs/reference/http.md#connections).
 * @throws GatewayError `invalid_credentials` with the connection, without credentials, as its payload: 424 when nothing
 *   was tried, 400 when the refresh failed
 */
async function freshOrRefused(
  services: ConnectionsServices,
  connection: Connection,
  isForced: boolean,
): Promise<Connection> {
  try {
    return await services.refresher.fresh(connection, { isForced });
  } catch (error) {
    if (!(error instanceof GatewayError) || !refreshRefusals.has(error.code)) throw error;
    const { environmentUid, integrationKey, connectionId } = connection;
    const view = { withCredentials: false, withRefreshToken: false };
    const existing =
      findConnection(services.control, environmentUid, integrationKey, connectionId) ?? connection;
    const payload = { connection: await presentConnection(services.vault, existing, view) };
    const { retryAfterS, fix } = error.details;
    const details = {
      message: error.message,
      payload,
      status: error.status,
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
      ...(fix === undefined ? {} : { fix }),
    };
    throw new GatewayError('invalid_credentials', details, { cause: error });
  }
}

const refreshRefusals = new Set<string>([
  'invalid_credentials',
  'connection_refresh_backoff',
  'connection_refresh_exhausted',
]);

const maskedView = { withCredentials: 'masked', withRefreshToken: false } as const;

function maySeeCredentials(caller: Caller): boolean {
  return caller.has('environment:connections:read_credentials');
}

const fetchNotedEveryMs = 3_600_000;
const noteLeaseMs = 60_000;

/** An observation: it does not delay the response, and a lost one only makes "last fetched" older. */
async function observeFetch(services: ConnectionsServices, connection: Connection): Promise<void> {
  const { clock, coordination, logger } = services;
  if (clock.now() - (connection.lastFetchedAt ?? 0) < fetchNotedEveryMs) return;
  try {
    const name = `fetch-noted/${connection.uid}`;
    if ((await coordination.acquire(name, { ttlMs: noteLeaseMs })) === null) return;
    await noteFetched(services, connection);
  } catch (error) {
    logger.debug({ err: error, connectionUid: connection.uid }, 'fetch not noted');
  }
}

export const connectionRoutes: readonly AnyRoute[] = [
  listRoute,
  create,
  get,
  patch,
  remove,
  replaceMetadata,
  mergeMetadata,
];
