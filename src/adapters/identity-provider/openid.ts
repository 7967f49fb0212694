import * as openid from 'openid-client';
import { atPath } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { HttpClient } from '#ports/http-client.ts';
import {
  IdentityFailure,
  type IdentityClaims,
  type IdentityProvider,
  type SignInChecks,
} from '#ports/identity-provider.ts';

export interface OpenIdSettings {
  /** As the provider names itself. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  readonly scopes: string;
  /** Name of the claim, or its path with dots: `realm_access.roles`. */
  readonly groupsClaim: string;
  /** For people; null: the host of the issuer. */
  readonly name: string | null;
}

const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;
/** How long the provider's metadata is kept. */
const metadataMs = 3_600_000;
const textMax = 300;

/** @param http its policy allows the address of the issuer */
export function createOpenIdProvider(settings: OpenIdSettings, http: HttpClient): IdentityProvider {
  const fetch = fetchOver(http);
  let found: { readonly until: number; readonly value: Promise<openid.Configuration> } | null =
    null;
  const configuration = (): Promise<openid.Configuration> => {
    const now = performance.now();
    if (found !== null && now < found.until) return found.value;
    const value = discovered(settings, fetch);
    const next = { until: now + metadataMs, value };
    found = next;
    value.catch(() => {
      if (found === next) found = null;
    });
    return value;
  };
  return {
    issuer: settings.issuer,
    name: settings.name ?? new URL(settings.issuer).host,
    begin: (callbackUrl) =>
      failing(async () => begin(await configuration(), settings, callbackUrl)),
    finish: (returned, checks) =>
      failing(async () => finish(await configuration(), settings, returned, checks)),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

/** Of loopback alone: the settings accept no other issuer without TLS. The library knows this function by identity. */
// oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out
const allowPlainHttp: (configuration: openid.Configuration) => void = openid.allowInsecureRequests;

async function discovered(
  { issuer, clientId, clientSecret }: OpenIdSettings,
  fetch: openid.CustomFetch,
): Promise<openid.Configuration> {
  const url = new URL(issuer);
  const execute = url.protocol === 'http:' ? [allowPlainHttp] : [];
  const secret = clientSecret === null ? openid.None() : openid.ClientSecretPost(clientSecret);
  const first = await openid.discovery(url, clientId, undefined, secret, {
    [openid.customFetch]: fetch,
    execute,
  });
  const metadata = first.serverMetadata();
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata;
  if (clientSecret === null || methods.includes('client_secret_post')) return first;
  const basic = openid.ClientSecretBasic(clientSecret);
  const configuration = new openid.Configuration(metadata, clientId, undefined, basic);
  configuration[openid.customFetch] = fetch;
  for (const step of execute) step(configuration);
  return configuration;
}

async function begin(
  configuration: openid.Configuration,
  { scopes }: OpenIdSettings,
  callbackUrl: string,
): Promise<{ readonly url: string; readonly checks: SignInChecks }> {
  const checks = {
    verifier: openid.randomPKCECodeVerifier(),
    state: openid.randomState(),
    nonce: openid.randomNonce(),
  };
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: callbackUrl,
    scope: scopes,
    code_challenge: await openid.calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: 'S256',
    state: checks.state,
    nonce: checks.nonce,
  });
  return { url: url.href, checks };
}

async function finish(
  configuration: openid.Configuration,
  { issuer, groupsClaim }: OpenIdSettings,
  returned: URL,
  { verifier, state, nonce }: SignInChecks,
): Promise<IdentityClaims> {
  const tokens = await openid.authorizationCodeGrant(configuration, returned, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new IdentityFailure('invalid', 'It sent no ID token.');
  const idToken = claims as unknown as JsonObject;
  const isComplete = idToken['email'] !== undefined && atPath(idToken, groupsClaim) !== undefined;
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined && !isComplete;
  const more = hasMore
    ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
    : {};
  return claimsOf(
    { ...(more as JsonObject), ...idToken },
    { issuer, sub: claims.sub, groupsClaim },
  );
}

function claimsOf(
  claims: JsonObject,
  { issuer, sub, groupsClaim }: { issuer: string; sub: string; groupsClaim: string },
): IdentityClaims {
  const { email, email_verified: isVerified, name, preferred_username: username } = claims;
  const groups = atPath(claims, groupsClaim);
  const listed: readonly unknown[] = Array.isArray(groups) ? groups : [groups];
  return {
    issuer,
    sub,
    email: textOf(email),
    // Some providers send it as text.
    isEmailVerified: isVerified === undefined ? null : isVerified === true || isVerified === 'true',
    name: textOf(name) ?? textOf(username),
    groups: listed.filter((group): group is string => typeof group === 'string'),
  };
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

/** `fetch` of the library over our client, which checks every address. */
const fetchOver =
  (http: HttpClient): openid.CustomFetch =>
  async (address, { method, headers, body }) => {
    const url = new URL(address);
    const sent = body === null || body === undefined ? {} : { body: bodyOf(body) };
    try {
      const reply = await http.request({ method, url, headers, ...sent, timeoutMs, maxBytes });
      if (reply.status >= 500) {
        throw new IdentityFailure('unavailable', `${url.host} answered with ${reply.status}.`);
      }
      const isEmpty = reply.status === 204 || reply.status === 304;
      const response = { status: reply.status, headers: reply.headers };
      return new Response(isEmpty ? null : Uint8Array.from(reply.body), response);
    } catch (cause) {
      if (cause instanceof IdentityFailure) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new IdentityFailure('unavailable', `${url.host}: ${reason}`, { cause });
    }
  };

function bodyOf(body: NonNullable<openid.FetchBody>): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new IdentityFailure('invalid', 'A request to the provider has an unknown body.');
}

/** @throws IdentityFailure in words for people */
async function failing<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(cause: unknown): IdentityFailure {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if (error instanceof IdentityFailure) return error;
  }
  if (cause instanceof openid.AuthorizationResponseError) {
    const kind = cause.error === 'temporarily_unavailable' ? 'unavailable' : 'refused';
    return new IdentityFailure(kind, wordsOf(cause), { cause });
  }
  if (cause instanceof openid.ResponseBodyError) {
    return new IdentityFailure('invalid', wordsOf(cause), { cause });
  }
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : '';
  const message = cause instanceof Error ? cause.message : String(cause);
  const text = inner === '' || inner === message ? message : `${message}: ${inner}`;
  return new IdentityFailure('invalid', `${text.slice(0, textMax)}.`, { cause });
}

/** The code and the text of the provider. */
const wordsOf = ({
  error,
  error_description: description = '',
}: {
  readonly error: string;
  readonly error_description?: string | undefined;
}): string => `${error}${description === '' ? '' : `: ${description}`}`.slice(0, textMax);
