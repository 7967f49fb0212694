import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { jsonObject } from '../../../http/fields.ts';
import { endUserShape } from '../connections/presenter.ts';

/** The session that the application gives to its user. */
export const madeSessionShape = data(
  z.strictObject({ token: z.string(), connect_link: z.string(), expires_at: timestamp }).meta({
    id: 'ConnectToken',
    examples: [
      {
        token: 'svc_connect_session_…',
        connect_link: 'https://gateway.example.com/connect/ui/?session_token=svc_connect_session_…',
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
      endUser: endUserShape.nullable(),
      connectUISettings: z.strictObject({
        theme: z.strictObject({ light: primary, dark: primary }),
        defaultTheme: z.enum(['light', 'dark', 'system']),
        showWatermark: z.boolean(),
        logo: z.string().optional(),
        texts: z.record(z.string(), z.record(z.string(), z.string())).optional(),
      }),
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
      isReconnecting: z.literal(true).optional(),
      overrides: z.record(z.string(), z.strictObject({ docs_connect: z.string() })).optional(),
      websocketsPath: z.string(),
    })
    .meta({ id: 'ConnectSession' }),
);
