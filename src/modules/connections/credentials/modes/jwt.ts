import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { iso } from './expiry.ts';
import { bearer, type AuthModeRules, type ModeContext, type ObtainedCredentials } from './mode.ts';
import { providerFields, typed } from './shapes.ts';
import { signTemplate } from './signed-token.ts';
import { tokenValues } from './token-request.ts';

/** A token that this service signs with the person's key (docs/reference/auth-modes.md#jwt). */
export const jwt: AuthModeRules = {
  mode: 'JWT',
  integration: null,
  importShape: (provider) => typed('JWT', (more) => providerFields(provider, more)),
  import: (input, context) => signed(input, context),
  form: { shape: (provider) => providerFields(provider), submit: signed },
  redirect: null,
  renewal: { isPossible: () => true, spendsToken: () => false, renew: signed },
  isTested: true,
  authorization: ({ credentials }) => bearer(credentials['token']),
};

async function signed(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials> {
  const { provider, clock } = context;
  const { token: template, signature: rules } = provider;
  if (template === undefined || rules === undefined) {
    const message = `The definition of the provider "${provider.name}" does not say how its tokens are signed.`;
    throw new GatewayError('unsupported_auth', { message });
  }
  const values = tokenValues(context, input);
  const { token, expiresAt } = await signTemplate(template, rules, values, clock.now());
  const { token: _former, expires_at: _end, ...stored } = input;
  return {
    credentials: { ...stored, type: 'JWT', token, expires_at: iso(expiresAt) },
    expiresAt,
  };
}
