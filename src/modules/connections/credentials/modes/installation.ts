import { SignJWT } from 'jose';
import { textAt } from '#kernel/json-path.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import { privateKeyOf } from '#rules/private-key.ts';
import type { Credentials } from '../../connections/state.ts';
import { requireClient } from './client.ts';
import { iso } from './expiry.ts';
import type { ModeContext, ObtainedCredentials } from './mode.ts';
import { expiryOf } from './oauth2-token.ts';
import { answerWithout } from './provider-auth-error.ts';
import { addressOf, requestToken, headersOf, tokenValues } from './token-request.ts';

const jwtSeconds = 600;
/** Lifetime of a token when the provider does not return one. */
const lifetimeMs = 3_600_000;

/** The app's own JWT: RS256, issuer = app, ten minutes. */
async function appJwt(context: ModeContext, appId: string): Promise<string> {
  const { privateKey = '' } = requireClient(context);
  const issuedAt = Math.floor(context.clock.now() / 1000);
  return new SignJWT({})
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(appId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + jwtSeconds)
    .sign(privateKeyOf(privateKey));
}

/** The existing credentials with a new JWT of the app; null where they have no app. */
export async function withNewJwt(
  held: Credentials,
  context: ModeContext,
): Promise<Credentials | null> {
  const appId = textAt(context.connectionConfig, 'app_id') ?? context.client?.appId ?? '';
  const { app } = held;
  if (held.type === 'APP') return { ...held, jwtToken: await appJwt(context, appId) };
  if (held.type !== 'CUSTOM' || !isJsonObject(app)) return null;
  return { ...held, app: { ...app, jwtToken: await appJwt(context, appId) } };
}

/**
 * Exchanges the app's JWT for a token of one installation.
 * @throws ProviderAuthError
 */
export async function installationToken(
  context: ModeContext,
  installation: { readonly appId: string; readonly installationId: string },
): Promise<ObtainedCredentials> {
  const { provider, clock } = context;
  const { appId, installationId } = installation;
  const config: JsonObject = {
    ...context.connectionConfig,
    app_id: appId,
    installation_id: installationId,
  };
  const jwt = await appJwt(context, appId);
  const values = tokenValues({ ...context, connectionConfig: config }, null);
  const { token_url: tokenUrl } = provider;
  const template = typeof tokenUrl === 'string' ? tokenUrl : tokenUrl?.APP;
  const { body } = await requestToken(context, {
    url: addressOf(provider, 'token_url', template, values),
    params: {},
    format: 'json',
    headers: { ...headersOf(provider.token_headers, values), authorization: `Bearer ${jwt}` },
    failure: 'invalid_credentials',
  });
  const token = textAt(body, 'token') ?? textAt(body, 'access_token');
  if (token === null) {
    throw answerWithout('installation token', provider, 'unable_to_parse_token_response');
  }
  const expiresAt = expiryOf(body, provider, clock.now()) ?? clock.now() + lifetimeMs;
  const credentials: Credentials = {
    type: 'APP',
    access_token: token,
    expires_at: iso(expiresAt),
    raw: body,
    jwtToken: jwt,
  };
  return {
    credentials,
    expiresAt,
    connectionConfig: { app_id: appId, installation_id: installationId },
  };
}
