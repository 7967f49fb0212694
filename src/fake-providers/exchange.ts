import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '#kernel/stable-json.ts';

/** What an address of the fake provider is for; `step1` and so on are further calls of a token exchange. */
export type Role =
  | 'authorize'
  | 'request'
  | 'token'
  | 'refresh'
  | 'introspect'
  | 'installation'
  | 'exchange'
  | 'renewal'
  | 'revoke'
  | 'api'
  | 'resource'
  | 'issuer'
  | 'register'
  | `step${number}`;

/** A request as the fake provider sees it. */
export interface ReceivedRequest {
  readonly role: Role;
  readonly method: string;
  /** As it was sent: origin of the fake provider, path with the name and the role before it. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or text as it is. */
  readonly body: JsonObject | readonly JsonObject[] | string;
  /** A limit was reached: the request was not judged. */
  readonly isLimit?: true;
  /** Half of the body is sent, and the connection stays open. */
  readonly isHalf?: true;
}

/** The outcome of a request: `granted`, or why it was refused. */
export interface JudgedRequest {
  readonly role: Role;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly outcome: string;
}

/** A refusal of the provider. `error` is the code for the caller, `reason` the text for the test. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: string;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    status: number,
    error: string,
    reason: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(reason);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

/** @throws Refusal where the condition does not hold */
export function demand(
  isMet: boolean,
  reason: string,
  { status = 400, error = 'invalid_request' } = {},
): asserts isMet {
  if (!isMet) throw new Refusal(status, error, reason);
}

export const unauthorized = { status: 401, error: 'unauthorized' };
export const invalidGrant = { status: 400, error: 'invalid_grant' };
export const invalidClient = { status: 401, error: 'invalid_client' };

/** The parameters of a request in the format that the provider reads: nothing else is looked at. */
export function paramsOf(
  { url, headers, body }: ReceivedRequest,
  format: 'form' | 'json' | 'query' | 'xml',
): JsonObject {
  const type = headers['content-type'] ?? '';
  switch (format) {
    case 'query':
      return Object.fromEntries(url.searchParams);
    case 'json':
      demand(type.startsWith('application/json'), `wrong_content_type: ${type}`);
      return JSON.parse(body) as JsonObject;
    case 'xml':
      demand(type.startsWith('application/xml'), `wrong_content_type: ${type}`);
      return xmlFields(body);
    case 'form':
      demand(type.startsWith('application/x-www-form-urlencoded'), `wrong_content_type: ${type}`);
      return Object.fromEntries(new URLSearchParams(body));
  }
}

/** Elements by their name: text, or the elements inside. Attributes are not looked at. */
function xmlFields(xml: string): JsonObject {
  const fields: Record<string, Json> = {};
  let rest = xml;
  for (let tag = firstTag(rest); tag !== null; tag = firstTag(rest)) {
    const { name, contentStart } = tag;
    const end = rest.indexOf(`</${name}>`, contentStart);
    demand(end >= 0, `open_element: ${name}`);
    const content = rest.slice(contentStart, end);
    fields[name] = content.includes('<') ? xmlFields(content) : content;
    rest = rest.slice(end + name.length + '</>'.length);
  }
  return fields;
}

function firstTag(xml: string): { readonly name: string; readonly contentStart: number } | null {
  for (let at = xml.indexOf('<'); at >= 0; at = xml.indexOf('<', at + 1)) {
    const end = xml.indexOf('>', at);
    const [name = ''] = xml.slice(at + 1, end).split(/\s/, 1);
    if (end > 0 && /^[\w:]+$/.test(name)) return { name, contentStart: end + 1 };
  }
  return null;
}

/** Client and secret of a Basic header, which are encoded as a form is (RFC 6749 section 2.3.1). */
export function clientOf(request: ReceivedRequest): readonly string[] | null {
  try {
    return basicOf(request)?.map((text) => decodeURIComponent(text.replaceAll('+', ' '))) ?? null;
  } catch {
    return null; // No encoding: the client is not known.
  }
}

/** User and password of a Basic header; null without one (RFC 7617). */
export function basicOf({ headers }: ReceivedRequest): readonly [string, string] | null {
  const match = /^Basic ([A-Za-z0-9+/]+=*)$/.exec(headers.authorization ?? '');
  if (match === null) return null;
  const text = Buffer.from(match[1] ?? '', 'base64').toString('utf8');
  const at = text.indexOf(':');
  return at < 0 ? null : [text.slice(0, at), text.slice(at + 1)];
}
