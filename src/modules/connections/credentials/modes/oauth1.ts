import { randomUUID, createHmac } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { plainText, textAt } from '#kernel/json-path.ts';
import { type JsonObject, objectOf } from '#kernel/stable-json.ts';
import { isForm } from '#rules/encode-body.ts';
import { canonicalPairs } from '#rules/outgoing-call.ts';
import { percentEncoded as encode } from '#rules/url.ts';
import type { Credentials } from '../../connections/state.ts';
import type { Provider } from '../../providers/definition.ts';
import { oauthClient, requireClient } from './client.ts';
import type {
  AuthModeRules,
  AuthorizationCall,
  ModeContext,
  ObtainedCredentials,
  RedirectContext,
  RedirectStart,
} from './mode.ts';
import { picked } from './oauth2-token.ts';
import { ProviderAuthError } from './provider-auth-error.ts';
import { strict, present } from './shapes.ts';
import { addressOf, requestToken, paramsOf, tokenValues } from './token-request.ts';

const field = z.string().min(1).max(2048);

/** Request token, consent, access token; every call is signed (RFC 5849). */
export const oauth1: AuthModeRules = {
  mode: 'OAUTH1',
  integration: oauthClient('OAUTH1', { isRequired: true }),
  importShape: () =>
    strict({ type: z.literal('OAUTH1'), oauth_token: field, oauth_token_secret: field }),
  import: async (input) => ({
    credentials: { ...input, raw: {} } as unknown as Credentials,
    expiresAt: null,
  }),
  form: null,
  redirect: { start, finish },
  renewal: null,
  isTested: false,
  authorization: signedHeader,
  signsBody: signsForm,
};

/** The fields of a form are signed with the query (RFC 5849 section 3.4.1.3.1). */
function signsForm(_: Provider, contentType: string): boolean {
  return isForm(contentType);
}

const algorithmOf = ({ signature_method: method }: Provider) =>
  method === 'PLAINTEXT' ? 'PLAINTEXT' : 'HMAC-SHA1';

function signedHeader(call: AuthorizationCall): string {
  return oauth1Header({
    method: call.method,
    url: call.url,
    form: call.form,
    consumerKey: call.clientId ?? '',
    consumerSecret: call.clientSecret ?? '',
    token: textAt(call.credentials, 'oauth_token') ?? '',
    tokenSecret: textAt(call.credentials, 'oauth_token_secret') ?? '',
    algorithm: algorithmOf(call.provider),
    timestamp: Math.floor(call.now / 1000),
    nonce: call.nonce,
  });
}

async function start(context: RedirectContext): Promise<RedirectStart> {
  const { provider } = context;
  const values = tokenValues(context, null);
  const callback = new URL(context.callbackUrl);
  callback.searchParams.set('state', context.state);
  const { token, secret } = await requestSigned(context, {
    url: addressOf(provider, 'request_url', provider.request_url, values),
    params: paramsOf(provider.request_params, values),
    extra: { oauth_callback: callback.href },
  });
  const url = new URL(addressOf(provider, 'authorization_url', provider.authorization_url, values));
  const params = {
    ...paramsOf(provider.authorization_params, values),
    ...context.authorizationParams,
  };
  for (const [name, value] of Object.entries(params)) {
    if (value !== null) url.searchParams.set(name, plainText(value));
  }
  url.searchParams.set('oauth_token', token);
  return { url: url.href, kept: { request_token: token, request_token_secret: secret } };
}

async function finish(
  callback: Readonly<Record<string, string>>,
  kept: JsonObject,
  context: RedirectContext,
): Promise<ObtainedCredentials> {
  const { provider } = context;
  const verifier = callback['oauth_verifier'];
  if (verifier === undefined || callback['oauth_token'] !== kept['request_token']) {
    throw failure(provider, 'invalid_credentials', 'returned no verifier for the request token');
  }
  const values = tokenValues(context, null);
  const template = typeof provider.token_url === 'string' ? provider.token_url : undefined;
  const { token, secret, body } = await requestSigned(context, {
    url: addressOf(provider, 'token_url', template, values),
    params: paramsOf(provider.token_params, values),
    extra: { oauth_verifier: verifier },
    token: textAt(kept, 'request_token') ?? '',
    tokenSecret: textAt(kept, 'request_token_secret') ?? '',
  });
  return {
    credentials: { type: 'OAUTH1', oauth_token: token, oauth_token_secret: secret, raw: body },
    expiresAt: null,
    connectionConfig: picked(body, provider.token_response_metadata),
  };
}

interface SignedRequest {
  readonly url: string;
  readonly params: JsonObject;
  readonly extra: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly tokenSecret?: string;
}

/** @throws ProviderAuthError `request_token_external_error` */
async function requestSigned(context: ModeContext, request: SignedRequest) {
  const { provider, clock } = context;
  const { clientId = '', clientSecret = '' } = requireClient(context);
  const method = provider.token_request_method ?? 'POST';
  const form = Object.entries(request.params).map(
    ([name, value]) => [name, plainText(value)] as const,
  );
  const authorization = oauth1Header({
    method,
    url: new URL(request.url),
    form,
    consumerKey: clientId,
    consumerSecret: clientSecret,
    token: request.token,
    tokenSecret: request.tokenSecret,
    algorithm: algorithmOf(provider),
    extra: request.extra,
    timestamp: Math.floor(clock.now() / 1000),
    nonce: randomUUID(),
  });
  const { body } = await requestToken(context, {
    url: request.url,
    method,
    params: request.params,
    headers: { authorization, accept: 'application/x-www-form-urlencoded, application/json' },
    failure: 'request_token_external_error',
  });
  const token = textAt(body, 'oauth_token');
  const secret = textAt(body, 'oauth_token_secret');
  if (token === null || secret === null) {
    throw failure(provider, 'request_token_external_error', 'gave no token');
  }
  return { token, secret, body };
}

function failure(
  provider: Provider,
  code: 'invalid_credentials' | 'request_token_external_error',
  what: string,
): ProviderAuthError {
  return new ProviderAuthError({
    code,
    message: `The provider "${provider.name}" ${what}.`,
    isDefinitive: true,
    providerStatus: null,
    providerCode: null,
  });
}

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
  authorization: tbaHeader,
  signsBody: signsForm,
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

function tbaHeader(call: AuthorizationCall): string {
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

interface Oauth1Signing {
  readonly method: string;
  readonly url: URL;
  /** Pairs of a form body; they are signed with the query. */
  readonly form: readonly (readonly [string, string])[];
  readonly consumerKey: string;
  readonly consumerSecret: string;
  readonly token?: string | undefined;
  readonly tokenSecret?: string | undefined;
  readonly algorithm: 'HMAC-SHA1' | 'HMAC-SHA256' | 'PLAINTEXT';
  readonly realm?: string | undefined;
  /** Further protocol parameters: `oauth_callback`, `oauth_verifier`. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly nonce: string;
}

/** The `Authorization` header of a signed request (RFC 5849 section 3). */
export function oauth1Header(signing: Oauth1Signing): string {
  const parameters: Record<string, string> = {
    oauth_consumer_key: signing.consumerKey,
    ...(signing.token === undefined ? {} : { oauth_token: signing.token }),
    oauth_signature_method: signing.algorithm,
    oauth_timestamp: String(signing.timestamp),
    oauth_nonce: signing.nonce,
    oauth_version: '1.0',
    ...signing.extra,
  };
  const all = { ...parameters, oauth_signature: signatureOf(signing, parameters) };
  const realm = signing.realm === undefined ? [] : [`realm="${encode(signing.realm)}"`];
  const pairs = Object.entries(all).map(([name, value]) => `${encode(name)}="${encode(value)}"`);
  return `OAuth ${[...realm, ...pairs].join(', ')}`;
}

function signatureOf(signing: Oauth1Signing, parameters: Record<string, string>): string {
  const { consumerSecret, tokenSecret = '', algorithm } = signing;
  const key = `${encode(consumerSecret)}&${encode(tokenSecret)}`;
  if (algorithm === 'PLAINTEXT') return key;
  const digest = algorithm === 'HMAC-SHA1' ? 'sha1' : 'sha256';
  return createHmac(digest, key).update(baseString(signing, parameters)).digest('base64');
}

/** Section 3.4.1: method, address without query, and every parameter in order. */
export function baseString(
  { method, url, form }: Pick<Oauth1Signing, 'method' | 'url' | 'form'>,
  parameters: Readonly<Record<string, string>>,
): string {
  const pairs = canonicalPairs([...url.searchParams, ...form, ...Object.entries(parameters)]);
  const address = `${url.origin}${url.pathname}`;
  return [method.toUpperCase(), encode(address), encode(pairs)].join('&');
}
