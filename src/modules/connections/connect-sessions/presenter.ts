import { z } from 'zod';
import { jsonObject } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { socketsPath } from '#http/sockets.ts';
import { connectUiSettings } from '#modules/access/connect-ui/connect-ui.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { endUserShape, presentEndUser } from '../connections/presenter.ts';
import type { ConnectSession, IntegrationDefaults, SessionDefaults } from './connect-session.ts';

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

export const presentSession = shown.of;
export const sessionShape = data(shown.schema.meta({ id: 'ConnectSession' }));

/** The link for the user; it contains the token. */
export function connectLink(publicUrl: string, token: string): string {
  return `${publicUrl}/connect/ui/?session_token=${token}`;
}
