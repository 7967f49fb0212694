import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { connectionId, flag, integrationKey, wholeNumber } from '#http/fields.ts';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { AnswerHeaders } from '#ports/http-client.ts';
import { proxyPrefix, isOfBoth } from '#rules/provider-headers.ts';

/** The options in the headers of a proxied call (docs/reference/http.md#proxy). */
export interface CallHeaders {
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly retries: number;
  readonly retryOn: readonly number[];
  readonly baseUrlOverride: string | null;
  /** Null: the value of the provider definition. */
  readonly isDecompressed: boolean | null;
  readonly keepsHeadersOnRedirect: boolean | null;
  /** The `svc-proxy-*` headers without the prefix, the content type, and those of MCP. */
  readonly forwarded: Readonly<Record<string, string>>;
}

/** Cache of valid names: the next call usually has one of them. */
const remembering = (schema: z.ZodType<string>): ((value: string) => boolean) => {
  const right = new Set<string>();
  return (value) => {
    if (right.has(value)) return true;
    if (!schema.safeParse(value).success) return false;
    if (right.size >= rememberedMax) right.clear();
    right.add(value);
    return true;
  };
};
const rememberedMax = 10_000;
const isKey = remembering(integrationKey);
const isId = remembering(connectionId);
const retriesMax = 10;

/** @throws GatewayError `invalid_headers` naming every invalid header */
export function readCallHeaders(headers: IncomingHttpHeaders): CallHeaders {
  const errors: Issue[] = [];
  const refuse = (name: string, message: string) => {
    errors.push({ code: 'custom', message, path: [name] });
  };
  const text = (name: string): string | undefined => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
  const key = text('provider-config-key') ?? '';
  if (!isKey(key)) refuse('provider-config-key', 'Send the unique key of the integration.');
  const id = text('connection-id') ?? '';
  if (!isId(id)) refuse('connection-id', 'Send the id of the connection.');
  const retries = Number(text('retries') ?? 0);
  if (!Number.isInteger(retries) || retries < 0 || retries > retriesMax) {
    refuse('retries', `Send a whole number from 0 to ${retriesMax}.`);
  }
  const retryOn = text('retry-on') ?? '';
  if (retryOn !== '' && !/^\d{3}(,\s*\d{3})*$/.test(retryOn)) {
    refuse('retry-on', 'Send a comma-separated list of statuses, such as 409,423.');
  }
  const override = text('base-url-override') ?? '';
  if (override !== '' && !isWebUrl(override))
    refuse('base-url-override', 'Send an http or https URL.');
  const optionalFlag = (name: string): boolean | null => {
    const value = text(name);
    if (value === undefined) return null;
    const parsed = flag.safeParse(value);
    if (!parsed.success) refuse(name, 'Send true or false.');
    return parsed.success ? parsed.data : null;
  };
  if (headers[`${proxyPrefix}__proto__`] !== undefined) {
    refuse(`${proxyPrefix}__proto__`, 'The header name "__proto__" is not allowed.');
  }
  const isDecompressed = optionalFlag('decompress');
  const keepsHeadersOnRedirect = optionalFlag('forward-headers-on-redirect');
  if (errors.length > 0) throw new GatewayError('invalid_headers', { errors });
  return {
    integrationKey: key,
    connectionId: id,
    retries,
    retryOn: retryOn === '' ? [] : retryOn.split(',').map(Number),
    baseUrlOverride: override === '' ? null : override,
    isDecompressed,
    keepsHeadersOnRedirect,
    forwarded: forwardedOf(headers, text),
  };
}

const isWebUrl = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

function forwardedOf(
  headers: IncomingHttpHeaders,
  text: (name: string) => string | undefined,
): Record<string, string> {
  const type = text('content-type');
  const forwarded: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const ofConnection = text('connection')?.toLowerCase() ?? '';
  for (const name of Object.keys(headers)) {
    const value = text(name);
    if (isOfMcp(name) && value !== undefined) forwarded[name] ??= value;
    if (!name.startsWith(proxyPrefix) || name.length === proxyPrefix.length) continue;
    // Headers named in `Connection` are not forwarded (RFC 9110 section 7.6.1).
    if (ofConnection.includes(proxyPrefix) && isNamed(ofConnection, name)) continue;
    if (value !== undefined) forwarded[name.slice(proxyPrefix.length)] = value;
  }
  return forwarded;
}

/** Clients of MCP set them by themselves: sessions and resumed streams of its HTTP transport. */
const isOfMcp = (name: string): boolean =>
  name === 'mcp-session-id' || name === 'mcp-protocol-version' || name === 'last-event-id';

const isNamed = (list: string, name: string): boolean =>
  list.split(',').some((item) => item.trim() === name);

/** The description of these headers in the OpenAPI document. */
export const callHeadersShape = z.object({
  'provider-config-key': integrationKey,
  'connection-id': connectionId,
  retries: wholeNumber(0, retriesMax)
    .optional()
    .describe('Retries of a failed request, up to 10; 0 by default.'),
  'retry-on': z
    .string()
    .regex(/^\d{3}(,\s*\d{3})*$/)
    .optional()
    .describe('Statuses to retry besides 401, 429 and 5xx, separated by commas.'),
  'base-url-override': z
    .url()
    .optional()
    .describe('URL in place of the base URL of the provider; the egress policy applies.'),
  decompress: flag
    .optional()
    .describe('Whether the response is decompressed; by default as the provider is defined.'),
  'forward-headers-on-redirect': flag
    .optional()
    .describe('Whether credentials follow a redirect to another origin; no by default.'),
});

/** Hop-by-hop headers (RFC 9110 section 7.6.1), and headers that the gateway sets. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const noContent = 204;

/**
 * Headers of the provider that are passed to the caller unchanged: all except hop-by-hop headers, those that
 * `Connection` names, and `Access-Control-*`, which concern another origin. The result has no header that the gateway
 * sets in each response, and no content length where the status excludes a body (RFC 9110 section 8.6).
 */
export function callerHeaders(status: number, headers: AnswerHeaders): string[] {
  const named = namedBy(headers);
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (isDropped(name) || named?.has(name)) continue;
    if (status === noContent && name === 'content-length') continue;
    kept.push(isOfBoth(name) ? `${proxyPrefix}${name}` : name, headers[at + 1] ?? '');
  }
  return kept;
}

/** Fast path: the first letter excludes most names. */
function isDropped(name: string): boolean {
  switch (name.charCodeAt(0)) {
    case 0x61: // a
      return name.startsWith('access-control-');
    case 0x70: // p
      return name.startsWith('proxy-');
    case 0x63: // c
    case 0x6b: // k
    case 0x74: // t
    case 0x75: // u
      return dropped.has(name);
    default:
      return false;
  }
}

/** Names in `Connection` headers; most contain only `keep-alive`. */
function namedBy(headers: AnswerHeaders): ReadonlySet<string> | null {
  const value = joinedOf(headers, 'connection');
  if (value === undefined || value === 'keep-alive') return null;
  const names = value.toLowerCase().split(',');
  return new Set(names.map((name) => name.trim()));
}

function joinedOf(headers: AnswerHeaders, name: string): string | undefined {
  let value: string | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === name)
      value = value === undefined ? headers[at + 1] : `${value},${headers[at + 1] ?? ''}`;
  }
  return value;
}

/** The first value of a header. */
export function firstOf(headers: AnswerHeaders, name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
  return undefined;
}

/** In the form of `HttpReply`: several values joined. */
export function joined(headers: AnswerHeaders): Record<string, string> {
  const byName = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    const before = byName.get(name);
    byName.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(byName);
}
