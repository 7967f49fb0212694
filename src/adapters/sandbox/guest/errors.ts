import { parseWrittenJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { HttpAnswer, InvalidCode, RunFailure } from '#ports/sandbox.ts';

/** Limit of a payload in an error that leaves the run, as JSON text. */
const payloadCharsMax = 99_000;
const stackLinesMax = 10;

/** Thrown to give the caller of an action a custom payload. */
export class ActionError extends Error {
  override readonly name = 'ActionError';
  readonly type = 'action_script_failure';
  readonly payload: Record<string, unknown>;

  constructor(payload?: unknown) {
    const wrapped = wrapPayload(payload);
    super(typeof wrapped['message'] === 'string' ? wrapped['message'] : 'The action failed.');
    this.payload = wrapped;
    actionErrors.add(this);
  }
}

const actionErrors = new WeakSet<object>();
type Reply = Extract<HttpAnswer, { outcome: 'reply' }>;
/** Errors made from a provider's response, or without one (null). */
const httpErrors = new WeakMap<object, { readonly reply: Reply; readonly data: unknown } | null>();

function wrapPayload(payload: unknown): Record<string, unknown> {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    return payload === undefined ? {} : { message: payload };
  }
  return payload as Record<string, unknown>;
}

const invalidErrors = new WeakMap<
  object,
  { readonly code: InvalidCode; readonly payload: object }
>();

/** A value violated its schema. */
export function invalidError(code: InvalidCode, message: string, payload: object): Error {
  const error = Object.assign(new Error(message), { code });
  invalidErrors.set(error, { code, payload });
  return error;
}

export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Cookies are a list, since their values may have commas; several values of another header are joined by `, `. */
export const responseHeaders = ({ headers, setCookies }: Reply): ResponseHeaders =>
  setCookies === undefined ? headers : { ...headers, 'set-cookie': setCookies };

/** In the form of the common HTTP client's errors (docs/reference/functions.md#responses). */
export function httpError(reply: Reply, data: unknown, config: object): Error {
  const { status, statusText } = reply;
  const headers = responseHeaders(reply);
  const code = status >= 500 ? 'ERR_BAD_RESPONSE' : 'ERR_BAD_REQUEST';
  const error = new Error(`Request failed with status code ${status}`);
  error.name = 'AxiosError';
  const response = { status, statusText, headers, data, config };
  httpErrors.set(error, { reply, data });
  return Object.assign(error, { isAxiosError: true, code, status, config, response });
}

/** The same without a response. */
export function networkError(code: string, message: string, config: object): Error {
  const error = new Error(message);
  error.name = 'AxiosError';
  httpErrors.set(error, null);
  return Object.assign(error, { isAxiosError: true, code, config });
}

/** Describes any thrown value: it may be null, a proxy, a cycle, or an object whose getters throw. */
export function describeThrown(thrown: unknown, fileName: string): RunFailure {
  try {
    return describe(thrown, fileName);
  } catch {
    return {
      kind: 'error',
      name: 'Error',
      message: 'The function threw a value that cannot be read.',
    };
  }
}

function describe(thrown: unknown, fileName: string): RunFailure {
  if (typeof thrown !== 'object' || thrown === null) {
    return { kind: 'error', name: 'Error', message: cut(String(thrown), 10_000) };
  }
  const { name, message, code, stack } = thrown as Readonly<Record<string, unknown>>;
  const base = {
    name: typeof name === 'string' ? cut(name, 200) : 'Error',
    message: typeof message === 'string' ? cut(message, 10_000) : cut(safeJson(thrown), 10_000),
    ...(typeof code === 'string' ? { code: cut(code, 200) } : {}),
  };
  if (actionErrors.has(thrown)) {
    return { ...base, kind: 'action_error', payload: fitPayload((thrown as ActionError).payload) };
  }
  const invalid = invalidErrors.get(thrown);
  if (invalid !== undefined) {
    const { code, payload } = invalid;
    return { ...base, kind: 'invalid', code, payload: fitPayload(payload) };
  }
  const http = httpErrors.get(thrown);
  if (http === null) return { ...base, kind: 'network' };
  if (http !== undefined)
    return { ...base, kind: 'http', ...upstreamOf(http.reply, http.data, base.message) };
  const lines = typeof stack === 'string' ? ownLines(stack, fileName) : '';
  return { ...base, kind: 'error', ...(lines === '' ? {} : { stack: lines }) };
}

function upstreamOf(
  reply: Reply,
  data: unknown,
  message: string,
): Pick<RunFailure, 'payload' | 'upstream'> {
  const body = fitPayload(data);
  const isObject = typeof body === 'object' && body !== null;
  const text = typeof body === 'string' && body !== '' ? body : message;
  const headers = Object.entries(reply.headers).filter(
    ([name]) => name === 'content-type' || name.startsWith('x-rate'),
  );
  return {
    payload: isObject ? body : { message: text },
    upstream: { status: reply.status, headers: Object.fromEntries(headers), body },
  };
}

/** As JSON, cut to the limit: whole properties are removed, the largest first. */
function fitPayload(value: unknown): Json {
  const text = safeJson(value);
  if (text.length <= payloadCharsMax) return parseWrittenJson(text) as Json;
  const parsed = parseWrittenJson(text) as Json;
  if (typeof parsed === 'string') return cut(parsed, payloadCharsMax - 20);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const sizes = Object.entries(parsed)
    .map(([key, item]) => ({ key, item, size: JSON.stringify([key, item]).length }))
    .sort((a, b) => a.size - b.size);
  let room = payloadCharsMax;
  const kept = sizes.filter(({ size }) => (room -= size) > 0);
  return Object.fromEntries(kept.map(({ key, item }) => [key, item]));
}

/** Undefined for values that JSON omits: functions, symbols, undefined. */
export const jsonText = JSON.stringify as (value: unknown) => string | undefined;

/** JSON text of anything; values that JSON cannot represent are described. */
function safeJson(value: unknown): string {
  try {
    return jsonText(value) ?? 'null';
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : '';
    return JSON.stringify({ message: `The value is not JSON: ${reason ?? ''}` });
  }
}

function ownLines(stack: string, fileName: string): string {
  const lines = stack.split('\n').filter((line) => line.includes(fileName));
  return cut(lines.slice(0, stackLinesMax).join('\n'), 5000);
}

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max)}… (cut)`;
