import { ApiError, refusal } from './api-error.ts';
import { circleFinder } from './circle.ts';
import type { Operations, RecordMetadata } from './operations.ts';
import { pause } from './pause.ts';
import { eventsOf, type ServerEvent } from './server-events.ts';

/** `GET /connections/{connectionId}` */
export type Operation = keyof Operations;

/** The parameters of an operation: `params`, `query`, `headers`, `body`. Undefined fields are not sent. */
export type Input<O extends Operation> = Parts<Omit<Operations[O], 'answer'>>;
type Parts<T> = OptionalUndefined<{ [P in keyof T]: OptionalUndefined<T[P]> }>;
type OptionalUndefined<T> = unknown extends T
  ? T
  : { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** The body of a successful response. */
export type Answer<O extends Operation> = Operations[O]['answer'];

/** Lists that are read page by page, with a cursor. */
export type PagedOperation = {
  [O in Operation]: [Answer<O>] extends [never] ? never : Answer<O> extends Page ? O : never;
}[Operation];
type Page =
  | { readonly next_cursor: string | null }
  | { readonly pagination: { readonly cursor: string | null } };

/** Streams of server-sent events. */
export type EventOperation = Extract<
  Operation,
  'GET /changes/stream' | 'GET /logs/tail' | 'GET /records/stream' | 'GET /runs/tail'
>;

export interface RequestOptions {
  /** A repeated change with this key gets the response to the first one. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** In place of the client's own number. */
  readonly retries?: number | undefined;
}

export type ClientOptions = CommonOptions & (KeyOptions | HeaderOptions);

interface CommonOptions {
  /** Base URL of the service, such as `http://127.0.0.1:3003`; empty in a page that the service itself serves. */
  readonly url: string;
  /** For one request with its retries, in ms; default two minutes. */
  readonly timeoutMs?: number;
  /**
   * Further attempts of a request that may be repeated (a read, or a change with an idempotency key) and that got no
   * response, 408, 425, 429 or 5xx; default 2. The waits grow, or are those of `Retry-After` up to a minute.
   */
  readonly retries?: number;
  /** Browsers ignore it. */
  readonly userAgent?: string;
}

interface KeyOptions {
  /** An API key, or the token of a connect session. */
  readonly key: string;
  readonly headers?: never;
}

interface HeaderOptions {
  readonly key?: never;
  /** Headers that identify the caller in place of a key; called for each request. */
  headers(): Readonly<Record<string, string>>;
}

/** What follows the operation: its input, optional when none of its parts is required. */
export type Arguments<O extends Operation, Options = RequestOptions> =
  object extends Input<O> ? [input?: Input<O> & Options] : [input: Input<O> & Options];

export interface Client {
  /**
   * Sends the request of an operation.
   * @throws ApiError the service's refusal, or why it could not be reached
   */
  request<O extends Operation>(operation: O, ...input: Arguments<O>): Promise<Answer<O>>;
  /**
   * The pages of a list, from the first one, or from `query.cursor`.
   * @throws ApiError also `invalid_answer`, when the cursors go in a circle
   */
  pages<O extends PagedOperation>(operation: O, ...input: Arguments<O>): AsyncGenerator<Answer<O>>;
  /**
   * The events of a stream, until the signal aborts. An interrupted stream is resumed after the last event, so that
   * none is missed.
   * @throws ApiError when the service refuses the stream, or cannot be reached at the start
   */
  events<O extends EventOperation>(
    operation: O,
    input: Input<O> & { readonly signal: AbortSignal },
  ): AsyncGenerator<ServerEvent>;
  /** Sends any other request, by its path; the response is not validated. @throws ApiError */
  send(method: string, path: string, options?: SendOptions): Promise<unknown>;
  /**
   * Sends any other request once; its response is returned unchanged, whatever its status. A signal replaces the
   * timeout.
   * @throws ApiError without a response
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

interface SendOptions extends RequestOptions {
  readonly headers?: Fields | undefined;
  readonly body?: unknown;
}

type QueryScalar = string | number | boolean;
type Fields = Readonly<Record<string, QueryScalar | undefined>>;
type Query = Readonly<
  Record<
    string,
    QueryScalar | readonly QueryScalar[] | Readonly<Record<string, QueryScalar>> | undefined
  >
>;

interface Target {
  readonly params?: Fields;
  readonly query?: Query;
}

const timeoutDefaultMs = 120_000;
const retriesDefault = 2;

/** A client of the API. */
export function createClient(options: ClientOptions): Client {
  const base = options.url.replace(/(?<!\/)\/+$/, '');
  const identify = () =>
    options.key === undefined ? options.headers() : { authorization: `Bearer ${options.key}` };
  const timeout = (): AbortSignal => AbortSignal.timeout(options.timeoutMs ?? timeoutDefaultMs);

  const client: Client = {
    async fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(identify())) headers.set(name, value);
      if (options.userAgent !== undefined) headers.set('user-agent', options.userAgent);
      const signal = init.signal ?? timeout();
      return reach(base + path, { redirect: 'manual', ...init, headers, signal });
    },
    async send(method, path, { body, signal, idempotencyKey, headers, retries } = {}) {
      const init = {
        method,
        headers: headersOf({
          'content-type': body === undefined ? undefined : 'application/json',
          'idempotency-key': idempotencyKey,
          ...headers,
        }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout() : AbortSignal.any([timeout(), signal]),
      };
      const isRepeatable = isSafe(method) || idempotencyKey !== undefined;
      const most = isRepeatable ? (retries ?? options.retries ?? retriesDefault) : 0;
      const once = async () => received(await client.fetch(path, init), base + path);
      const { response, text } = await withRetries(once, { retries: most, signal: init.signal });
      if (!response.ok) throw refusal(response.status, text);
      return bodyOf(response, text);
    },
    async request(operation, ...[input]) {
      const [method = ''] = operation.split(' ', 1);
      // The service guarantees the shape.
      return client.send(method, pathOf(operation, input), input);
    },
    async *pages(operation, ...args) {
      const [first] = args as readonly [Target?];
      const { cursor: start } = first?.query ?? {};
      const checkCircle = circleFinder(typeof start === 'string' ? start : undefined);
      for (let query = first?.query; ;) {
        const next = [{ ...first, query }] as unknown as typeof args;
        const page = await client.request(operation, ...next);
        yield page;
        const cursor = 'next_cursor' in page ? page.next_cursor : page.pagination.cursor;
        if (cursor === null) return;
        checkCircle(cursor);
        query = { ...query, cursor };
      }
    },
    events(operation, input) {
      const { signal, headers = {} } = input;
      const path = pathOf(operation, input);
      const headersWith = (own: Readonly<Record<string, string>>) =>
        headersOf({ ...headers, ...own });
      return eventsOf((own) => client.fetch(path, { headers: headersWith(own), signal }), signal);
    },
  };
  return client;
}

const headersOf = (fields: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );

/** The path of the operation, with its parameters and the query. */
function pathOf(operation: Operation, input: object = {}): string {
  const { params = {}, query = {} }: Target = input;
  const template = operation.slice(operation.indexOf('/'));
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name] ?? '')),
  );
  return path + queryText(query);
}

const isList = (value: Query[string]): value is readonly QueryScalar[] => Array.isArray(value);

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

const isSafe = (method: string): boolean => ['GET', 'HEAD', 'OPTIONS'].includes(method);

const reach = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, init).catch((error: unknown) => {
    throw unreachable(url, error);
  });

/** The connection may still break in the body. */
const received = async (response: Response, url: string): Promise<WholeResponse> => {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(url, error);
  });
  return { response, text };
};

function unreachable(url: string, error: unknown): ApiError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ApiError('unreachable', `Could not reach ${url}: ${reason}`, { cause: error });
}

/** @returns JSON parsed, anything else as text; undefined when there is no body */
function bodyOf({ headers, status }: Response, text: string): unknown {
  if (text === '') return undefined;
  if (!/^application\/(\S+\+)?json\b/.test(headers.get('content-type') ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = 'The response of the service is not JSON.';
    throw new ApiError('invalid_answer', message, { cause, status });
  }
}

/** A response with its whole body. */
interface WholeResponse {
  readonly response: Response;
  readonly text: string;
}

interface RetryOptions {
  /** Attempts after the first one. */
  readonly retries: number;
  readonly signal: AbortSignal;
}

/** Bound of the first wait, in ms; each further one is twice as long. */
const firstWaitMs = 500;
const waitMaxMs = 8_000;
/** A service that asks for a longer wait gets no further attempt: the caller decides. */
const retryAfterMaxMs = 60_000;

/**
 * Repeats an attempt that failed for a time: without a response, or with one that asks for it. Waits as long as
 * `Retry-After` says, otherwise a random time up to a bound that doubles, so that clients do not come back together.
 * @returns the last response, whatever its status
 * @throws ApiError of the last attempt without a response
 */
async function withRetries(
  attempt: () => Promise<WholeResponse>,
  { retries, signal }: RetryOptions,
): Promise<WholeResponse> {
  for (let failed = 0; ; failed += 1) {
    const outcome = await attempt().catch((error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    });
    const wait = failed < retries && !signal.aborted ? waitAfter(outcome, failed) : null;
    if (wait !== null) await pause(wait, signal);
    else if (outcome instanceof ApiError) throw outcome;
    else return outcome;
  }
}

/** In ms; null when another attempt would not help. */
function waitAfter(outcome: WholeResponse | ApiError, failed: number): number | null {
  const backOff = Math.random() * Math.min(waitMaxMs, firstWaitMs * 2 ** failed);
  if (outcome instanceof ApiError) return backOff;
  const { response, text } = outcome;
  if (!isTemporary(response.status, text)) return null;
  const wanted = retryAfter(response.headers.get('retry-after'));
  if (wanted === null) return backOff;
  return wanted > retryAfterMaxMs ? null : wanted;
}

/** Of what a service answers before it acts, and of its own failures. */
function isTemporary(status: number, text: string): boolean {
  if (status === 501 || (status < 500 && ![408, 425, 429].includes(status))) return false;
  // Its idempotency key has this answer for good (docs/reference/http.md#idempotency-keys).
  return refusal(status, text).code !== 'run_interrupted';
}

/** In ms; null when the header is missing or neither seconds nor a time. */
function retryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

/** A record as a sync saved it. One whose payload was pruned (`_svc_metadata.pruned_at`) has only its `id`. */
export type RecordOf<Model> = Model & { readonly _svc_metadata: RecordMetadata };

export interface RecordsOptions {
  readonly variant?: string | undefined;
  /** Only records modified after the one with this cursor. */
  readonly cursor?: string | undefined;
  /** Of a page; default 100. */
  readonly limit?: number | undefined;
  /** `added`, `updated`, `deleted`, with commas between them. */
  readonly filter?: string | undefined;
}

type Models<Integration> = Integration extends { readonly models: infer M } ? M : never;
type Actions<Integration> = Integration extends { readonly actions: infer A } ? A : never;
type InputOf<Action> = Action extends { readonly input: infer I } ? I : never;
type OutputOf<Action> = Action extends { readonly output: infer O } ? O : never;

/** The input may be omitted where the action takes none. */
type RunArguments<Input> = [Input] extends [null | undefined]
  ? [input?: Input, options?: RequestOptions]
  : [input: Input, options?: RequestOptions];

/** One connection, with the models and actions of the functions of its integration. */
export interface TypedConnection<Integration> {
  /** The records of a model in the order of modification, page by page. @throws ApiError */
  records<M extends keyof Models<Integration> & string>(
    model: M,
    options?: RecordsOptions,
  ): AsyncGenerator<RecordOf<Models<Integration>[M]>, undefined>;
  /** Runs an action and returns its output. @throws ApiError `action_script_failure` for an ActionError */
  run<A extends keyof Actions<Integration> & string>(
    action: A,
    ...input: RunArguments<InputOf<Actions<Integration>[A]>>
  ): Promise<OutputOf<Actions<Integration>[A]>>;
}

/** The client, with typed connections. `Deployed` has the models and actions of each integration. */
export interface TypedClient<Deployed> extends Client {
  connection<I extends keyof Deployed & string>(
    integration: I,
    connectionId: string,
  ): TypedConnection<Deployed[I]>;
}

/** A client with the types that `svc generate client` writes; nothing is validated when it runs. */
export function createTypedClient<Deployed>(options: ClientOptions): TypedClient<Deployed> {
  const client = createClient(options);
  return {
    ...client,
    connection: (integration, connectionId) => {
      const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
      return {
        async *records(model, query = {}) {
          const pages = client.pages('GET /records', { query: { ...query, model }, headers });
          // The function has declared the shape.
          for await (const { records } of pages) yield* records as never[];
          return undefined;
        },
        run: async (action, ...[input, request]) => {
          const body = { action_name: action, input: input ?? undefined };
          return client.request('POST /action/trigger', { ...request, headers, body }) as never;
        },
      };
    },
  };
}
