import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import type { Credentials } from '../../connections/state.ts';
import { oauthClient } from './client.ts';
import type { AuthModeRules, AuthorizationCall } from './mode.ts';
import { oauth1Header } from './oauth1-signature.ts';
import { present, strict } from './shapes.ts';

const secret = z.string().min(1).max(2048);
const override = z
  .strictObject({
    client_id: z.string().max(255).optional(),
    client_secret: z.string().max(2048).optional(),
  })
  .optional();

/** A fixed token; every call is signed with realm = account (docs/reference/auth-modes.md#tba). */
export const tba: AuthModeRules = {
  mode: 'TBA',
  integration: oauthClient('TBA', { isRequired: false }),
  importShape: () =>
    strict({
      type: z.literal('TBA'),
      token_id: secret,
      token_secret: secret,
      config_override: override,
    }),
  import: async (input, { connectionConfig }) => {
    if (textAt(connectionConfig, 'accountId') === null) throw withoutAccount();
    const credentials = { config_override: {}, ...input } as unknown as Credentials;
    return { credentials, expiresAt: null };
  },
  form: {
    shape: () =>
      strict({
        token_id: secret,
        token_secret: secret,
        oauth_client_id_override: z.string().max(255).optional(),
        oauth_client_secret_override: z.string().max(2048).optional(),
      }),
    submit: async (credentials) => ({ credentials: fromForm(credentials), expiresAt: null }),
  },
  redirect: null,
  renewal: null,
  isTested: true,
  authorization: signedHeader,
};

/** The realm of every call. */
function withoutAccount(): GatewayError {
  const message = 'The account for signed calls is required.';
  const path = ['connection_config', 'accountId'];
  return new GatewayError('invalid_body', { errors: [{ code: 'custom', message, path }] });
}

function fromForm(input: JsonObject): Credentials {
  const { token_id, token_secret, oauth_client_id_override, oauth_client_secret_override } = input;
  const config_override = present({
    client_id: oauth_client_id_override,
    client_secret: oauth_client_secret_override,
  });
  return { ...present({ token_id, token_secret }), type: 'TBA', config_override };
}

function signedHeader(call: AuthorizationCall): string {
  const { credentials, connectionConfig } = call;
  const own = objectOf(credentials['config_override']);
  const account = textAt(connectionConfig, 'accountId') ?? '';
  return oauth1Header({
    method: call.method,
    url: call.url,
    form: call.form,
    consumerKey: textAt(own, 'client_id') ?? call.clientId ?? '',
    consumerSecret: textAt(own, 'client_secret') ?? call.clientSecret ?? '',
    token: textAt(credentials, 'token_id') ?? '',
    tokenSecret: textAt(credentials, 'token_secret') ?? '',
    algorithm: 'HMAC-SHA256',
    realm: account.replaceAll('-', '_').toUpperCase(),
    timestamp: Math.floor(call.now / 1000),
    nonce: call.nonce,
  });
}
