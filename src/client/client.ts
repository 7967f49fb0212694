import { ApiError, refusal } from './api-error.ts';
import type { Operations } from './operations.ts';

/** `GET /connections/{connectionId}` */
export type Operation = keyof Operations;

/** The parameters of an operation: `params`, `query`, `headers`, `body`. */
export type Input<O extends Operation> = Omit<Operations[O], 'answer'>;

/** The body of a successful response. */
export type Answer<O extends Operation> = Operations[O]['answer'];

export interface RequestOptions {
  /** A repeated change with this key gets the response to the first one. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  /** Base URL of the service, such as `http://127.0.0.1:3003`. */
  readonly url: string;
  /** An API key, or the token of a connect session. */
  readonly key: string;
  /** For one request, in ms; default two minutes. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
}

type Arguments<O extends Operation> =
  object extends Input<O>
    ? [input?: Input<O> & RequestOptions]
    : [input: Input<O> & RequestOptions];

export interface Client {
  /**
   * Sends the request of an operation.
   * @throws ApiError the service's refusal, or why it could not be reached
   */
  request<O extends Operation>(operation: O, ...input: Arguments<O>): Promise<Answer<O>>;
  /** Sends any other request, by its path; the response is not validated. @throws ApiError */
  send(method: string, path: string, sent?: Sent): Promise<unknown>;
}

interface Sent extends RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

type Plain = string | number | boolean;
type Query = Readonly<
  Record<string, Plain | readonly Plain[] | Readonly<Record<string, Plain>> | undefined>
>;

interface Parts extends Sent {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Query;
}

const timeoutDefaultMs = 120_000;

/** A client of the API for Node. */
export function createClient(options: ClientOptions): Client {
  const base = options.url.replace(/(?<!\/)\/+$/, '');
  const send = async (method: string, path: string, sent: Sent = {}): Promise<unknown> => {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutDefaultMs);
    const answer = await reach(base + path, {
      method,
      headers: headersOf(options, sent),
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
      signal: sent.signal === undefined ? timeout : AbortSignal.any([timeout, sent.signal]),
    });
    const text = await answer.text();
    if (!answer.ok) throw refusal(answer.status, text);
    return bodyOf(answer, text);
  };
  return {
    send,
    async request(operation, ...[input]) {
      const [method = '', template = ''] = operation.split(' ');
      const { params = {}, query = {}, ...sent }: Parts = input ?? {};
      const answered = await send(method, filled(template, params) + queryText(query), sent);
      // The service guarantees the shape.
      return answered;
    },
  };
}

function headersOf({ key, userAgent }: ClientOptions, sent: Sent): Record<string, string> {
  return {
    authorization: `Bearer ${key}`,
    ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(sent.idempotencyKey === undefined ? {} : { 'idempotency-key': sent.idempotencyKey }),
    ...sent.headers,
  };
}

const filled = (template: string, params: Readonly<Record<string, string | number>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name] ?? '')),
  );

const isList = (value: Query[string]): value is readonly Plain[] => Array.isArray(value);

/** Lists repeat the name, objects are `name[key]`; undefined values are omitted. */
function queryText(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (isList(value)) for (const item of value) pairs.append(name, String(item));
    else if (typeof value === 'object') {
      for (const [key, item] of Object.entries(value))
        pairs.append(`${name}[${key}]`, String(item));
    } else if (value !== undefined) pairs.append(name, String(value));
  }
  const text = pairs.toString();
  return text === '' ? '' : `?${text}`;
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'manual' });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ApiError('unreachable', `Could not reach ${url}: ${reason}`, { cause: error });
  }
}

/** @returns JSON parsed, anything else as text; undefined when there is no body */
function bodyOf({ headers, status }: Response, text: string): unknown {
  if (text === '') return undefined;
  if (!(headers.get('content-type') ?? '').includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = 'The response of the service is not JSON.';
    throw new ApiError('invalid_answer', message, { cause, status });
  }
}
