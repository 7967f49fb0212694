import { randomUUID } from 'node:crypto';
import { bodyText, formFields } from '#kernel/body-text.ts';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { atPath, plainText } from '#kernel/json-path.ts';
import { escapedMarkup } from '#kernel/markup.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { HttpFailure, type HttpReply, type OutgoingRequest } from '#ports/http-client.ts';
import {
  interpolate,
  interpolateJson,
  interpolateUrl,
  type TemplateValues,
} from '#rules/interpolate.ts';
import { withParams } from '#rules/url.ts';
import { isOutageStatus } from '../../connections/rules.ts';
import type { Provider } from '../../providers/definition.ts';
import type { ModeContext } from './mode.ts';
import { ProviderAuthError } from './provider-auth-error.ts';
import { tokenErrorOf, withoutPeriod, type ProviderError } from './provider-error.ts';

/** Parameters as XML: one element per key, several for a list; keys that start with `@` are attributes. */
function xmlOf(params: JsonObject): string {
  const elements = Object.entries(params).map(([name, value]) => element(name, value));
  return `<?xml version="1.0" encoding="UTF-8"?>${elements.join('')}`;
}

function element(name: string, value: Json): string {
  if (Array.isArray(value)) return value.map((item) => element(name, item as Json)).join('');
  if (!isJsonObject(value)) return `<${name}>${escapedMarkup(plainText(value))}</${name}>`;
  const entries = Object.entries(value);
  const attributes = entries
    .filter(([key]) => key.startsWith('@'))
    .map(([key, item]) => ` ${key.slice(1)}="${escapedMarkup(plainText(item))}"`);
  const children = entries.filter(([key]) => !key.startsWith('@'));
  const inner = children.map(([key, item]) => element(key, item)).join('');
  return `<${name}${attributes.join('')}>${inner}</${name}>`;
}

/**
 * Codes with which token endpoints refuse a refresh token or a grant for good: RFC 6749 section 5.2, and the providers'
 * own (docs/reference/auth-modes.md#refusals).
 */
const grantCodes = new Set([
  'invalid_grant',
  'invalid_refresh_token', // Slack, https://docs.slack.dev/reference/methods/oauth.v2.access
  'token_expired', // Slack
  'token_revoked', // Slack
  'account_inactive', // Slack
  'bad_refresh_token', // GitHub, https://docs.github.com/apps/creating-github-apps
  'bad_verification_code', // GitHub
  'BAD_REFRESH_TOKEN', // HubSpot, https://developers.hubspot.com/docs/api/oauth/tokens
  'invalid_token', // RFC 6750 section 3.1
  'interaction_required', // Microsoft, OpenID Connect Core section 3.1.2.6
  'consent_required', // Microsoft
  'invalid_login', // login calls of TWO_STEP
  'invalid_login_credentials',
]);

/** Codes that refuse the client of the integration. */
const clientCodes = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_client_id', // Slack
  'bad_client_secret', // Slack
  'incorrect_client_credentials', // GitHub
]);

interface TokenRefusal {
  readonly status: number;
  readonly code: string | null;
  /** JSON or a form: not the page of a proxy in between. */
  readonly isReadable: boolean;
}

/** What a token endpoint refused: the grant, the client, or nothing that is known to stay. */
function refusedBy({ status, code, isReadable }: TokenRefusal): 'grant' | 'client' | null {
  if (isOutageStatus(status)) return null;
  if (code !== null && grantCodes.has(code)) return 'grant';
  if (code !== null && clientCodes.has(code)) return 'client';
  // 401 is a client, or a login, that is not known (RFC 6749 section 5.2).
  return status === 401 && isReadable ? 'client' : null;
}

/** Timeout of a token call; shorter than the lease of a refresh (`limits.refreshLeaseMs`). */
const tokenTimeoutMs = 10_000;
const answerBytesMax = 1024 ** 2;
const redirectsMax = 5;

export interface TokenRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly params: JsonObject;
  readonly format?: 'form' | 'json' | 'query' | 'xml' | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly certificate?: OutgoingRequest['certificate'];
  /** Overrides the timeout of a token call with a shorter one. */
  readonly timeoutMs?: number;
  /** The code that a caller gets when the provider issues no token. */
  readonly failure: ErrorCode;
}

export interface TokenAnswer {
  readonly body: JsonObject;
  readonly setCookies: readonly string[];
  /** The address that answered. */
  readonly url: string;
}

/** Values for templates of token calls: configuration, credentials, client, and `extra`. */
export function tokenValues(
  { connectionConfig, client, clock }: ModeContext,
  credentials: JsonObject | null,
  extra: JsonObject = {},
): TemplateValues {
  return {
    connectionConfig,
    metadata: {},
    credentials,
    clientId: client?.clientId,
    clientSecret: client?.clientSecret,
    now: clock.now(),
    random: randomUUID(),
    extra,
  };
}

/**
 * An address of the provider with its templates filled, their values percent-encoded unless the definition disables
 * that (docs/reference/provider-format.md#templates).
 * @throws GatewayError `missing_api_url`, which names the missing value
 */
export function addressOf(
  provider: Provider,
  field: AddressField,
  template: string | undefined,
  values: TemplateValues,
): string {
  const skips = skipsOf[field];
  const isRaw = skips !== null && provider[skips]?.includes('base_url') === true;
  const fill = isRaw ? interpolate : interpolateUrl;
  const url = template === undefined ? null : fill(template, values);
  if (url !== null && URL.canParse(url)) return url;
  const message = `The provider "${provider.name}" has no usable ${field} for this connection.`;
  throw new GatewayError('missing_api_url', { message });
}

const skipsOf = {
  authorization_url: 'authorization_url_skip_encode',
  authorization_issuer: null,
  token_url: 'token_url_skip_encode',
  request_url: null,
  refresh_url: null,
  introspection_url: null,
  mcp_server_url: null,
} as const;
type AddressField = keyof typeof skipsOf;

/** Parameters with their templates filled; those that cannot be filled are left out. */
export function paramsOf(params: unknown, values: TemplateValues): JsonObject {
  return isJsonObject(params) ? (interpolateJson(params, values) as JsonObject) : {};
}

/** Headers with lower-case names; one that cannot be filled is left out. */
export function headersOf(
  headers: Readonly<Record<string, string>> | undefined,
  values: TemplateValues,
): Record<string, string> {
  const filled = Object.entries(headers ?? {}).flatMap(([name, template]): [string, string][] => {
    const value = interpolate(template, values);
    return value === null ? [] : [[name.toLowerCase(), value]];
  });
  return Object.fromEntries(filled);
}

/** As `basicHeader`, for a client: its id and secret are percent-encoded first (RFC 6749 section 2.3.1). */
export const clientHeader = (id: string, secret: string): string =>
  basicHeader(encodeURIComponent(id), encodeURIComponent(secret));

export const basicHeader = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/**
 * Requests a token from the provider.
 * @throws ProviderAuthError: no response, an unsuccessful one, or one that cannot be parsed
 */
export async function requestToken(
  { provider, http }: ModeContext,
  request: TokenRequest,
): Promise<TokenAnswer> {
  const { failure } = request;
  let reply: HttpReply;
  try {
    reply = await replyOf(http, outgoing(request));
  } catch (cause) {
    if (!(cause instanceof HttpFailure)) throw cause;
    const message = `The provider "${provider.name}" could not be reached for a token (${cause.code}).`;
    const facts = { isDefinitive: false, providerStatus: null, providerCode: null };
    throw new ProviderAuthError({ code: failure, message, ...facts }, { cause });
  }
  const body = parsed(reply);
  const providerCode = refusalCode(body, request);
  const isSuccess = reply.status >= 200 && reply.status < 300 && body !== null;
  // Some providers refuse with 200 and an error in the body.
  if (isSuccess && (providerCode === null || hasToken(body)))
    return { body, setCookies: reply.setCookies ?? [], url: reply.url };
  const secrets = secretsOf(request);
  const providerError = body === null ? null : tokenErrorOf(body, providerCode, secrets);
  throw refusal(provider, reply.status, {
    providerCode,
    providerError,
    failure,
    isReadable: body !== null,
  });
}

/** Follows 307 and 308 with the body on the same host: it contains secrets of the client. */
async function replyOf(http: ModeContext['http'], first: OutgoingRequest): Promise<HttpReply> {
  let request = first;
  for (let hops = 0; ; hops++) {
    const reply = await http.request(request);
    const location = reply.headers['location'];
    const isRepeated = reply.status === 307 || reply.status === 308;
    if (!isRepeated || location === undefined || hops === redirectsMax) return reply;
    const url = URL.parse(location, request.url.href);
    if (url === null || !isSameHost(request.url, url)) return reply;
    request = { ...request, url };
  }
}

const isSameHost = (from: URL, to: URL): boolean =>
  to.host === from.host && to.protocol === from.protocol && to.username + to.password === '';

function refusal(
  provider: Provider,
  status: number,
  facts: {
    providerCode: string | null;
    providerError: ProviderError | null;
    failure: ErrorCode;
    isReadable: boolean;
  },
): ProviderAuthError {
  const { providerCode, providerError, failure, isReadable } = facts;
  const description = providerError?.description ?? null;
  const why = description === null ? '' : ` (${withoutPeriod(description)})`;
  const codeText = `${providerCode === null ? '' : `: ${providerCode}`}${why}`;
  const isMalformed = status < 300 && !isReadable;
  const refused = refusedBy({ status, code: providerCode, isReadable });
  const what = isMalformed ? 'answered without a token' : `answered ${status}${codeText}`;
  return new ProviderAuthError({
    code: failure,
    message: `The provider "${provider.name}" ${what} when it was asked for a token.`,
    isDefinitive: refused !== null,
    endsValidToken:
      refused === 'grant' || (refused === 'client' && providerCode !== null && status !== 400),
    providerStatus: status,
    providerCode,
    ...(providerError === null ? {} : { providerError }),
  });
}

function outgoing({
  url,
  method = 'POST',
  params,
  format,
  headers,
  certificate,
  timeoutMs = tokenTimeoutMs,
}: TokenRequest) {
  const isQuery = method === 'GET' || format === 'query';
  const { type, body } = isQuery ? { type: null, body: undefined } : encoded(params, format);
  return {
    method,
    url: isQuery ? withParams(new URL(url), params) : new URL(url),
    headers: {
      accept: 'application/json',
      ...(type === null ? {} : { 'content-type': type }),
      'user-agent': 'svc',
      ...headers,
    },
    timeoutMs,
    maxBytes: answerBytesMax,
    ...(body === undefined ? {} : { body }),
    ...(certificate === undefined ? {} : { certificate }),
  };
}

function encoded(params: JsonObject, format: TokenRequest['format']) {
  switch (format) {
    case 'json':
      return { type: 'application/json', body: JSON.stringify(params) };
    case 'xml':
      return { type: 'application/xml', body: xmlOf(params) };
    default:
      return { type: 'application/x-www-form-urlencoded', body: formOf(params) };
  }
}

function formOf(params: JsonObject): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    form.append(name, plainText(value));
  }
  return form.toString();
}

/** JSON, or a form, which some providers return regardless of `Accept`. */
function parsed({ body, headers }: HttpReply): JsonObject | null {
  const text = bodyText(body, headers['content-type']).trim();
  try {
    const value: unknown = parseExactJson(text);
    if (typeof value === 'string') return { token: value };
    return isJsonObject(value) ? value : null;
  } catch {
    const isForm = /^[\w.~%+-]+=[^\s]*$/.test(text);
    if (isForm) return formFields(new URLSearchParams(text));
    const isText = headers['content-type']?.startsWith('text/plain') === true;
    return isText && /^\S+$/.test(text) ? { token: text } : null;
  }
}

const hasToken = (body: JsonObject): boolean =>
  ['access_token', 'token', 'jwt', 'data.token'].some((path) => atPath(body, path) !== undefined);

/** Only short codes that do not repeat a secret, as a sentence of the provider may. */
function refusalCode(body: JsonObject | null, request: TokenRequest): string | null {
  if (body === null) return null;
  const presented = presentedBy(request);
  const candidates: (Json | undefined)[] = [
    body['error'],
    atPath(body, 'error.code'),
    body['error_code'],
    body['code'],
    atPath(body, 'Error.Code'), // AWS
  ];
  const code = candidates.find(
    (value) =>
      typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) && !presented.includes(value),
  );
  return typeof code === 'string' ? code : null;
}

/** Every secret sent to the provider, also inside a Basic header. */
function presentedBy({ url, params, headers }: TokenRequest): string {
  return [url, JSON.stringify(params), JSON.stringify(headers), unpacked(headers)].join('\n');
}

const unpacked = (headers: TokenRequest['headers']): string => {
  const [, packed = ''] = /^Basic (\S+)$/i.exec(headers?.['authorization'] ?? '') ?? [];
  return Buffer.from(packed, 'base64').toString();
};

/** Parameters that are no secret: without them a refusal could not be understood. */
const publicParams = new Set([
  'client_id',
  'grant_type',
  'redirect_uri',
  'response_type',
  'scope',
  'Action',
  'Version',
  'RoleArn',
  'RoleSessionName',
]);

/** Its values one by one, for a mask: those of parameters, headers and address. */
function secretsOf({ url, params, headers = {} }: TokenRequest): string[] {
  const { pathname, searchParams } = new URL(url);
  const sent = Object.entries(params).filter(([name]) => !publicParams.has(name));
  return [
    ...sent.flatMap(([, value]) => leavesOf(value ?? null)),
    ...Object.values(headers),
    ...unpacked(headers).split(':').slice(1).map(decoded),
    ...searchParams.values(),
    ...pathname.split('/').filter((part) => part.length >= tokenCharsMin),
  ].filter((value) => value !== '');
}

/** Shorter parts of a path are words. */
const tokenCharsMin = 16;

const leavesOf = (value: Json): string[] =>
  typeof value === 'object' && value !== null
    ? Object.values(value).flatMap((item: Json) => leavesOf(item))
    : [plainText(value)];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
