import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { isRsaPrivateKey } from '#rules/private-key.ts';
import type { IntegrationCredentials } from '../../integrations/integration.ts';
import type { IntegrationNeeds, ModeContext } from './mode.ts';

/** A key of 16,384 bits in PEM, with every line break escaped, is shorter. */
const pemCharsMax = 20_000;
/** Some providers sign with a private key: the secret is their public key in PEM. */
const webhookSecretCharsMax = 4096;
const id = z.string().min(1).max(255);
const secret = z.string().min(1);
/** The characters of RFC 6749 section 3.3, except the comma, which separates the scopes. */
export const scopes = z
  .string()
  .regex(
    /^(?:[!#-+\--[\]-~]+(?:,[!#-+\--[\]-~]+)*)?$/,
    'Send scopes of RFC 6749, section 3.3, with commas and no spaces between them.',
  )
  .optional();
const rsaKey = z
  .string()
  .trim()
  .max(pemCharsMax)
  .refine(isRsaPrivateKey, 'Send the complete RSA private key in PEM.');

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
    webhook_secret: z.string().max(webhookSecretCharsMax).optional(),
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
