import { bodyText } from '#kernel/body-text.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { HttpAnswer, HttpCall, WireBody } from '#ports/sandbox.ts';
import { call } from './bridge.ts';
import { Buffer } from './buffer.ts';
import { randomUUID } from './crypto.ts';
import {
  ActionError,
  httpError,
  networkError,
  responseHeaders,
  type ResponseHeaders,
} from './errors.ts';
import { Blob, bytesOfBlob, encodeForm, FormData, Headers } from './form.ts';
import { bytesOf, toText, utf8Encode } from './text.ts';
import { URLSearchParams } from './url-search-params.ts';

/** The configuration from a function (docs/reference/functions.md#configuration); unvalidated. */
export type Config = Readonly<Record<string, unknown>>;

export interface Response {
  data: unknown;
  status: number;
  statusText: string;
  headers: ResponseHeaders;
  config: object;
  request: object;
}

/** A response with what pagination reads of it. */
export interface ReadResponse {
  readonly response: Response;
  /** The body as text. */
  readonly text: string;
  /** Before redirects. */
  readonly requestUrl: string;
}

const binaryTypes = new Set(['arraybuffer', 'blob']);
const verbs = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/**
 * One call to the provider, after its retries.
 * @throws an error of the form of `httpError` for a status outside 2xx, of `networkError` without a response
 */
export async function request(config: Config, verb?: string): Promise<Response> {
  return (await send(config, wireCall(config, verb))).response;
}

/**
 * As `request`. A relative endpoint resolves against `relativeTo`, the URL of an earlier request.
 * @throws as `request`
 */
export async function requestPage(config: Config, relativeTo?: string): Promise<ReadResponse> {
  return send(config, {
    ...wireCall(config, undefined),
    ...(relativeTo === undefined ? {} : { relativeTo }),
  });
}

async function send(config: Config, encoded: HttpCall): Promise<ReadResponse> {
  const { value, body } = await call('http', encoded);
  const shown = { ...config, method: encoded.method, url: value.url };
  if (value.outcome === 'failure') throw networkError(value.code, value.message, shown);
  const data = readBody(body, config['responseType']);
  const { status, statusText } = value;
  const headers = responseHeaders(value);
  if (status < 200 || status > 299) throw httpError(value, data, shown);
  const response = { data, status, statusText, headers, config: shown, request: {} };
  return { response, text: body, requestUrl: value.requestUrl ?? value.url };
}

function wireCall(config: Config, verb: string | undefined): HttpCall {
  if (typeof config !== 'object' || (config as unknown) === null) {
    throw new TypeError('The request needs a configuration object');
  }
  const { endpoint, responseType } = config;
  if (typeof endpoint !== 'string') throw new TypeError('The configuration needs an endpoint');
  if (responseType === 'stream') throw new TypeError('The responseType stream is not supported');
  const method = (verb ?? toText(config['method'] ?? 'GET')).toUpperCase();
  if (!verbs.includes(method)) throw new TypeError(`The method ${method} is not supported`);
  const headers = headersOf(config['headers']);
  const body = method === 'GET' ? { kind: 'none' as const } : wireBody(config['data'], headers);
  return {
    method,
    endpoint,
    headers,
    body,
    bodyAs: binaryTypes.has(toText(responseType)) ? 'binary' : 'text',
    ...paramsOf(config['params']),
    ...retryOf(config),
    ...textField(config, 'baseUrlOverride'),
    ...textField(config, 'providerConfigKey'),
    ...textField(config, 'connectionId'),
    ...(config['forwardHeadersOnRedirect'] === true ? { forwardHeadersOnRedirect: true } : {}),
  };
}

function retryOf(config: Config): Partial<HttpCall> {
  const { retries, retryOn, retryHeader } = config;
  const header = retryHeader as { at?: unknown; after?: unknown } | null | undefined;
  return {
    ...(typeof retries === 'number' && retries > 0 ? { retries } : {}),
    ...(Array.isArray(retryOn) ? { retryOn: retryOn.map(Number) } : {}),
    ...(header ? { retryHeader: { at: listOf(header.at), after: listOf(header.after) } } : {}),
  };
}

const listOf = (value: unknown): string[] =>
  value === undefined || value === null ? [] : [value].flat().map(toText);

function textField<K extends 'baseUrlOverride' | 'providerConfigKey' | 'connectionId'>(
  config: Config,
  name: K,
): Partial<Record<K, string>> {
  const value = config[name];
  return value === undefined || value === null || value === ''
    ? {}
    : ({ [name]: toText(value) } as Record<K, string>);
}

/** Undefined and null are omitted, lists are joined by commas, dates become ISO text. */
function paramsOf(params: unknown): { params?: string | JsonObject } {
  if (params === undefined || params === null) return {};
  if (typeof params === 'string') return { params };
  if (params instanceof URLSearchParams) return { params: params.toString() };
  const pairs = Object.entries(params).flatMap(([name, value]: [string, unknown]) =>
    value === undefined || value === null ? [] : [[name, paramText(value)] as const],
  );
  return { params: Object.fromEntries(pairs) };
}

function paramText(value: unknown): string {
  if (Array.isArray(value)) return value.map(paramText).join(',');
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : toText(value);
}

function headersOf(headers: unknown): Record<string, string> {
  if (headers === undefined || headers === null) return {};
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const texts = (pairs as [string, unknown][]).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name.toLowerCase(), toText(value)] as const],
  );
  return Object.fromEntries(texts);
}

/** The body as JSON; a form sets its `content-type`, with the boundary. */
function wireBody(data: unknown, headers: Record<string, string>): WireBody {
  if (data === undefined || data === null) return { kind: 'none' };
  if (typeof data === 'string') return { kind: 'text', text: data };
  if (data instanceof URLSearchParams) return { kind: 'form', text: data.toString() };
  if (data instanceof FormData) {
    const boundary = `svc-${randomUUID()}`;
    headers['content-type'] = `multipart/form-data; boundary=${boundary}`;
    return { kind: 'bytes', base64: encodeForm(data, boundary).toString('base64') };
  }
  if (data instanceof Blob && data.type !== '') headers['content-type'] ??= data.type;
  const bytes = bytesIn(data);
  if (bytes !== null) return { kind: 'bytes', base64: base64(bytes) };
  if (
    !Array.isArray(data) &&
    typeof data === 'object' &&
    Object.values(data).some((item) => bytesIn(item) !== null)
  ) {
    const parts = Object.entries(data).map(([name, item]: [string, unknown]) => {
      const part = bytesIn(item);
      return [name, part === null ? { value: jsonOf(item) } : { base64: base64(part) }] as const;
    });
    return { kind: 'fields', fields: parts };
  }
  return { kind: 'json', value: jsonOf(data) };
}

const bytesIn = (value: unknown): Uint8Array | null =>
  value instanceof Blob ? bytesOfBlob(value) : bytesOf(value);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const jsonOf = (value: unknown): Json => (value === undefined ? null : (value as Json));

function readBody(body: string, responseType: unknown): unknown {
  if (responseType === 'arraybuffer') return Buffer.from(body, 'latin1');
  if (responseType === 'blob') return new Blob([Buffer.from(body, 'latin1')]);
  if (responseType === 'text' || responseType === 'document' || body === '') return body;
  try {
    return parseExactJson(body);
  } catch {
    return body;
  }
}

/** The response of `uncontrolledFetch`: already read completely. */
class FetchResponse {
  readonly #body: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
  readonly ok: boolean;

  constructor(reply: Extract<HttpAnswer, { outcome: 'reply' }>, body: string) {
    this.#body = body;
    this.status = reply.status;
    this.statusText = reply.statusText;
    this.headers = new Headers(reply.headers);
    for (const cookie of reply.setCookies ?? []) this.headers.append('set-cookie', cookie);
    this.url = reply.url;
    this.ok = reply.status >= 200 && reply.status <= 299;
  }

  async text(): Promise<string> {
    return bodyText(Buffer.from(this.#body, 'latin1'), this.headers.get('content-type') ?? '');
  }

  async json(): Promise<unknown> {
    return parseExactJson(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return Buffer.from(this.#body, 'latin1').buffer;
  }

  async blob(): Promise<Blob> {
    return new Blob([Buffer.from(this.#body, 'latin1')], {
      type: this.headers.get('content-type') ?? '',
    });
  }
}

/** Plain fetch: no credentials, no retry. @throws ActionError with `url_not_allowed`, `too_many_redirects` */
export async function uncontrolledFetch(options: unknown): Promise<FetchResponse> {
  const { url, method, headers, body } = (options ?? {}) as Readonly<Record<string, unknown>>;
  if (url === undefined || url === null) throw new TypeError('uncontrolledFetch needs a url');
  const sent = headersOf(headers);
  const text =
    typeof body === 'string' ? { kind: 'bytes' as const, base64: base64(utf8Encode(body)) } : null;
  try {
    const verb = toText(method ?? 'GET').toUpperCase();
    const { value, body: read } = await call('fetch', {
      url: toText(url),
      method: verb,
      headers: sent,
      body: text ?? wireBody(body, sent),
    });
    if (value.outcome === 'failure')
      throw networkError(value.code, value.message, { method: verb, url: value.url });
    return new FetchResponse(value, read);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code !== 'url_not_allowed' && code !== 'too_many_redirects') throw error;
    throw new ActionError({ code, message });
  }
}
