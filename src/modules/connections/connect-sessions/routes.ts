import { z } from 'zod';
import { findCaughtUp } from '#control-plane/control-plane.ts';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import { bodyRefused } from '#http/error-response.ts';
import {
  connectionId,
  endUserInput,
  integrationKey,
  mapOf,
  jsonObject,
  organizationInput,
  tags,
  text,
  webAddress,
  webhookUrl,
} from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, nothing, data, timestamp } from '#http/responses.ts';
import { socketsPath } from '#http/sockets.ts';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import { isoMillis } from '#kernel/time.ts';
import { connectUiSettings } from '#modules/access/connect-ui/connect-ui.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { endUserShape, presentEndUser } from '../connections/presenter.ts';
import { findConnection } from '../connections/queries.ts';
import type { EndUser } from '../connections/state.ts';
import { findIntegration } from '../integrations/queries.ts';
import { defineRoute, type ConnectionsServices } from '../services.ts';
import type { ConnectSession, SessionDefaults, IntegrationDefaults } from './connect-session.ts';
import {
  createSession,
  endSession,
  openDefaults,
  requireSession,
  type SessionRequest,
} from './handlers.ts';

/** The session that the application gives to its user. */
const madeSessionShape = data(
  z
    .strictObject({
      token: z.string().describe('Token of the session, for the connect page.'),
      connect_link: z.string().describe('Address of the connect page with the token.'),
      expires_at: timestamp,
    })
    .meta({
      id: 'ConnectToken',
      examples: [
        {
          token: 'svc_connect_session_…',
          connect_link:
            'https://gateway.example.com/connect/ui/?session_token=svc_connect_session_…',
          expires_at: '2026-02-01T08:30:00.000Z',
        },
      ],
    }),
);

const primary = z.strictObject({ primary: z.string() });

const defaults = representation<IntegrationDefaults>()({
  connection_config: jsonObject.optional(),
  authorization_params: jsonObject.optional(),
});

interface SessionShown extends ConnectSession {
  readonly opened: SessionDefaults;
  readonly environment: Environment;
}

/** Undefined: there are none. */
const mapped = <T, Shown>(map: Readonly<Record<string, T>>, show: (value: T) => Shown) => {
  const entries = Object.entries(map).map(([key, value]) => [key, show(value)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/** The session for the connect page (docs/reference/http.md#connect-sessions). */
const shown = representation<SessionShown>()({
  endUser: [
    endUserShape.nullable().describe('The end user; null if the session names none.'),
    ({ endUser }) => endUser && presentEndUser(endUser),
  ],
  connectUISettings: [
    z
      .strictObject({
        theme: z.strictObject({ light: primary, dark: primary }),
        defaultTheme: z
          .enum(['light', 'dark', 'system'])
          .describe('Color scheme of the connect page; `system` follows the browser.'),
        showWatermark: z.boolean().describe('Whether the connect page names the product.'),
        logo: z.string().optional(),
        texts: z.record(z.string(), z.record(z.string(), z.string())).optional(),
      })
      .describe('Appearance of the connect page.'),
    ({ environment }) => connectUiSettings(environment),
  ],
  allowed_integrations: [
    z.array(z.string()).optional(),
    ({ allowedIntegrations: keys }) => (keys.length === 0 ? undefined : keys),
  ],
  integrations_config_defaults: [
    z.record(z.string(), defaults.schema).optional(),
    ({ opened }) => mapped(opened, defaults.of),
  ],
  isReconnecting: [
    z.literal(true).optional().describe('Present where the session renews a connection.'),
    ({ reconnects }) => (reconnects === null ? undefined : true),
  ],
  overrides: [
    z.record(z.string(), z.strictObject({ docs_connect: z.string() })).optional(),
    ({ docs }) => mapped(docs, (docs_connect) => ({ docs_connect })),
  ],
  websocketsPath: [
    z.string().describe('Path of the WebSocket that reports the outcome.'),
    () => socketsPath,
  ],
});

const presentSession = shown.of;
const sessionShape = data(shown.schema.meta({ id: 'ConnectSession' }));

/** The link for the user; it contains the token. */
function connectLink(publicUrl: string, token: string): string {
  return `${publicUrl}/connect/ui/?session_token=${token}`;
}

const noStore = { 'cache-control': 'no-store' };
const integrationsMax = 1000;

/** Loose, except for the fields that the service reads. */
const connectionConfig = jsonObject.superRefine((config, context) => {
  const { oauth_scopes_override: scopes, webhook_url: url } = config;
  if (scopes !== undefined && typeof scopes !== 'string') {
    const message = 'Send the scopes as one comma-separated list.';
    context.addIssue({ code: 'custom', message, path: ['oauth_scopes_override'] });
  }
  if (url !== undefined && !webhookUrl.safeParse(url).success) {
    context.addIssue({ code: 'custom', message: 'The value is not a URL.', path: ['webhook_url'] });
  }
});

const common = {
  end_user: endUserInput.optional(),
  organization: organizationInput.optional(),
  tags: tags.optional(),
  integrations_config_defaults: mapOf(
    integrationKey,
    z.strictObject({
      user_scopes: text(0, 8192)
        .optional()
        .describe('Scopes of the user token, separated by commas.'),
      authorization_params: mapOf(text(1, 255), text(0, 8192)).optional(),
      connection_config: connectionConfig.optional(),
    }),
  ).optional(),
  overrides: mapOf(
    integrationKey,
    z.strictObject({ docs_connect: webAddress.optional() }),
  ).optional(),
  webhook_url_override: webhookUrl.optional(),
};
type CommonBody = z.output<z.ZodObject<typeof common>>;

const create = defineRoute({
  method: 'POST',
  path: '/connect/sessions',
  credential: 'environment',
  scopes: ['environment:connect_sessions:write'],
  summary: 'Create a connect session.',
  description:
    'The token lets one end user create connections for 30 minutes, on the connect page or in the application.',
  body: z
    .strictObject({
      ...common,
      allowed_integrations: z.array(integrationKey).max(integrationsMax).optional(),
    })
    .superRefine((sent, context) => {
      if (sent.end_user !== undefined || sent.tags !== undefined) return;
      const message = 'Send end_user or tags.';
      context.addIssue({ code: 'custom', message, path: ['end_user'] });
    }),
  answers: { 201: json('The token of the session.', madeSessionShape) },
  errors: [],
  async handle(input) {
    const { body, caller, services } = input;
    const { allowed_integrations: allowed = [], ...rest } = body;
    const { environmentUid } = caller;
    await refuseUnknownIntegrations(services, environmentUid, rest, allowed);
    const request = { ...requestOf(environmentUid, rest), allowedIntegrations: allowed };
    return made(services, await createSession(services, request, askOptions(input)));
  },
});

const reconnect = defineRoute({
  method: 'POST',
  path: '/connect/sessions/reconnect',
  credential: 'environment',
  scopes: ['environment:connect_sessions:write'],
  summary: 'Create a connect session that renews a connection.',
  description: 'The token lets the end user authorize one connection again, within 30 minutes.',
  body: z.strictObject({ ...common, connection_id: connectionId, integration_id: integrationKey }),
  answers: { 201: json('The token of the session.', madeSessionShape) },
  errors: [],
  async handle(input) {
    const { body, caller, services } = input;
    const { connection_id, integration_id, ...rest } = body;
    const { environmentUid } = caller;
    await refuseUnknownIntegrations(services, environmentUid, rest, []);
    const existing = await findCaughtUp(services.control.view, () =>
      findConnection(services.control, environmentUid, integration_id, connection_id),
    );
    if (existing === null) {
      const message = `The connection "${connection_id}" of the integration "${integration_id}" does not exist.`;
      throw bodyRefused(['connection_id'], message);
    }
    const { uid } = existing;
    const request = {
      ...requestOf(environmentUid, rest),
      allowedIntegrations: [integration_id],
      reconnects: { uid, integrationKey: integration_id, connectionId: connection_id },
    };
    return made(services, await createSession(services, request, askOptions(input)));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/connect/session',
  credential: 'connect',
  scopes: [],
  summary: 'Get the connect session of the token.',
  answers: { 200: json('The session.', sessionShape) },
  errors: [],
  async handle({ caller, services }) {
    const session = requireSession(caller);
    const { control, vault } = services;
    const environment = control.view.find(environmentRef(session.environmentUid));
    // Its environment was deleted after the token was looked up.
    if (environment === null) throw new GatewayError('unknown_connect_session_token');
    const opened = await openDefaults(vault, session);
    const data = presentSession({ ...session, opened, environment });
    return { status: 200, body: { data }, headers: noStore };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/connect/session',
  credential: 'connect',
  scopes: [],
  summary: 'End the connect session of the token.',
  description: 'Its token is no longer accepted.',
  answers: { 204: nothing('The session is over.') },
  errors: [],
  async handle(input) {
    await endSession(input.services, requireSession(input.caller), repeatableOptions(input));
    return { status: 204 };
  },
});

function made(
  { settings }: ConnectionsServices,
  { session, token }: { readonly session: ConnectSession; readonly token: string },
): RouteAnswer {
  const data = {
    token,
    connect_link: connectLink(settings.publicUrl, token),
    expires_at: isoMillis(session.expiresAt),
  };
  return { status: 201, body: { data }, headers: noStore };
}

function requestOf(environmentUid: string, body: CommonBody): SessionRequest {
  const { end_user: user, organization: sent, overrides = {} } = body;
  const organization =
    sent === undefined ? null : { id: sent.id, displayName: sent.display_name ?? null };
  const endUser: EndUser | null =
    user === undefined
      ? null
      : {
          id: user.id,
          email: user.email ?? null,
          displayName: user.display_name ?? null,
          tags: user.tags ?? {},
          organization,
        };
  const docs = Object.entries(overrides).flatMap(([key, { docs_connect: url }]) =>
    url === undefined ? [] : [[key, url] as const],
  );
  const { defaults, webhookUrl: hoisted } = defaultsOf(body);
  const url = body.webhook_url_override ?? hoisted ?? '';
  return {
    environmentUid,
    endUser,
    organization,
    tags: body.tags,
    allowedIntegrations: [],
    defaults,
    docs: Object.fromEntries(docs),
    webhookUrlOverride: url === '' ? null : url,
    reconnects: null,
  };
}

/** A webhook address inside a configuration is one of the session (deprecated, docs/reference/http.md#connect-sessions). */
function defaultsOf({ integrations_config_defaults: sent = {} }: CommonBody): {
  readonly defaults: SessionDefaults;
  readonly webhookUrl: string | undefined;
} {
  let hoisted: string | undefined;
  const entries = Object.entries(sent).map(([key, overrides]) => {
    const { webhook_url: url, ...config } = overrides.connection_config ?? {};
    if (typeof url === 'string') hoisted ??= url;
    const defaults = {
      ...(overrides.user_scopes === undefined ? {} : { userScopes: overrides.user_scopes }),
      ...(overrides.authorization_params === undefined
        ? {}
        : { authorizationParams: overrides.authorization_params }),
      ...(overrides.connection_config === undefined ? {} : { connectionConfig: config }),
    };
    return [key, defaults] as const;
  });
  return { defaults: Object.fromEntries(entries), webhookUrl: hoisted };
}

/** @throws GatewayError `invalid_body` with the path of each unknown integration */
async function refuseUnknownIntegrations(
  { control }: ConnectionsServices,
  environmentUid: string,
  body: CommonBody,
  allowed: readonly string[],
): Promise<void> {
  const named = [
    ...allowed.map((key, index) => ({ key, path: ['allowed_integrations', String(index)] })),
    ...keysAt('integrations_config_defaults'),
    ...keysAt('overrides'),
  ];
  const isUnknown = ({ key }: { readonly key: string }): boolean =>
    findIntegration(control, environmentUid, key) === null;
  if (named.some(isUnknown)) await control.view.caughtUp();
  const errors = named.filter(isUnknown).map(({ key, path }): Issue => {
    return {
      code: 'custom',
      message: `The integration "${key}" does not exist in this environment.`,
      path,
    };
  });
  if (errors.length > 0) throw new GatewayError('invalid_body', { errors });

  function keysAt(field: 'integrations_config_defaults' | 'overrides') {
    return Object.keys(body[field] ?? {}).map((key) => ({ key, path: [field, key] }));
  }
}

export const connectSessionRoutes: readonly AnyRoute[] = [create, reconnect, get, remove];
