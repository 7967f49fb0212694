import { parseExactJson } from '#kernel/exact-json.ts';
import { isJsonObject } from '#kernel/stable-json.ts';
import { percentEncoded } from './url.ts';

/** A call as it is sent, for templates that sign it (docs/reference/provider-format.md#templates). */
export interface OutgoingCall {
  readonly method: string;
  readonly url: URL;
  /** As the caller wrote it. */
  readonly endpoint: string;
  /** Empty without one. */
  readonly body: string | Uint8Array;
  readonly contentType: string;
  /** Of the caller, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

const values: Readonly<Record<string, (call: OutgoingCall) => string>> = {
  method: ({ method }) => method,
  host: ({ url }) => url.host,
  path: ({ url }) => url.pathname,
  endpoint: ({ endpoint }) => endpoint,
  contentType: ({ contentType }) => contentType,
  urlCanonicalParams: ({ url }) => canonicalPairs([...url.searchParams]),
  bodyCanonicalParams: ({ body }) => bodyText(body),
  params: (call) => canonicalPairs([...call.url.searchParams, ...bodyPairs(call)]),
};

export const isCallToken = (token: string): boolean => Object.hasOwn(values, token);

/** Null for a token that is not of the call, or without a call. */
export function callValue(token: string, call: OutgoingCall | undefined): string | null {
  return call !== undefined && isCallToken(token) ? (values[token]?.(call) ?? null) : null;
}

const bodyTokens = /\b(?:bodyCanonicalParams|params|awsSigV4)\b/;

/** Whether the template reads the body of the call, which then has to be complete before the headers are made. */
export const readsBody = (template: string): boolean =>
  /\$\{/.test(template) && bodyTokens.test(template);

/**
 * `name=value` in the order of the encoded names, then values, each percent-encoded (RFC 3986). Names are compared
 * without the `=`: `b` comes before `b-c`.
 */
export function canonicalPairs(pairs: readonly (readonly [string, string])[]): string {
  return pairs
    .map(([name, value]) => [percentEncoded(name), percentEncoded(value)] as const)
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const bodyText = (body: string | Uint8Array): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString('utf8');

/** Of a form, or the scalar values at the top level of JSON. */
function bodyPairs({ body, contentType }: OutgoingCall): [string, string][] {
  const text = bodyText(body);
  if (text === '') return [];
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return [...new URLSearchParams(text)];
  }
  const parsed = contentType.startsWith('application/json') ? parsedJson(text) : null;
  if (!isJsonObject(parsed)) return [];
  return Object.entries(parsed).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' ? [] : [[name, String(value)]],
  );
}

function parsedJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return null; // Not JSON: the provider decides.
  }
}
