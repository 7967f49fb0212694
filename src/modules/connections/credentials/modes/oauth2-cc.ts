import { randomUUID, X509Certificate } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import { parsePrivateKey, restorePem } from '#kernel/pem.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import type { Credentials } from '../../connections/state.ts';
import { iso } from './expiry.ts';
import { bearer, type AuthModeRules, type ModeContext, type ObtainedCredentials } from './mode.ts';
import { expiryOf, picked } from './oauth2-token.ts';
import { answerWithout } from './provider-auth-error.ts';
import { date, present, strict } from './shapes.ts';
import {
  addressOf,
  requestToken,
  clientHeader,
  headersOf,
  paramsOf,
  tokenValues,
  type TokenRequest,
} from './token-request.ts';

/** Lifetime of a token whose response names none. */
const lifetimeMs = 55 * 60_000;
const assertionSeconds = 300;
const pem = z.string().min(1).max(10_000).optional();

/** Client credentials (RFC 6749 section 4.4; docs/reference/auth-modes.md#oauth2_cc). */
export const oauth2Cc: AuthModeRules = {
  mode: 'OAUTH2_CC',
  integration: null,
  importShape: () =>
    strict({
      type: z.literal('OAUTH2_CC'),
      token: z.string().min(1).max(4096),
      client_id: z.string().min(1).max(255),
      client_secret: z.string().max(2048),
      client_certificate: pem,
      client_private_key: pem,
      expires_at: date.optional(),
    }),
  import: async (input, { clock }) => {
    const stated = textAt(input, 'expires_at');
    const expiresAt = stated === null ? clock.now() + lifetimeMs : Date.parse(stated);
    const credentials = { ...input, expires_at: iso(expiresAt), raw: {} };
    return { credentials: credentials as unknown as Credentials, expiresAt };
  },
  form: {
    shape: () => formShape,
    submit: (credentials, context) => fetchToken(credentials, context),
  },
  redirect: null,
  renewal: {
    isPossible: (held) => textAt(held, 'client_id') !== null,
    spendsToken: () => false,
    renew: (held, context) => fetchToken(held, context),
  },
  isTested: false,
  authorization: ({ credentials }) => bearer(credentials['token']),
};

const text = (max: number) => z.string().max(max).optional();
const formShape = z
  .looseObject({
    client_id: text(255),
    client_secret: text(2048),
    client_certificate: text(10_000),
    client_private_key: text(10_000),
  })
  .transform(({ client_id, client_secret, client_certificate, client_private_key }) =>
    present({ client_id, client_secret, client_certificate, client_private_key }),
  ) as unknown as z.ZodType<JsonObject>;

/** @throws ProviderAuthError; GatewayError `missing_client_id`, `missing_client_secret` */
async function fetchToken(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials> {
  const { provider, clock } = context;
  const clientId = textAt(input, 'client_id');
  if (clientId === null) throw new GatewayError('missing_client_id');
  const isSigned = provider.token_request_auth_method === 'private_key_jwt';
  const hasSecret = textAt(input, isSigned ? 'client_private_key' : 'client_secret') !== null;
  if (!hasSecret) {
    throw new GatewayError(isSigned ? 'missing_client_private_key' : 'missing_client_secret');
  }
  const { body } = await requestToken(context, await tokenRequest(input, context));
  const [token] = ['access_token', 'data.token', 'jwt', 'token']
    .map((path) => textAt(body, path))
    .filter((found) => found !== null);
  if (token === undefined) {
    throw answerWithout('token', provider, 'client_credentials_fetch_error');
  }
  const expiresAt = expiryOf(body, provider, clock.now()) ?? clock.now() + lifetimeMs;
  const kept = ['client_id', 'client_secret', 'client_certificate', 'client_private_key'];
  const client = Object.fromEntries(Object.entries(input).filter(([name]) => kept.includes(name)));
  return {
    credentials: { type: 'OAUTH2_CC', ...client, token, expires_at: iso(expiresAt), raw: body },
    expiresAt,
    connectionConfig: picked(body, provider.token_response_metadata),
  };
}

async function tokenRequest(input: JsonObject, context: ModeContext): Promise<TokenRequest> {
  const { provider, connectionConfig } = context;
  const clientId = textAt(input, 'client_id') ?? '';
  const clientSecret = textAt(input, 'client_secret') ?? '';
  const values = { ...tokenValues(context, input), clientId, clientSecret };
  const template = typeof provider.token_url === 'string' ? provider.token_url : undefined;
  const url = addressOf(provider, 'token_url', template, values);
  const own = isJsonObject(connectionConfig['authorization_params'])
    ? connectionConfig['authorization_params']
    : {};
  const proof = await clientProof(input, context, url);
  const certificate = certificateOf(input, context);
  return {
    url,
    method: provider.token_request_method ?? 'POST',
    params: {
      grant_type: 'client_credentials',
      ...proof.params,
      ...scopeOf(context),
      ...paramsOf(provider.token_params, values),
      ...own,
    },
    format: provider.body_format,
    headers: { ...proof.headers, ...headersOf(provider.token_headers, values) },
    ...(certificate === undefined ? {} : { certificate }),
    failure: 'client_credentials_fetch_error',
  };
}

function scopeOf({ provider, connectionConfig }: ModeContext): JsonObject {
  const scopes = textAt(connectionConfig, 'oauth_scopes') ?? provider.default_scopes?.join(',');
  if (scopes === undefined || scopes === '') return {};
  return { scope: scopes.split(',').join(provider.scope_separator ?? ' ') };
}

/** How the client authenticates: in the body, in a Basic header, under other names, or by a signed assertion. */
async function clientProof(
  input: JsonObject,
  { provider, clock }: ModeContext,
  audience: string,
): Promise<{ params: JsonObject; headers: Record<string, string> }> {
  const id = textAt(input, 'client_id') ?? '';
  const secret = textAt(input, 'client_secret') ?? '';
  switch (provider.token_request_auth_method) {
    case 'basic':
      return { params: {}, headers: { authorization: clientHeader(id, secret) } };
    case 'custom':
      return { params: { username: id, password: secret }, headers: {} };
    case 'private_key_jwt': {
      const assertion = await clientAssertion(input, { id, audience, now: clock.now() });
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      const params = { client_id: id, client_assertion_type: type, client_assertion: assertion };
      return { params, headers: {} };
    }
    default:
      return { params: { client_id: id, client_secret: secret }, headers: {} };
  }
}

/** RFC 7523 section 3, signed with the key of the client (a JWK). */
async function clientAssertion(
  input: JsonObject,
  { id, audience, now }: { readonly id: string; readonly audience: string; readonly now: number },
): Promise<string> {
  const issuedAt = Math.floor(now / 1000);
  try {
    const jwk: unknown = JSON.parse(textAt(input, 'client_private_key') ?? '');
    if (!isJsonObject(jwk)) throw new TypeError('no JWK');
    const kid = textAt(jwk, 'kid');
    const key = await importJWK(jwk, 'RS256');
    return await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(kid === null ? {} : { kid }) })
      .setIssuer(id)
      .setSubject(id)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + assertionSeconds)
      .setJti(randomUUID())
      .sign(key);
  } catch (cause) {
    const message = 'The field client_private_key must be an RSA private key as JWK.';
    throw new GatewayError('invalid_credentials', { message }, { cause });
  }
}

/** Mutual TLS (RFC 8705), where the provider requires it. */
function certificateOf(input: JsonObject, { provider }: ModeContext): TokenRequest['certificate'] {
  if (provider.require_client_certificate !== true) return undefined;
  const certificate = restorePem(textAt(input, 'client_certificate') ?? '');
  try {
    const key = parsePrivateKey(textAt(input, 'client_private_key') ?? '');
    const privateKey = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    if (!certificate.includes('-----BEGIN CERTIFICATE-----')) throw new TypeError('no certificate');
    new X509Certificate(certificate);
    return { certificate, privateKey };
  } catch (cause) {
    const message = `The provider "${provider.name}" needs client_certificate and client_private_key in PEM.`;
    throw new GatewayError('invalid_certificate_or_key_format', { message }, { cause });
  }
}
