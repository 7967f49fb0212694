import { parseWrittenJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import type {
  FailedCall,
  FailureCause,
  HttpAnswer,
  InvalidCode,
  RunFailure,
} from '#ports/sandbox.ts';

/** Limit of a payload in an error that leaves the run, as JSON text. */
const payloadCharsMax = 99_000;
const stackLinesMax = 10;
/** Causes, and characters of a provider's response, in a failure (docs/reference/limits.md#runs). */
const causesMax = 5;
const bodyCharsMax = 4_000;
const causeCharsMax = 2_000;

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
/** A request of an error, as the provider got it. */
interface SentRequest {
  readonly method: string;
  readonly url: string;
}
/** Errors made from a provider's response, or without one (null). */
const httpErrors = new WeakMap<
  object,
  {
    readonly sent: SentRequest;
    readonly code: string | null;
    readonly answer: { readonly reply: Reply; readonly data: unknown } | null;
  }
>();

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
export function httpError(reply: Reply, data: unknown, config: object & SentRequest): Error {
  const { status, statusText } = reply;
  const { method, url } = config;
  const headers = responseHeaders(reply);
  const code = status >= 500 ? 'ERR_BAD_RESPONSE' : 'ERR_BAD_REQUEST';
  const error = new Error(`Request failed with status code ${status}`);
  error.name = 'AxiosError';
  const response = { status, statusText, headers, data, config };
  httpErrors.set(error, { sent: { method, url }, code: null, answer: { reply, data } });
  return Object.assign(error, { isAxiosError: true, code, status, config, response });
}

/** The same without a response. */
export function networkError(code: string, message: string, config: object & SentRequest): Error {
  const { method, url } = config;
  const error = new Error(message);
  error.name = 'AxiosError';
  httpErrors.set(error, { sent: { method, url }, code, answer: null });
  return Object.assign(error, { isAxiosError: true, code, config });
}

/** Describes any thrown value: it may be null, a proxy, a cycle, or an object whose getters throw. */
export function describeThrown(thrown: unknown, fileName: string): RunFailure {
  let failure: RunFailure;
  try {
    failure = describe(thrown, fileName);
  } catch {
    const message = 'The function threw a value that cannot be read.';
    return { kind: 'error', name: 'Error', message };
  }
  try {
    return { ...failure, ...originOf(thrown, fileName) };
  } catch {
    return failure;
  }
}

function describe(thrown: unknown, fileName: string): RunFailure {
  if (typeof thrown !== 'object' || thrown === null) {
    return { kind: 'error', name: 'Error', message: cut(String(thrown), 10_000) };
  }
  const base = { ...errorFields(thrown, 10_000), ...stackOf(thrown, fileName) };
  if (actionErrors.has(thrown)) {
    return { ...base, kind: 'action_error', payload: fitPayload((thrown as ActionError).payload) };
  }
  const invalid = invalidErrors.get(thrown);
  if (invalid !== undefined) {
    const { code, payload } = invalid;
    return { ...base, kind: 'invalid', code, payload: fitPayload(payload) };
  }
  const http = httpErrors.get(thrown);
  if (http === undefined) return { ...base, kind: 'error' };
  if (http.answer === null) return { ...base, kind: 'network' };
  const { reply, data } = http.answer;
  return { ...base, kind: 'http', ...upstreamOf(reply, data, base.message) };
}

function errorFields(thrown: object, charsMax: number) {
  const { name, message, code } = thrown as Readonly<Record<string, unknown>>;
  return {
    name: typeof name === 'string' ? cut(name, 200) : 'Error',
    message: typeof message === 'string' ? cut(message, charsMax) : cut(safeJson(thrown), charsMax),
    ...(typeof code === 'string' ? { code: cut(code, 200) } : {}),
  };
}

function stackOf(thrown: object, fileName: string): { stack?: string } {
  const { stack } = thrown as { stack?: unknown };
  const lines = typeof stack === 'string' ? ownLines(stack, fileName) : '';
  return lines === '' ? {} : { stack: lines };
}

/** The chain of causes, and the first request to a provider in it. */
function originOf(thrown: unknown, fileName: string): Pick<RunFailure, 'causes' | 'call'> {
  const [first, ...others] = chainOf(thrown);
  const causes = others.map((cause): FailureCause => {
    if (typeof cause !== 'object' || cause === null) {
      return { name: 'Error', message: cut(String(cause), causeCharsMax) };
    }
    return { ...errorFields(cause, causeCharsMax), ...stackOf(cause, fileName) };
  });
  const called = [first, ...others].find(
    (one): one is object => typeof one === 'object' && one !== null && httpErrors.has(one),
  );
  const call = called === undefined ? null : failedCall(called);
  return { ...(causes.length === 0 ? {} : { causes }), ...(call === null ? {} : { call }) };
}

/** The value and its causes; of an error that joins others, the first of them. */
function chainOf(thrown: unknown): unknown[] {
  const chain = [thrown];
  while (chain.length <= causesMax) {
    const last = chain.at(-1);
    if (typeof last !== 'object' || last === null) break;
    const { cause, errors } = last as { cause?: unknown; errors?: unknown };
    const next = cause ?? (Array.isArray(errors) ? (errors as unknown[])[0] : undefined);
    if (next === undefined || next === null || chain.includes(next)) break;
    chain.push(next);
  }
  return chain;
}

function failedCall(error: object): FailedCall | null {
  const found = httpErrors.get(error);
  if (found === undefined) return null;
  const { sent, code, answer } = found;
  const { method, url } = sent;
  const body = answer === null ? null : bodyShown(answer.data);
  return { method, url: cut(url, causeCharsMax), status: answer?.reply.status ?? null, code, body };
}

/** Text of a body that was text. */
function bodyShown(data: unknown): string | null {
  if (ArrayBuffer.isView(data) || data === undefined || data === null || data === '') return null;
  return cut(typeof data === 'string' ? data : safeJson(data), bodyCharsMax);
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
  const lines = stack
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at ') && line.includes(fileName));
  return cut(lines.slice(0, stackLinesMax).join('\n'), 5000);
}

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max)}… (cut)`;
