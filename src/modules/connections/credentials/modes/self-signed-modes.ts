import { createHash, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { privateKeyOf } from '#rules/private-key.ts';
import { iso } from './expiry.ts';
import { bearer, type AuthModeRules, type ModeContext, type ObtainedCredentials } from './mode.ts';
import { strict, providerFields, typed } from './shapes.ts';
import { signTemplate } from './signed-token.ts';
import { tokenValues } from './token-request.ts';

const lifetimeMsDefault = 300_000;
const field = z.string().min(1).max(1024);
const signatureFields = { type: z.literal('SIGNATURE'), username: field, password: field };

/** WSSE UsernameToken (docs/reference/auth-modes.md#signature). */
export const signature: AuthModeRules = {
  mode: 'SIGNATURE',
  integration: null,
  importShape: () => strict(signatureFields),
  import: async (input, context) => signedDigest(input, context),
  form: {
    shape: () => strict(signatureFields),
    submit: async (credentials, context) => signedDigest(credentials, context),
  },
  redirect: null,
  renewal: {
    isPossible: () => true,
    spendsToken: () => false,
    renew: async (held, context) => signedDigest(held, context),
  },
  isTested: true,
  authorization: ({ credentials }) => bearer(credentials['token']),
};

function signedDigest(input: JsonObject, { provider, clock }: ModeContext): ObtainedCredentials {
  const now = clock.now();
  const username = textAt(input, 'username') ?? '';
  const password = textAt(input, 'password') ?? '';
  const expiresAt = now + (provider.token?.expires_in_ms ?? lifetimeMsDefault);
  const token = usernameToken({ username, password, now, nonce: randomBytes(16).toString('hex') });
  return {
    credentials: { type: 'SIGNATURE', username, password, token, expires_at: iso(expiresAt) },
    expiresAt,
  };
}

/** The digest is base64 of the hexadecimal text of SHA-1, as the providers of this mode expect it. */
function usernameToken(parts: {
  readonly username: string;
  readonly password: string;
  readonly now: number;
  readonly nonce: string;
}): string {
  const created = iso(parts.now);
  const digest = createHash('sha1')
    .update(`${parts.nonce}${created}${parts.password}`)
    .digest('hex');
  const encoded = Buffer.from(digest).toString('base64');
  return `UsernameToken Username="${parts.username}", PasswordDigest="${encoded}", Nonce="${parts.nonce}", Created="${created}"`;
}

/** A token that this service signs with the person's key (docs/reference/auth-modes.md#jwt). */
export const jwt: AuthModeRules = {
  mode: 'JWT',
  integration: null,
  importShape: (provider) => typed('JWT', (more) => providerFields(provider, more)),
  import: (input, context) => signedJwt(input, context),
  form: { shape: (provider) => providerFields(provider), submit: signedJwt },
  redirect: null,
  renewal: { isPossible: () => true, spendsToken: () => false, renew: signedJwt },
  isTested: true,
  authorization: ({ credentials }) => bearer(credentials['token']),
};

async function signedJwt(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials> {
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

const lifetimeSeconds = 15 * 60;
const appStoreFields = {
  privateKeyId: z.string().min(1).max(255),
  issuerId: z.string().min(1).max(255),
  privateKey: z.string().min(1).max(10_000),
  scope: z.array(z.string().min(1).max(1024)).max(100).optional(),
};

/** An ES256 token for the store's API. */
export const appStore: AuthModeRules = {
  mode: 'APP_STORE',
  integration: null,
  importShape: () => strict({ type: z.literal('APP_STORE'), ...appStoreFields }),
  import: (input, context) => signedAppStoreToken(input, context),
  form: { shape: () => strict(appStoreFields), submit: signedAppStoreToken },
  redirect: null,
  renewal: {
    isPossible: () => true,
    spendsToken: () => false,
    renew: (held, context) => signedAppStoreToken(givenOf(held), context),
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

async function signedAppStoreToken(
  input: JsonObject,
  { clock }: ModeContext,
): Promise<ObtainedCredentials> {
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
