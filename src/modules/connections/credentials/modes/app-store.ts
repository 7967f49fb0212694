import { SignJWT } from 'jose';
import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { privateKeyOf } from '../../providers/private-key.ts';
import { iso } from './expiry.ts';
import { bearer, type AuthModeRules, type ModeContext, type ObtainedCredentials } from './mode.ts';
import { strict } from './shapes.ts';

const lifetimeSeconds = 15 * 60;
const fields = {
  privateKeyId: z.string().min(1).max(255),
  issuerId: z.string().min(1).max(255),
  privateKey: z.string().min(1).max(10_000),
  scope: z.array(z.string().min(1).max(1024)).max(100).optional(),
};

/** An ES256 token for the store's API. */
export const appStore: AuthModeRules = {
  mode: 'APP_STORE',
  integration: null,
  importShape: () => strict({ type: z.literal('APP_STORE'), ...fields }),
  import: (input, context) => signed(input, context),
  form: { shape: () => strict(fields), submit: signed },
  redirect: null,
  renewal: {
    isPossible: () => true,
    spendsToken: () => false,
    renew: (held, context) => signed(givenOf(held), context),
  },
  isTested: false,
  authorization: ({ credentials }) => bearer(credentials['access_token']),
};

/** The credentials under the names that the API returns, unchanged. */
const givenOf = (held: JsonObject): JsonObject => ({
  privateKeyId: held['private_key_id'] ?? '',
  issuerId: held['issuer_id'] ?? '',
  privateKey: held['private_key'] ?? '',
  ...(held['scope'] === undefined ? {} : { scope: held['scope'] }),
});

async function signed(input: JsonObject, { clock }: ModeContext): Promise<ObtainedCredentials> {
  const issuedAt = Math.floor(clock.now() / 1000);
  const expires = issuedAt + lifetimeSeconds;
  const privateKey = textAt(input, 'privateKey') ?? '';
  const keyId = textAt(input, 'privateKeyId') ?? '';
  const issuer = textAt(input, 'issuerId') ?? '';
  const { scope } = input;
  const scopes = scope === undefined ? {} : { scope };
  let token: string;
  try {
    token = await new SignJWT(scopes)
      .setProtectedHeader({ alg: 'ES256', kid: keyId, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience('appstoreconnect-v1')
      .setIssuedAt(issuedAt)
      .setExpirationTime(expires)
      .sign(privateKeyOf(privateKey));
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const message = 'The private key must be an elliptic-curve key (P-256) in PEM.';
    throw new GatewayError('invalid_credentials', { message }, { cause });
  }
  const expiresAt = expires * 1000;
  return {
    credentials: {
      type: 'APP_STORE',
      access_token: token,
      expires_at: iso(expiresAt),
      private_key: privateKey,
      private_key_id: keyId,
      issuer_id: issuer,
      ...scopes,
      raw: { access_token: token },
    },
    expiresAt,
  };
}
