import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { plainText, textAt } from '#kernel/json-path.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import { interpolate, type TemplateValues } from '#rules/interpolate.ts';
import type { Credentials } from '../../connections/state.ts';
import type { Provider } from '../../providers/definition.ts';
import { accessTokenRequest, earlyRefusal } from './access-token.ts';
import { oauthClient, requireClient } from './client.ts';
import { atTime, iso } from './expiry.ts';
import {
  bearer,
  type AuthModeRules,
  type ModeContext,
  type ObtainedCredentials,
  type RedirectContext,
  type RedirectStart,
  type ScopesContext,
} from './mode.ts';
import { picked, readToken } from './oauth2-token.ts';
import { ProviderAuthError } from './provider-auth-error.ts';
import { date, strict } from './shapes.ts';
import {
  addressOf,
  requestToken,
  clientHeader,
  headersOf,
  paramsOf,
  tokenValues,
  type TokenRequest,
} from './token-request.ts';

/** With the ten seconds of the preceding token call, it stays within the lease of a refresh. */
const timeoutMs = 3_000;

/**
 * The token with its expiry, for providers that return it only at their introspection endpoint (RFC 7662). Without an
 * expiry, the token is used until a call with it is answered 401.
 */
async function withIntrospectedEnd(
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

const token = z.string().min(1).max(16_384);
export const oauth2Import = {
  access_token: token,
  refresh_token: token.optional(),
  expires_at: date.optional(),
  config_override: z
    .strictObject({
      client_id: z.string().max(255).optional(),
      client_secret: z.string().max(2048).optional(),
    })
    .optional(),
};

/** Authorization code with PKCE (RFC 6749, RFC 7636; docs/reference/auth-modes.md#oauth2). */
export const oauth2: AuthModeRules = {
  mode: 'OAUTH2',
  integration: oauthClient('OAUTH2', { isRequired: true }),
  importShape: () => strict({ type: z.literal('OAUTH2'), ...oauth2Import }),
  import: async (input) => imported(input),
  form: null,
  redirect: {
    start: async (context) => startOauth2(context),
    scopes: scopesOfConsent,
    finish: finishOauth2,
  },
  renewal: {
    isPossible: (held, provider) =>
      textAt(held, 'refresh_token') !== null || provider.access_token_refresh !== undefined,
    spendsToken: (held) => textAt(held, 'refresh_token') !== null,
    renew: renewOauth2,
  },
  isTested: false,
  authorization: ({ credentials }) => bearer(credentials['access_token']),
};

export function imported(input: JsonObject): ObtainedCredentials {
  const expiresAt = textAt(input, 'expires_at');
  return {
    credentials: { ...input, raw: {} } as unknown as Credentials,
    expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
  };
}

interface Client {
  readonly id: string;
  readonly secret: string;
}

/** The override stored with the connection, else the client of the integration. */
function clientOf(context: ModeContext, override: unknown): Client {
  const own = objectOf(override);
  const id = textAt(own, 'client_id');
  if (id !== null) return { id, secret: textAt(own, 'client_secret') ?? '' };
  const { clientId = '', clientSecret = '' } = requireClient(context);
  return { id: clientId, secret: clientSecret };
}

/** The address of the redirect. */
export function startOauth2(context: RedirectContext): RedirectStart {
  const { provider, override } = context;
  const client = clientOf(context, {
    client_id: override?.clientId,
    client_secret: override?.clientSecret,
  });
  const values = { ...tokenValues(context, null), clientId: client.id };
  const verifier = provider.disable_pkce === true ? null : randomBytes(24).toString('hex');
  const params = {
    client_id: client.id,
    response_type: 'code',
    redirect_uri: context.callbackUrl,
    ...scopeParam(context),
    state: context.state,
    ...paramsOf(provider.authorization_params, values),
    ...(verifier === null ? {} : challengeOf(verifier)),
    ...context.authorizationParams,
  };
  const own = override?.clientId === undefined ? {} : { override: ownClient(override) };
  return {
    url: authorizationUrl(context, params, values),
    kept: { ...(verifier === null ? {} : { verifier }), ...own },
  };
}

const ownClient = (override: NonNullable<RedirectContext['override']>): JsonObject => ({
  client_id: override.clientId ?? '',
  client_secret: override.clientSecret ?? '',
});

/** RFC 7636 section 4.2, method S256. */
export const challengeOf = (verifier: string) => ({
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
});

/** Those of `scope`, and of `user_scope` as some providers name the scopes of the person's own token. */
export function scopesOfConsent(context: ScopesContext): readonly string[] {
  const { provider, scopes, authorizationParams } = context;
  const params = { ...provider.authorization_params, ...authorizationParams };
  const { scope, user_scope: userScope } = params;
  const own = scope === undefined ? scopes : partsOf(scope, separatorOf(provider));
  return [...own, ...partsOf(userScope, ',')].filter((part) => part !== '');
}

const partsOf = (text: unknown, separator: string): readonly string[] =>
  typeof text === 'string' ? text.split(separator) : [];

function scopeParam(context: RedirectContext): JsonObject {
  const { provider } = context;
  const scopes = filledScopes(context);
  return scopes.length === 0 ? {} : { scope: scopes.join(separatorOf(provider)) };
}

const separatorOf = ({ scope_separator: separator = ' ' }: Provider): string => separator;

/** Only the configuration of the connection may stand in a scope, because its address is no secret. */
function filledScopes(context: RedirectContext): string[] {
  const values = tokenValues({ ...context, client: null }, null);
  return context.scopes
    .filter((scope) => scope !== '')
    .map((scope) => (scope.includes('${') ? (interpolate(scope, values) ?? scope) : scope));
}

/** For providers that do not decode it: only what would end or change the parameter is encoded. */
function plainScope(context: RedirectContext, scope: string): string {
  const separator = separatorOf(context.provider);
  const scopes = filledScopes(context);
  const parts = scopes.join(separator) === scope ? scopes : scope.split(separator);
  return parts
    .map((part) => part.toWellFormed().replaceAll(/[^\w!$'()*,./:;=?@~-]/gu, encodeURIComponent))
    .join(separator.replaceAll(' ', '%20'));
}

function authorizationUrl(
  context: RedirectContext,
  params: JsonObject,
  values: TemplateValues,
): string {
  const { provider } = context;
  const skips = provider.authorization_url_skip_encode ?? [];
  const url = new URL(addressOf(provider, 'authorization_url', provider.authorization_url, values));
  for (const [name, value] of Object.entries(params)) {
    const isEmpty = value === '' && provider.authorization_url_skip_empty === true;
    if (value === null || isEmpty) url.searchParams.delete(name);
    else if (name !== 'scope' || !skips.includes('scopes'))
      url.searchParams.set(name, plainText(value));
  }
  let text = url.href;
  if (skips.includes('scopes') && typeof params['scope'] === 'string') {
    text += `${url.search === '' ? '?' : '&'}scope=${plainScope(context, params['scope'])}`;
  }
  for (const [old, fresh] of Object.entries(provider.authorization_url_replacements ?? {})) {
    text = text.replace(old, fresh);
  }
  const { authorization_url_fragment: fragment } = provider;
  return fragment === undefined ? text : text.replace('?', `${fragment}?`);
}

/**
 * Exchanges the code for a token.
 * @throws ProviderAuthError
 */
export async function finishOauth2(
  callback: Readonly<Record<string, string>>,
  kept: JsonObject,
  context: RedirectContext,
): Promise<ObtainedCredentials> {
  const { provider } = context;
  const code = callback[provider.authorization_code_param_in_callback ?? 'code'];
  if (code === undefined || code === '') throw withoutCode(provider);
  const client = clientOf(context, kept['override']);
  const connectionConfig = {
    ...context.connectionConfig,
    ...pickedQuery(callback, provider.redirect_uri_metadata),
  };
  const { verifier } = kept;
  const { body } = await requestToken(
    context,
    tokenRequest(
      { ...context, connectionConfig },
      client,
      {
        grant_type: 'authorization_code',
        ...paramsOf(provider.token_params, clientValues({ ...context, connectionConfig }, client)),
        code,
        redirect_uri: context.callbackUrl,
        ...(verifier === undefined ? {} : { code_verifier: verifier }),
      },
      provider.token_headers,
    ),
  );
  const issued = await exchanged(
    { ...context, connectionConfig },
    client,
    readToken(context, body, null),
  );
  const obtained = await withIntrospectedEnd(context, client, issued);
  const override = kept['override'] === undefined ? {} : { config_override: kept['override'] };
  return {
    ...obtained,
    credentials: { ...(obtained.credentials as Credentials), ...override },
    connectionConfig: {
      ...obtained.connectionConfig,
      ...pickedQuery(callback, provider.redirect_uri_metadata),
    },
  };
}

const pickedQuery = (callback: Readonly<Record<string, string>>, names?: readonly string[]) =>
  picked(callback, names);

export function withoutCode({ name }: Pick<Provider, 'name'>): ProviderAuthError {
  return new ProviderAuthError({
    code: 'invalid_credentials',
    message: `The provider "${name}" sent no authorization code back.`,
    isDefinitive: true,
    providerStatus: null,
    providerCode: null,
  });
}

const clientValues = (context: ModeContext, client: Client, extra: JsonObject = {}) => ({
  ...tokenValues(context, null, extra),
  clientId: client.id,
  clientSecret: client.secret,
});

/**
 * The client goes into the body, or into a Basic header where the provider requires it (RFC 6749 2.3.1): of every call,
 * or of one whose headers place it.
 */
function tokenRequest(
  context: ModeContext,
  client: Client,
  params: JsonObject,
  headers: Readonly<Record<string, string>> | undefined,
  url?: string,
): TokenRequest {
  const { provider } = context;
  const values = clientValues(context, client);
  const isInHeader =
    provider.authorization_method === 'header' || provider.token_request_auth_method === 'basic';
  const own = headersOf(headers, values);
  const inBody =
    isInHeader || own['authorization'] !== undefined
      ? {}
      : { client_id: client.id, client_secret: client.secret };
  const { token_url: tokenUrl } = provider;
  const template = url ?? (typeof tokenUrl === 'string' ? tokenUrl : tokenUrl?.OAUTH2);
  return {
    url: addressOf(provider, 'token_url', template, values),
    method: provider.token_request_method ?? 'POST',
    params: { ...inBody, ...params },
    format: provider.body_format,
    headers: {
      ...(isInHeader ? { authorization: clientHeader(client.id, client.secret) } : {}),
      ...own,
    },
    failure: 'refresh_token_external_error',
  };
}

/** RFC 6749 section 6. @throws ProviderAuthError */
export async function renewOauth2(
  held: Credentials,
  context: ModeContext,
): Promise<ObtainedCredentials> {
  const { provider } = context;
  const client = clientOf(context, held['config_override']);
  const refreshToken = textAt(held, 'refresh_token') ?? '';
  const { access_token_refresh: ownRefresh } = provider;
  if (refreshToken === '' && ownRefresh !== undefined) {
    return renewAccessToken(context, client, held, ownRefresh);
  }
  const extra = { refresh_token: refreshToken };
  const values = { ...clientValues(context, client, extra), credentials: held };
  const request = tokenRequest(
    context,
    client,
    {
      ...paramsOf(provider.refresh_params ?? provider.token_params, values),
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    },
    provider.refresh_token_headers ?? provider.token_headers,
    provider.refresh_url,
  );
  const { body } = await requestToken(context, request);
  const paths = provider.refresh_token_response_metadata ?? [];
  return withIntrospectedEnd(context, client, readToken(context, body, held, paths));
}

/** The token of the sign-in, or the one that lives longer. @throws ProviderAuthError */
async function exchanged(
  context: ModeContext,
  client: Client,
  issued: ObtainedCredentials,
): Promise<ObtainedCredentials> {
  const { token_exchange: exchange } = context.provider;
  if (exchange === undefined) return issued;
  const credentials = issued.credentials as Credentials;
  const values = { ...clientValues(context, client), credentials };
  const { body } = await requestToken(
    context,
    accessTokenRequest(context.provider, exchange, values),
  );
  const { connectionConfig } = issued;
  return { ...readToken(context, body, credentials, []), connectionConfig: connectionConfig ?? {} };
}

/** By the access token itself, which stays valid until its end. @throws ProviderAuthError */
async function renewAccessToken(
  context: ModeContext,
  client: Client,
  held: Credentials,
  rules: NonNullable<Provider['access_token_refresh']>,
): Promise<ObtainedCredentials> {
  const values = { ...clientValues(context, client), credentials: held };
  const paths = context.provider.refresh_token_response_metadata ?? [];
  try {
    const request = accessTokenRequest(context.provider, rules, values);
    const { body } = await requestToken(context, request);
    return readToken(context, body, held, paths);
  } catch (error) {
    throw error instanceof ProviderAuthError
      ? earlyRefusal(error, held, context.clock.now())
      : error;
  }
}
