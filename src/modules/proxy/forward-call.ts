import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { readBytes } from '#http/body.ts';
import type { StreamCall } from '#http/stream-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Clock } from '#kernel/time.ts';
import type {
  OpenedConnections,
  OpenedForCall,
} from '#modules/connections/connections/opened-connections.ts';
import type { Credentials } from '#modules/connections/connections/state.ts';
import { authModeRules } from '#modules/connections/credentials/modes/registry.ts';
import {
  isRetried,
  isRetriedHead,
  needsBody,
  retryWaitMs,
} from '#modules/connections/providers/call-retry.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { buildProviderRequest, needsWholeBody } from '#modules/connections/providers/inject.ts';
import { prepareCalls, type PreparedCalls } from '#modules/connections/providers/prepared-calls.ts';
import type { SharedLimit } from '#modules/connections/rate-limits/limit-of-call.ts';
import { awaitTurn, learnLimit } from '#modules/connections/rate-limits/shared-limit.ts';
import type { Coordination } from '#ports/coordination.ts';
import {
  HttpFailure,
  mayPass,
  type AnswerFlow,
  type AnswerHeaders,
  type AnswerSink,
  type HttpReply,
  type HttpClient,
} from '#ports/http-client.ts';
import type { Metrics } from '#ports/metrics.ts';
import { callerHeaders, firstOf, joined, type CallHeaders } from './headers.ts';
import { redirectedTo, type ProxyRequest } from './redirect.ts';

const redirectsMax = 5;
/** Limit of a response body that is read before it is known whether another attempt follows. */
const collectedBytesMax = 64 * 1024;
/** The body of a response of which only the head is known. */
const nothing = Buffer.alloc(0);
/** Limit of a body that is written together with its head. */
const joinedBytesMax = 16 * 1024;

interface ProxySettings {
  /** Of one proxied call, all of its attempts together. */
  readonly proxyTimeoutSeconds: number;
}

export interface ForwardServices {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly coordination: Coordination;
  readonly metrics: Pick<Metrics, 'count'>;
  readonly settings: ProxySettings;
}

export interface ProxyCall {
  readonly services: ForwardServices;
  readonly connections: OpenedConnections;
  readonly environmentUid: string;
  readonly requested: CallHeaders;
  readonly method: string;
  readonly target: string;
  readonly body: IncomingMessage | null;
  readonly contentLength: string | undefined;
  readonly stream: Pick<StreamCall, 'response' | 'begin' | 'signal' | 'cancellation'>;
}

/** A stream can be sent once; bytes can be sent with every attempt. */
type SentCall = Omit<ProxyCall, 'body'> & {
  readonly body: Readable | Uint8Array | null;
  /** Deadline of all attempts together, in the clock of `performance.now`. */
  readonly deadline: number;
};

/** The outcome of the call, for its log entry. */
export interface CallOutcome {
  readonly provider: string;
  /** Status of the provider; null without a response. */
  readonly status: number | null;
  readonly url: string;
  readonly attempts: number;
}

/** A response that may be followed by another attempt, with what was read of its body. */
interface KeptResponse {
  readonly kind: 'retry';
  readonly status: number;
  readonly statusText: string;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
  /** Whether the body was read to its end, so that the response can still be forwarded. */
  readonly isWhole: boolean;
}

/** The result of an exchange: the response was forwarded, or needs handling here. */
type ExchangeResult =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | KeptResponse
  | { readonly kind: 'failed'; readonly failure: HttpFailure };

/**
 * Sends the call until its response is final, and forwards it (docs/reference/http.md#proxy).
 * @throws GatewayError when it cannot be sent; HttpFailure without a response
 */
export async function forwardCall(incoming: ProxyCall): Promise<CallOutcome> {
  const { requested: request, environmentUid, services, stream } = incoming;
  const deadline = performance.now() + services.settings.proxyTimeoutSeconds * 1000;
  const { integrationKey, connectionId } = request;
  const name = { environmentUid, integrationKey, connectionId };
  const existing = incoming.connections.open(name);
  let opened = existing instanceof Promise ? await existing : existing;
  const call: SentCall =
    incoming.body === null
      ? { ...incoming, deadline }
      : { ...incoming, deadline, body: await bodyToSend(incoming, opened.provider, deadline) };
  let { retries } = request;
  for (let attempt = 0; ; attempt++) {
    if (opened.limit !== null) await turnOf(call, opened.limit);
    const exchanged = await exchangeWithRedirects(call, opened, attempt >= retries);
    const outcome = { provider: opened.provider.name, url: exchanged.url, attempts: attempt + 1 };
    if (exchanged.kind === 'answered') return { ...outcome, status: exchanged.status };
    if (exchanged.kind === 'failed') {
      const isOver = attempt >= retries || !mayPass(exchanged.failure.code);
      if (isOver || !isReplayable(call)) throw exchanged.failure;
    }
    const isRejected = exchanged.kind === 'retry' && exchanged.status === 401;
    // What cannot be renewed is the same after a wait.
    const isPaused = !isRejected || isRenewable(opened);
    const ms = isPaused ? waitMs(exchanged, opened, attempt, services.clock.now()) : 0;
    if (performance.now() + ms >= deadline) throw tooLate(exchanged, ms);
    await pause(ms, undefined, { signal: stream.signal });
    const { credentialsVersion } = opened.stored;
    const options = isRejected ? { rejectedVersion: credentialsVersion } : undefined;
    opened = await call.connections.open(name, options);
    if (!isRejected || opened.stored.credentialsVersion !== credentialsVersion) continue;
    if (exchanged.isWhole) {
      forwardKept(call, exchanged);
      return { ...outcome, status: exchanged.status };
    }
    // The response was too long to keep: the one to the same request is forwarded.
    retries = attempt + 1;
  }
}

/**
 * Waits for the shared limit of the provider, if the caller takes retries.
 * @throws GatewayError `provider_limit_reached` when it waits no longer
 */
function turnOf({ services, requested, deadline, stream }: SentCall, limit: SharedLimit) {
  const { retries, integrationKey } = requested;
  const count = (result: 'waited' | 'refused') =>
    services.metrics.count('svc_provider_limit_delays_total', [integrationKey, result]);
  let isCounted = false;
  return awaitTurn(services.coordination, limit, {
    async wait(ms) {
      if (retries === 0 || performance.now() + ms >= deadline) {
        count('refused');
        throw new GatewayError('provider_limit_reached', { retryAfterS: Math.ceil(ms / 1000) });
      }
      if (!isCounted) count('waited');
      isCounted = true;
      await pause(ms, undefined, { signal: stream.signal });
    },
  });
}

function isRenewable({ provider, connection }: OpenedForCall): boolean {
  const credentials = connection.credentials as Credentials | null;
  const { renewal } = authModeRules[provider.auth_mode];
  return credentials !== null && renewal !== null && renewal.isPossible(credentials, provider);
}

function forwardKept({ stream }: SentCall, kept: KeptResponse): void {
  const { status, statusText, headers, body } = kept;
  stream.begin(status, callerHeaders(status, headers), statusText);
  stream.response.end(body);
}

/**
 * A stream, unless a retry or the rules of the provider need the complete body.
 * @throws GatewayError `request_too_large`; HttpFailure when it is not complete by the deadline
 */
async function bodyToSend(
  { body, requested: request }: ProxyCall,
  provider: Provider,
  deadline: number,
): Promise<Readable | Uint8Array | null> {
  const contentType = request.forwarded['content-type'] ?? '';
  if (body === null || (request.retries === 0 && !needsWholeBody(provider, contentType)))
    return body;
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(new HttpFailure('ETIMEDOUT', 'The body did not come in the time of the call.'));
  }, deadline - performance.now());
  try {
    return await readBytes(body, limits.requestBytesMax, { signal: late.signal });
  } finally {
    clearTimeout(timer);
  }
}

const isReplayable = ({ body }: SentCall): boolean => body === null || body instanceof Uint8Array;

function waitMs(
  exchanged: ExchangeResult,
  { provider }: OpenedForCall,
  attempt: number,
  now: number,
): number {
  const reply = exchanged.kind === 'retry' ? replyOf(exchanged) : null;
  return retryWaitMs(reply, { call: {}, provider: provider.proxy?.retry }, attempt, now);
}

const replyOf = ({
  status,
  headers,
  body,
}: Pick<Extract<ExchangeResult, { kind: 'retry' }>, 'status' | 'headers' | 'body'>): HttpReply => ({
  status,
  statusText: '',
  headers: joined(headers),
  body,
  url: '',
});

/** The deadline of the call is before the next attempt. */
function tooLate(exchanged: ExchangeResult, ms: number): HttpFailure {
  if (exchanged.kind === 'failed') return exchanged.failure;
  const message = `The next attempt is due in ${ms} ms, after the deadline of the call.`;
  return new HttpFailure('ETIMEDOUT', message);
}

type FinalExchange = Exclude<ExchangeResult, { kind: 'redirect' }> & { readonly url: string };

async function exchangeWithRedirects(
  call: SentCall,
  opened: OpenedForCall,
  isLast: boolean,
): Promise<FinalExchange> {
  let request = requestOf(call, opened);
  let { body } = call;
  for (let hops = 0; ; hops++) {
    const url = `${request.url.origin}${request.url.pathname}`;
    const canFollow = hops < redirectsMax;
    const exchanged = await exchange(call, opened, { request, body, isLast, canFollow });
    if (exchanged.kind !== 'redirect') return { ...exchanged, url };
    const next = redirectedTo(request, exchanged, keepsHeaders(call, opened));
    request = next.request;
    if (next.isWithoutBody) body = null;
  }
}

function keepsHeaders({ requested: request }: SentCall, { provider }: OpenedForCall): boolean {
  return request.keepsHeadersOnRedirect ?? provider.proxy?.forward_headers_on_redirect ?? false;
}

function requestOf(call: SentCall, opened: OpenedForCall): ProxyRequest {
  const request = preparedRequest(call, opened) ?? builtRequest(call, opened);
  if (!decodes(call, opened)) return request;
  const headers = { 'accept-encoding': 'gzip, deflate, br', ...request.headers };
  return { ...request, headers };
}

const prepared = new WeakMap<OpenedForCall, PreparedCalls | null>();

/** Null if the call cannot use the prepared request. */
function preparedRequest(call: SentCall, opened: OpenedForCall): ProxyRequest | null {
  const { requested: request, method, target, body } = call;
  if (request.baseUrlOverride !== null || body instanceof Uint8Array) return null;
  let calls = prepared.get(opened);
  if (calls === undefined) prepared.set(opened, (calls = prepareCalls(opened)));
  const url = calls?.url(target) ?? null;
  if (calls === null || url === null) return null;
  const { credentialHeaders } = calls;
  return { method, url, headers: calls.headers(request.forwarded), credentialHeaders };
}

function builtRequest(call: SentCall, opened: OpenedForCall): ProxyRequest {
  const { requested: request, method, target, services, body } = call;
  return buildProviderRequest({
    provider: opened.provider,
    connection: opened.connection,
    integration: opened.integration,
    now: services.clock.now(),
    method,
    endpoint: target,
    isEndpointTemplate: false,
    headers: request.forwarded,
    ...(body instanceof Uint8Array ? { data: body } : {}),
    ...(request.baseUrlOverride === null ? {} : { baseUrlOverride: request.baseUrlOverride }),
  });
}

const decodes = ({ requested: request }: SentCall, { provider }: OpenedForCall): boolean =>
  request.isDecompressed ?? provider.proxy?.decompress ?? false;

interface Exchange {
  readonly request: ProxyRequest;
  readonly body: Readable | Uint8Array | null;
  /** Whether the response is forwarded, whatever its status. */
  readonly isLast: boolean;
  readonly canFollow: boolean;
}

async function exchange(
  call: SentCall,
  opened: OpenedForCall,
  sending: Exchange,
): Promise<ExchangeResult> {
  const { request, body } = sending;
  let sink: DecidingSink | null = null;
  try {
    await call.services.http.forward(
      {
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: bytesOf(request) ?? (body instanceof Uint8Array ? null : body),
        streamBytes: call.contentLength === undefined ? null : Number(call.contentLength),
        isDecoded: decodes(call, opened),
        headTimeoutMs: limits.proxyHeadMs,
        idleTimeoutMs: limits.proxyIdleMs,
        deadline: call.deadline,
        cancellation: call.stream.cancellation,
      },
      (flow) => (sink = new DecidingSink(call, opened, sending, flow)),
    );
  } catch (error) {
    if (!(error instanceof HttpFailure) || call.stream.response.headersSent) throw error;
    return { kind: 'failed', failure: error };
  }
  return (sink as DecidingSink | null)?.end() ?? { kind: 'failed', failure: noAnswer() };
}

const noAnswer = (): HttpFailure => new HttpFailure('ECONNRESET', 'The provider sent no answer.');

/** The body of the request: the buffered body with the fields of the provider merged in. */
const bytesOf = ({ body }: ProxyRequest): Uint8Array | null =>
  typeof body === 'string' ? Buffer.from(body) : (body ?? null);

interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: AnswerHeaders;
}

/** Reads the head of a response, then forwards it, buffers it for a retry, or follows the redirect. */
class DecidingSink implements AnswerSink {
  readonly #call: SentCall;
  readonly #opened: OpenedForCall;
  readonly #exchange: Exchange;
  readonly #flow: AnswerFlow;
  #decided: ExchangeResult | null = null;
  /** The head of a response whose body decides whether it is a limit. */
  #undecided: Head | null = null;
  #collected: Buffer[] = [];
  #bytes = 0;

  constructor(call: SentCall, opened: OpenedForCall, exchange: Exchange, flow: AnswerFlow) {
    this.#call = call;
    this.#opened = opened;
    this.#exchange = exchange;
    this.#flow = flow;
  }

  head(status: number, statusText: string, headers: AnswerHeaders): boolean {
    this.#learn({ status, headers, body: nothing });
    const location = firstOf(headers, 'location');
    if (location !== undefined && this.#isFollowed(status)) {
      this.#decided = { kind: 'redirect', status, location };
      return false;
    }
    const rules = this.#opened.provider.proxy?.retry;
    if (this.#canRetry() && needsBody(status, rules)) {
      this.#undecided = { status, statusText, headers };
      return true;
    }
    const { retryOn } = this.#call.requested;
    if (this.#canRetry() && isRetriedHead({ status, headers: joined(headers) }, rules, retryOn)) {
      const isRead = status === 401 || rules?.in_body !== undefined;
      const body = nothing;
      this.#decided = { kind: 'retry', status, statusText, headers, body, isWhole: isRead };
      return isRead;
    }
    this.#begin({ status, statusText, headers });
    return true;
  }

  /** Nothing waits for it: the next call of this process is sent after it. */
  #learn(response: Parameters<typeof replyOf>[0]): void {
    const { limit, provider } = this.#opened;
    if (limit === null) return;
    const { coordination, clock } = this.#call.services;
    void learnLimit(coordination, limit, replyOf(response), provider, clock.now());
  }

  #begin({ status, statusText, headers }: Head): void {
    this.#call.stream.begin(status, callerHeaders(status, headers), statusText);
    this.#decided = { kind: 'answered', status };
  }

  /** The body is complete, or too long for the report of a limit. */
  #decide(undecided: Head, isComplete: boolean): void {
    this.#undecided = null;
    const { retryOn } = this.#call.requested;
    const body = isComplete ? Buffer.concat(this.#collected) : nothing;
    this.#learn({ ...undecided, body });
    const reply = replyOf({ ...undecided, body });
    if (isRetried(reply, this.#opened.provider.proxy?.retry, retryOn)) {
      this.#decided = { kind: 'retry', ...undecided, body, isWhole: isComplete };
    } else this.#begin(undecided);
  }

  data(chunk: Buffer, isLast: boolean): boolean {
    if (this.#decided?.kind === 'answered') return this.#pass(chunk, isLast);
    this.#bytes += chunk.length;
    const fits = this.#bytes <= collectedBytesMax;
    if (fits || this.#undecided !== null) this.#collected.push(chunk);
    if (this.#undecided === null || (fits && !isLast)) return true;
    this.#decide(this.#undecided, fits);
    return !this.#isAnswered() || this.#pass(Buffer.concat(this.#collected), isLast);
  }

  /** A small complete body is written together with the head, in one string. */
  #pass(chunk: Buffer, isLast: boolean): boolean {
    const { response } = this.#call.stream;
    if (!isLast) {
      const isReady = response.write(chunk);
      if (!isReady) response.once('drain', () => this.#flow.resume());
      return isReady;
    }
    if (chunk.length > joinedBytesMax) response.end(chunk);
    else response.end(chunk.toString('latin1'), 'latin1');
    return true;
  }

  end(): ExchangeResult | null {
    const { response } = this.#call.stream;
    if (this.#undecided !== null) {
      this.#decide(this.#undecided, true);
      if (this.#isAnswered()) this.#pass(Buffer.concat(this.#collected), true);
    }
    if (this.#isAnswered() && !response.writableEnded) response.end();
    if (this.#decided?.kind !== 'retry') return this.#decided;
    const isWhole = this.#decided.isWhole && this.#bytes <= collectedBytesMax;
    return { ...this.#decided, body: Buffer.concat(this.#collected), isWhole };
  }

  #isFollowed(status: number): boolean {
    if (!this.#exchange.canFollow) return false;
    const isGet =
      status === 303 || ((status === 301 || status === 302) && this.#call.method === 'POST');
    const canSendAgain = isGet || isReplayable(this.#call);
    return canSendAgain && [301, 302, 303, 307, 308].includes(status);
  }

  #canRetry(): boolean {
    return !this.#exchange.isLast && isReplayable(this.#call);
  }

  /** A method, because the value changes in another one. */
  #isAnswered(): boolean {
    return this.#decided?.kind === 'answered';
  }
}

/** The error without a response of the provider, in its own shape (docs/reference/errors.md#other-bodies). */
export function failureBody(failure: HttpFailure, method: string) {
  const isLate = failure.code === 'ETIMEDOUT' || failure.code === 'ECONNABORTED';
  const status = isLate ? 504 : 502;
  return { status, body: { message: failure.message, code: failure.code, status, method } };
}
