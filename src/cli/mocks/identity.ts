import { createHash } from 'node:crypto';
import { isJsonObject, stableJson, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { HttpCall, WireBody } from '#ports/sandbox.ts';

/** A request of a function as stored in mocks. */
export interface SavedRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Json;
}

/** Bodies up to this length are stored unchanged, longer ones as their SHA-1. */
const bodyCharsMax = 1000;
/** Connection-specific or secret headers: they differ from run to run. */
const transport = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'host',
  'user-agent',
]);
const secret = /auth|cookie|token|secret|password|api-?key|signature/i;
/** A function makes one in each run. */
const idempotencyKey = /idempotency-?key/i;
const secretParams = /^(access_?token|api_?key|client_secret|key|password|secret|signature)$/i;
const defaultTypes = /^(application\/json|application\/x-www-form-urlencoded)\b/;

/** Identifies a provider call of the sandbox, recorded or live. */
export interface RequestedCall extends Pick<HttpCall, 'method' | 'endpoint' | 'body'> {
  readonly params?: HttpCall['params'] | undefined;
  readonly headers?: HttpCall['headers'] | undefined;
}

/** Identifies a call of the handle that is no request; one of an action by name and input. */
export function savedArgs(args: Json): Json {
  if (!isJsonObject(args) || !('name' in args)) return args;
  return { name: args['name'] ?? null, input: args['input'] ?? null };
}

/** Method and path that index a mock, and the request with everything that distinguishes it from others. */
export function savedRequest(call: RequestedCall): {
  readonly method: string;
  readonly path: string;
  readonly request: SavedRequest;
  /** SHA-1 over all of it, in hexadecimal. */
  readonly hash: string;
} {
  const [path, query] = split(call.endpoint);
  const params = { ...Object.fromEntries(new URLSearchParams(query)), ...paramsOf(call.params) };
  const request = {
    params: sorted(
      Object.fromEntries(Object.entries(params).filter(([name]) => !secretParams.test(name))),
    ),
    headers: sorted(headersOf(call.headers ?? {})),
    data: dataOf(call.body),
  };
  const method = call.method.toLowerCase();
  return { method, path, request, hash: hashOf(method, path, request) };
}

/**
 * The hash of a request of mocks as it is computed now: mocks of earlier versions hold headers that no longer
 * distinguish it.
 */
export const presentHash = (method: string, path: string, request: SavedRequest): string =>
  hashOf(method, path, { ...request, headers: headersOf(request.headers) });

const hashOf = (method: string, path: string, request: SavedRequest): string =>
  createHash('sha1')
    .update(stableJson([method, path, { ...request }]))
    .digest('hex');

function split(endpoint: string): [string, string] {
  const at = endpoint.indexOf('?');
  const [path, query] =
    at === -1 ? [endpoint, ''] : [endpoint.slice(0, at), endpoint.slice(at + 1)];
  return [path.startsWith('/') || /^https?:/.test(path) ? path : `/${path}`, query];
}

function paramsOf(params: string | JsonObject | undefined): Record<string, string> {
  if (params === undefined) return {};
  if (typeof params === 'string') return Object.fromEntries(new URLSearchParams(params));
  const pairs = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(pairs);
}

function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => {
    if (transport.has(name) || secret.test(name) || idempotencyKey.test(name)) return false;
    return name !== 'content-type' || !defaultTypes.test(value);
  });
  return Object.fromEntries(kept);
}

function dataOf(body: WireBody): Json {
  switch (body.kind) {
    case 'none':
      return null;
    case 'json':
      return cut(body.value);
    case 'text':
    case 'form':
      return cut(body.text);
    case 'bytes':
      return cut(body.base64);
    case 'fields':
      return cut(body.fields.map(([name, part]): Json => [name, { ...part }]));
  }
}

function cut(value: Json): Json {
  const text = stableJson(value);
  if (text.length <= bodyCharsMax) return value;
  return { sha1: createHash('sha1').update(text).digest('hex') };
}

const sorted = (pairs: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(pairs).sort(([a], [b]) => (a < b ? -1 : 1)));
