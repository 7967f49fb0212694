import type { Instant } from '#kernel/time.ts';
import type { Credentials } from '../../connections/state.ts';
import { atTime, iso } from './expiry.ts';
import type { ModeContext, ObtainedCredentials } from './mode.ts';
import { ProviderAuthError } from './provider-auth-error.ts';
import { addressOf, requestToken, clientHeader, tokenValues } from './token-request.ts';

/** With the ten seconds of the preceding token call, it stays within the lease of a refresh. */
const timeoutMs = 3_000;

/**
 * The token with its expiry, for providers that return it only at their introspection endpoint (RFC 7662). Without an
 * expiry, the token is used until a call with it is answered 401.
 */
export async function withIntrospectedEnd(
  context: ModeContext,
  client: { readonly id: string; readonly secret: string },
  obtained: ObtainedCredentials,
): Promise<ObtainedCredentials> {
  const credentials = obtained.credentials as Credentials;
  if (context.provider.introspection_url === undefined || obtained.expiresAt !== null) {
    return obtained;
  }
  const expiresAt = await endOf(context, client, credentials['access_token'] ?? '');
  if (expiresAt === null) return obtained;
  return { ...obtained, credentials: { ...credentials, expires_at: iso(expiresAt) }, expiresAt };
}

async function endOf(
  context: ModeContext,
  client: { readonly id: string; readonly secret: string },
  token: Credentials[string],
): Promise<Instant | null> {
  const { provider, clock } = context;
  const values = tokenValues(context, null);
  try {
    const { body } = await requestToken(context, {
      url: addressOf(provider, 'introspection_url', provider.introspection_url, values),
      params: { token, token_type_hint: 'access_token' },
      headers: { authorization: clientHeader(client.id, client.secret) },
      timeoutMs,
      failure: 'refresh_token_external_error',
    });
    return atTime(body['exp'], clock.now());
  } catch (error) {
    // The provider has issued the tokens: a missing expiry must not lose them.
    if (error instanceof ProviderAuthError) return null;
    throw error;
  }
}
