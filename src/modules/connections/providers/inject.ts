import { randomUUID } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import { encodeBody, isForm } from '#rules/encode-body.ts';
import {
  interpolate,
  interpolateJson,
  interpolateUrl,
  type TemplateValues,
} from '#rules/interpolate.ts';
import { readsBody, bodyText, type OutgoingCall } from '#rules/outgoing-call.ts';
import { joinUrl, withParams } from '#rules/url.ts';
import type { AuthorizationCall } from '../credentials/modes/mode.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import type { Provider } from './definition.ts';

/** A connection with its sealed parts opened. */
export interface OpenedConnection {
  /** Null for mode NONE. */
  readonly credentials: JsonObject | null;
  readonly connectionConfig: JsonObject;
  readonly metadata: JsonObject;
}

/** The part of an integration that a call to its provider may need, opened. */
export interface OpenedIntegration {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly integrationConfig?: Readonly<Record<string, string>>;
}

/** A call to a provider as its caller wrote it (docs/reference/functions.md#configuration). */
export interface ProviderCall {
  readonly provider: Provider;
  readonly connection: OpenedConnection;
  readonly integration: OpenedIntegration;
  readonly now: Instant;
  readonly method: string;
  /** Joined to the base URL; may carry a query. */
  readonly endpoint: string;
  /** Whether `${…}` in the endpoint is replaced: true for functions, never for callers of the proxy. */
  readonly isEndpointTemplate: boolean;
  readonly params?: Readonly<Record<string, unknown>> | string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly data?: unknown;
  readonly baseUrlOverride?: string | undefined;
}

/** A call ready for the HTTP client. */
export interface ProviderRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
  /** Headers to drop when a redirect leaves the origin; empty when the definition keeps them. */
  readonly credentialHeaders: readonly string[];
}

const withBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const alwaysSecret = ['authorization', 'proxy-authorization', 'cookie'];

/**
 * URL, headers and body of a call with the credentials of the connection injected: those of the mode, then the
 * provider's headers and query, then the caller's. The later wins, except that a `user-agent` of the provider stays
 * (docs/reference/provider-format.md#proxy).
 * @throws GatewayError `missing_api_url`, `unsupported_provider`, `unsupported_auth`, `invalid_query_params`,
 * `invalid_headers`, `url_not_allowed` (an endpoint that leaves the base path)
 */
export function buildProviderRequest(call: ProviderCall): ProviderRequest {
  const plain = valuesOf(call);
  const method = call.method.toUpperCase();
  const url = urlOf(call, plain);
  const own = ownHeaders(call, plain);
  const body = withBody.has(method) ? bodyOf(call, plain, own) : undefined;
  const sent = {
    method,
    url,
    endpoint: call.endpoint,
    body: body ?? '',
    contentType: own['content-type'] ?? '',
    headers: own,
  };
  const injected = injectedHeaders(
    call,
    { ...plain, call: sent },
    authorizationOf(call, plain, sent),
  );
  const headers = mergeHeaders(injected, own);
  checkHeaders(headers);
  return {
    method,
    url,
    headers,
    ...(body === undefined ? {} : { body }),
    credentialHeaders: credentialHeadersOf(call.provider, injected),
  };
}

/** The later wins, except that a `user-agent` of the provider stays. */
export function mergeHeaders(
  injected: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = { ...injected, ...own };
  const providerAgent = injected['user-agent'];
  if (providerAgent !== undefined) headers['user-agent'] = providerAgent;
  headers['user-agent'] ??= 'svc';
  headers['accept'] ??= 'application/json, text/plain, */*';
  return headers;
}

export const credentialHeadersOf = (
  { proxy }: Provider,
  injected: Readonly<Record<string, string>>,
): readonly string[] =>
  proxy?.forward_headers_on_redirect ? [] : [...alwaysSecret, ...Object.keys(injected)];

/** Headers of the caller, preceded by the content type of the provider. */
function ownHeaders(call: ProviderCall, values: TemplateValues): Record<string, string> {
  const wanted = wantedType(call.provider, values);
  const headers: Record<string, string> = wanted === null ? {} : { 'content-type': wanted };
  for (const [name, value] of Object.entries(call.headers ?? {}))
    headers[name.toLowerCase()] = value;
  return headers;
}

/** Content type that the provider's headers set. */
export function wantedType({ proxy }: Provider, values: TemplateValues): string | null {
  const templates = Object.entries(proxy?.headers ?? {});
  const type = templates.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return type === undefined ? null : interpolate(type, values);
}

function valuesOf(call: ProviderCall): TemplateValues {
  const { connection, integration, provider, now } = call;
  const values: TemplateValues = {
    connectionConfig: connection.connectionConfig,
    metadata: connection.metadata,
    credentials: connection.credentials,
    clientId: integration.clientId,
    clientSecret: integration.clientSecret,
    now,
    random: randomUUID(),
  };
  const extra = provider.proxy?.connection_config;
  if (!extra) return values;
  const more = interpolateJson({ ...extra }, values) as JsonObject;
  return { ...values, connectionConfig: { ...more, ...values.connectionConfig } };
}

function urlOf(call: ProviderCall, values: TemplateValues): URL {
  const base = baseUrlOf(call, values);
  const endpoint = call.isEndpointTemplate ? interpolateUrl(call.endpoint, values) : call.endpoint;
  if (endpoint === null) {
    const message = 'The endpoint refers to a value that this connection does not have.';
    throw new GatewayError('missing_api_url', { message });
  }
  const url = joinUrl(base, endpoint);
  const { keyPlacement, keyName } = call.integration.integrationConfig ?? {};
  const query = call.provider.proxy?.query;
  const isKeyed = keyPlacement === 'query' && keyName !== undefined && keyName !== '';
  if (query === undefined && !isKeyed) return withParams(url, call.params);
  const generic = isKeyed ? { [keyName]: genericKey(call, values) } : {};
  const injected = Object.entries({ ...query, ...generic }).flatMap(([name, template]) => {
    const value = template === null ? null : interpolate(template, values);
    return value === null ? [] : [[name, value] as const];
  });
  return withParams(withParams(url, Object.fromEntries(injected)), call.params);
}

/** Input of the base URL and of the injected headers. */
export type CallParties = Pick<ProviderCall, 'provider' | 'connection' | 'integration'>;

/** @throws GatewayError `unsupported_provider`, `missing_api_url` */
export function baseUrlOf(
  call: CallParties & Pick<ProviderCall, 'baseUrlOverride'>,
  values: TemplateValues,
): string {
  if (call.baseUrlOverride) return call.baseUrlOverride;
  const template = call.integration.integrationConfig?.['baseUrl'] ?? call.provider.proxy?.base_url;
  if (!template) throw new GatewayError('unsupported_provider');
  const base = interpolateUrl(template, values);
  if (base === null || !URL.canParse(base)) throw new GatewayError('missing_api_url');
  return base;
}

/** The value of a generic provider's key; its template names `${apiKey}` (docs/reference/provider-format.md#field-schemas). */
function genericKey(call: CallParties, values: TemplateValues): string | null {
  return interpolate(call.integration.integrationConfig?.['valueTemplate'] ?? '${apiKey}', values);
}

function authorizationOf(
  call: ProviderCall,
  values: TemplateValues,
  sent: OutgoingCall,
): AuthorizationCall {
  const { provider, connection, integration, now } = call;
  return {
    method: sent.method,
    url: sent.url,
    form: signedForm(sent),
    body: sent.body,
    contentType: sent.contentType,
    headers: sent.headers,
    provider,
    credentials: connection.credentials ?? {},
    connectionConfig: connection.connectionConfig,
    clientId: integration.clientId,
    clientSecret: integration.clientSecret,
    now,
    nonce: values.random,
  };
}

/** Injection of the mode, then of the provider's definition and of the integration's key. */
export function injectedHeaders(
  call: CallParties,
  values: TemplateValues,
  request: AuthorizationCall,
): Record<string, string> {
  const rules = authModeRules[call.provider.auth_mode];
  const headers: Record<string, string> = { ...rules.signature?.(request) };
  const authorization = rules.authorization(request);
  if (authorization !== null) headers['authorization'] = authorization;
  for (const [name, template] of Object.entries(call.provider.proxy?.headers ?? {})) {
    const value = interpolate(template, values);
    if (value !== null) headers[name.toLowerCase()] = value;
  }
  const { keyPlacement, keyName } = call.integration.integrationConfig ?? {};
  const key = keyPlacement === 'header' && keyName ? genericKey(call, values) : null;
  if (keyName && key !== null) headers[keyName.toLowerCase()] = key;
  return headers;
}

/** Of a form body, which OAuth 1.0 signs with the query. */
function signedForm({ body, contentType }: OutgoingCall): readonly (readonly [string, string])[] {
  if (!isForm(contentType)) return [];
  return [...new URLSearchParams(bodyText(body))];
}

function bodyOf(call: ProviderCall, values: TemplateValues, headers: Record<string, string>) {
  const injected = call.provider.proxy?.body;
  if (injected === undefined) return encodeBody(call.data, undefined, headers);
  const more = interpolateJson(injected, values) as JsonObject;
  return encodeBody(fieldsOf(call.data, headers['content-type'] ?? ''), more, headers);
}

/** The fields of a form or of a JSON object in bytes or text; any other body unchanged. */
function fieldsOf(data: unknown, contentType: string): unknown {
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) return data;
  const text = bodyText(data);
  if (isForm(contentType)) return new URLSearchParams(text);
  if (!contentType.startsWith('application/json')) return data;
  try {
    const parsed = parseRawJson(text);
    return isJsonObject(parsed) ? parsed : data;
  } catch {
    return data; // Not JSON: the provider decides.
  }
}

/**
 * Whether a body of the type has to be complete before a call can be built: it is signed, or fields of the provider are
 * merged into it.
 */
export function needsWholeBody(provider: Provider, contentType: string): boolean {
  const { auth_mode: mode, proxy = {} } = provider;
  if (authModeRules[mode].signsBody?.(provider, contentType) === true) return true;
  const takesFields = isForm(contentType) || contentType.startsWith('application/json');
  if (proxy.body !== undefined && takesFields) return true;
  return Object.values(proxy.headers ?? {}).some(readsBody);
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const notOfValues = /[^\t\x20-\x7e\x80-\xff]/;
const refusedName = 'No header can have the name.';
const refusedValue =
  'The header to the provider has a line break, a control character or text beyond Latin-1. Its value comes from the credentials, the configuration of the connection, the provider or the call.';

/**
 * A credential with a line break must not become a second header.
 * @throws GatewayError `invalid_headers` naming every invalid header, without its value, which may be a secret
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const errors = Object.entries(headers).flatMap(([name, value]) => {
    const isName = headerName.test(name);
    if (isName && !notOfValues.test(value)) return [];
    return [{ code: 'custom', message: isName ? refusedValue : refusedName, path: [name] }];
  });
  if (errors.length > 0) throw new GatewayError('invalid_headers', { errors });
}
