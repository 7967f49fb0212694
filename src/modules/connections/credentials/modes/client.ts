import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import type { IntegrationCredentials } from '../../integrations/state.ts';
import type { IntegrationNeeds, ModeContext } from './mode.ts';

const id = z.string().min(1).max(255);
const secret = z.string().min(1);
const scopes = z
  .string()
  .regex(/^(?:[0-9a-zA-Z:/_.*-]+(?:,[0-9a-zA-Z:/_.*-]+)*)?$/)
  .optional();
const rsaKey = z
  .string()
  .trim()
  .regex(/^-----BEGIN RSA PRIVATE KEY----[^]*-----END RSA PRIVATE KEY-----$/);

/** A client of OAuth. */
export const oauthClient = (
  type: 'OAUTH1' | 'OAUTH2' | 'TBA',
  { isRequired }: { readonly isRequired: boolean },
): IntegrationNeeds => ({
  isRequired,
  shape: z.strictObject({
    type: z.literal(type),
    client_id: id,
    client_secret: secret,
    scopes,
    webhook_secret: z.string().max(255).optional(),
  }),
});

const appFields = { app_id: id, app_link: z.string().min(1), private_key: rsaKey };

/** An app that is installed at the provider, with or without an OAuth client of its own. */
export const app: IntegrationNeeds = {
  isRequired: true,
  shape: z.strictObject({ type: z.literal('APP'), ...appFields }),
};
export const appWithClient: IntegrationNeeds = {
  isRequired: true,
  shape: z.strictObject({
    type: z.literal('CUSTOM'),
    client_id: id,
    client_secret: secret,
    ...appFields,
  }),
};

/** @throws GatewayError `invalid_credentials`: the integration has no client */
export function requireClient(
  context: Pick<ModeContext, 'client' | 'provider'>,
): IntegrationCredentials {
  if (context.client !== null) return context.client;
  const message = `The integration of "${context.provider.name}" has no client credentials; add them to it.`;
  throw new GatewayError('invalid_credentials', { message });
}
