import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { GatewayError, type Issue } from '../../kernel/errors.ts';
import { connectionId, flag, integrationKey, wholeNumber } from '../../http/fields.ts';
import { proxyPrefix } from './provider-headers.ts';

/** What the headers of a proxied call ask for (docs/reference/http.md#proxy). */
export interface CallHeaders {
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly retries: number;
  readonly retryOn: readonly number[];
  readonly baseUrlOverride: string | null;
  /** Null: as the provider's definition has it. */
  readonly isDecompressed: boolean | null;
  readonly keepsHeadersOnRedirect: boolean | null;
  /** Of `svc-proxy-*` with the prefix removed, and the type of the body. */
  readonly forwarded: Readonly<Record<string, string>>;
}

/** Those that were found to be right: the next call mostly names one of them. */
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

/** @throws GatewayError `invalid_headers` naming every wrong one */
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
  if (!isKey(key)) refuse('provider-config-key', 'Name the integration: its unique key.');
  const id = text('connection-id') ?? '';
  if (!isId(id)) refuse('connection-id', 'Name the connection: its connection id.');
  const retries = Number(text('retries') ?? 0);
  if (!Number.isInteger(retries) || retries < 0 || retries > retriesMax) {
    refuse('retries', `A whole number from 0 to ${retriesMax}.`);
  }
  const retryOn = text('retry-on') ?? '';
  if (retryOn !== '' && !/^\d{3}(,\s*\d{3})*$/.test(retryOn)) {
    refuse('retry-on', 'Statuses with commas between them, such as 409,423.');
  }
  const override = text('base-url-override') ?? '';
  if (override !== '' && !isWebUrl(override)) refuse('base-url-override', 'An http or https URL.');
  const optionalFlag = (name: string): boolean | null => {
    const value = text(name);
    if (value === undefined) return null;
    const parsed = flag.safeParse(value);
    if (!parsed.success) refuse(name, 'true or false.');
    return parsed.success ? parsed.data : null;
  };
  if (headers[`${proxyPrefix}__proto__`] !== undefined) {
    refuse(`${proxyPrefix}__proto__`, 'No header of the provider may be "__proto__".');
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
    // What `Connection` names ends here (RFC 9110 section 7.6.1).
    if (ofConnection.includes(proxyPrefix) && isNamed(ofConnection, name)) continue;
    if (value !== undefined) forwarded[name.slice(proxyPrefix.length)] = value;
  }
  return forwarded;
}

const isNamed = (list: string, name: string): boolean =>
  list.split(',').some((item) => item.trim() === name);

/** What the document of the API says of these headers. */
export const callHeadersShape = z.object({
  'provider-config-key': integrationKey,
  'connection-id': connectionId,
  retries: wholeNumber(0, retriesMax).optional(),
  'retry-on': z
    .string()
    .regex(/^\d{3}(,\s*\d{3})*$/)
    .optional(),
  'base-url-override': z.url().optional(),
  decompress: flag.optional(),
  'forward-headers-on-redirect': flag.optional(),
});
