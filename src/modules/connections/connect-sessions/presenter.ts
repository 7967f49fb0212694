import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { jsonObject } from '../../../http/fields.ts';
import { endUserShape, presentEndUser } from '../connections/presenter.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';
import { connectUiSettings } from '../../access/connect-ui/connect-ui.ts';
import type { Environment } from '../../access/environments/state.ts';
import { socketsPath } from '../../../http/sockets.ts';
import type { ConnectSession, SessionDefaults } from './state.ts';

/** The session that the application gives to its user. */
export const madeSessionShape = data(
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

/** The session for the connect page (docs/reference/http.md#connect-sessions). */
export const sessionShape = data(
  z
    .strictObject({
      endUser: endUserShape.nullable().describe('The end user; null if the session names none.'),
      connectUISettings: z
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
      allowed_integrations: z.array(z.string()).optional(),
      integrations_config_defaults: z
        .record(
          z.string(),
          z.strictObject({
            connection_config: jsonObject.optional(),
            authorization_params: jsonObject.optional(),
          }),
        )
        .optional(),
      isReconnecting: z
        .literal(true)
        .optional()
        .describe('Present where the session renews a connection.'),
      overrides: z.record(z.string(), z.strictObject({ docs_connect: z.string() })).optional(),
      websocketsPath: z.string().describe('Path of the WebSocket that reports the outcome.'),
    })
    .meta({ id: 'ConnectSession' }),
);

/** The link for the user; it contains the token. */
export function connectLink(publicUrl: string, token: string): string {
  return `${publicUrl}/connect/ui/?session_token=${token}`;
}

/** The session for the connect page (docs/reference/http.md#connect-sessions). */
export function presentSession(
  session: ConnectSession,
  defaults: SessionDefaults,
  environment: Environment,
): JsonObject {
  const { endUser, allowedIntegrations, docs, reconnects } = session;
  const shownDefaults = Object.entries(defaults).map(([key, integrationDefaults]) => [
    key,
    {
      ...(integrationDefaults.connectionConfig === undefined
        ? {}
        : { connection_config: integrationDefaults.connectionConfig }),
      ...(integrationDefaults.authorizationParams === undefined
        ? {}
        : { authorization_params: integrationDefaults.authorizationParams }),
    },
  ]);
  const overrides = Object.entries(docs).map(([key, url]) => [key, { docs_connect: url }]);
  return {
    endUser: endUser === null ? null : presentEndUser(endUser),
    connectUISettings: connectUiSettings(environment),
    ...(allowedIntegrations.length === 0 ? {} : { allowed_integrations: allowedIntegrations }),
    ...(shownDefaults.length === 0
      ? {}
      : { integrations_config_defaults: Object.fromEntries(shownDefaults) as JsonObject }),
    ...(reconnects === null ? {} : { isReconnecting: true }),
    ...(overrides.length === 0 ? {} : { overrides: Object.fromEntries(overrides) as JsonObject }),
    websocketsPath: socketsPath,
  };
}
