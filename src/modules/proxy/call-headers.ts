import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { connectionId, flag, integrationKey, wholeNumber } from '#http/fields.ts';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import { proxyPrefix } from './provider-headers.ts';

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
  /** The `svc-proxy-*` headers without the prefix, and the content type. */
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
    if (!name.startsWith(proxyPrefix) || name.length === proxyPrefix.length) continue;
    // Headers named in `Connection` are not forwarded (RFC 9110 section 7.6.1).
    if (ofConnection.includes(proxyPrefix) && isNamed(ofConnection, name)) continue;
    if (value !== undefined) forwarded[name.slice(proxyPrefix.length)] = value;
  }
  return forwarded;
}

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
