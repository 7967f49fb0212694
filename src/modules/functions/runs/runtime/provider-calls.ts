import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { isRetried, retryWaitMs } from '#modules/connections/providers/call-retry.ts';
import {
  buildProviderRequest,
  type ProviderRequest,
} from '#modules/connections/providers/inject.ts';
import { awaitTurn, learnLimit } from '#modules/connections/rate-limits/shared-limit.ts';
import { HttpFailure, mayPass, type HttpReply } from '#ports/http-client.ts';
import type { HostAnswer, HostCalls, HttpAnswer } from '#ports/sandbox.ts';
import { parseArgs, shapes } from '#rules/arguments.ts';
import { dataOf } from '#rules/body.ts';
import { resolveEndpoint } from '#rules/endpoint.ts';
import type { RunConnection, RunConnections, RuntimeDeps } from './deps.ts';

type Call = z.output<typeof shapes.http>;

/** One attempt, from the call to the last byte. */
const attemptMs = 120_000;
const retriesMax = 10;
const redirectsMax = 5;

/** Requests of a function: to its provider with credentials and retries, and plain ones. */
export function providerCalls(
  deps: RuntimeDeps,
  open: RunConnections['open'],
): Pick<HostCalls, 'http' | 'fetch'> {
  return {
    http: async (args) =>
      callProvider(parseArgs(shapes.http, args, parseRawJson), { ...deps, open }),
    fetch: async (args) => plainFetch(parseArgs(shapes.fetch, args), deps),
  };
}

type CallDeps = RuntimeDeps & Pick<RunConnections, 'open'>;

/** The outcome of an attempt: a response, or the error. */
type Attempt =
  | {
      readonly reply: HttpReply;
      readonly failure: null;
      readonly url: string;
      readonly requestUrl: string;
    }
  | { readonly reply: null; readonly failure: HttpFailure; readonly url: string };

/**
 * Repeats the request until a response is final (docs/reference/functions.md#retries). The connection is read again
 * before every attempt; after a 401 its credentials are refreshed, and a 401 without a possible refresh is final.
 */
async function callProvider(call: Call, deps: CallDeps): Promise<HostAnswer> {
  const retries = Math.min(Math.floor(call.retries ?? 0), retriesMax);
  const { clock, signal, sleep = wait } = deps;
  let rejected: Attempt | null = null;
  let connection = await openConnection(call, deps);
  for (let attempt = 0; ; attempt++) {
    if (rejected !== null) {
      const renewed = await openRenewed(call, deps, connection.version);
      if (renewed === null) return answerOf(rejected, call.bodyAs);
      connection = renewed;
    } else if (attempt > 0) connection = await openConnection(call, deps);
    await turnOf(connection, deps);
    const last = await requestProvider(call, connection, attempt, deps);
    await learnOf(last, connection, deps);
    const isFinal = attempt >= retries || !isRetriedAttempt(last, call, connection);
    if (isFinal) return answerOf(last, call.bodyAs);
    rejected = last.reply?.status === 401 ? last : null;
    const rules = { call: call.retryHeader ?? {}, provider: connection.provider.proxy?.retry };
    await sleep(retryWaitMs(last.reply, withoutGaps(rules), attempt, clock.now()), signal);
  }
}

/** Zod returns `undefined` for an absent list; the rules accept only lists. */
function withoutGaps(rules: {
  call: { at?: string[] | undefined; after?: string[] | undefined };
  provider: Parameters<typeof retryWaitMs>[1]['provider'];
}): Parameters<typeof retryWaitMs>[1] {
  const { at = [], after = [] } = rules.call;
  return { call: { at, after }, provider: rules.provider };
}

/** Waits until the shared limit of the provider has a call left. */
async function turnOf({ limit }: RunConnection, deps: CallDeps): Promise<void> {
  if (limit === null) return;
  const { coordination, signal, log, sleep = wait } = deps;
  let isNoted = false;
  await awaitTurn(coordination, limit, {
    async wait(ms) {
      if (!isNoted) log.waits(limit, ms);
      isNoted = true;
      await sleep(ms, signal);
    },
  });
}

async function learnOf(
  { reply }: Attempt,
  { limit, provider }: RunConnection,
  { coordination, clock }: CallDeps,
): Promise<void> {
  if (limit === null || reply === null) return;
  await learnLimit(coordination, limit, reply, provider, clock.now());
}

const wait = (ms: number, signal: AbortSignal): Promise<unknown> =>
  pause(ms, undefined, { signal });

function isRetriedAttempt(attempt: Attempt, call: Call, { provider }: RunConnection): boolean {
  if (attempt.reply === null) return mayPass(attempt.failure.code);
  return isRetried(attempt.reply, provider.proxy?.retry, call.retryOn ?? []);
}

function openConnection(
  call: Call,
  { run, open }: CallDeps,
  rejected: { readonly rejectedVersion?: number } = {},
): Promise<RunConnection> {
  const {
    providerConfigKey: integrationKey = run.integrationKey,
    connectionId = run.connectionId,
  } = call;
  const options = { forceRefresh: false, refreshToken: false, ...rejected };
  return open({ integrationKey, connectionId }, options);
}

/** The connection with other credentials than the rejected ones; null when there are none. */
async function openRenewed(
  call: Call,
  deps: CallDeps,
  rejectedVersion: number,
): Promise<RunConnection | null> {
  try {
    const connection = await openConnection(call, deps, { rejectedVersion });
    return connection.version === rejectedVersion ? null : connection;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

async function requestProvider(
  call: Call,
  connection: RunConnection,
  attempt: number,
  deps: RuntimeDeps,
): Promise<Attempt> {
  const request = buildProviderRequest({
    ...connection,
    now: deps.clock.now(),
    method: call.method,
    ...resolveEndpoint(call),
    isEndpointTemplate: true,
    params: call.params,
    headers: call.headers,
    data: dataOf(call.body),
  });
  const kept = call.forwardHeadersOnRedirect === true ? { credentialHeaders: [] } : {};
  return send({ ...request, ...kept }, attempt + 1, deps);
}

async function send(
  request: ProviderRequest,
  attempt: number,
  deps: RuntimeDeps,
): Promise<Attempt> {
  const { clock, http, log, signal } = deps;
  const started = clock.now();
  const { method, url } = request;
  const note = (status: number | null, code: string | null) => {
    const durationMs = Math.max(0, clock.now() - started);
    log.http({ method, url: `${url.origin}${url.pathname}`, status, code, durationMs, attempt });
  };
  try {
    const reply = await http.request({ ...request, timeoutMs: attemptMs, redirectsMax, signal });
    note(reply.status, null);
    return { reply, failure: null, url: reply.url, requestUrl: url.href };
  } catch (error) {
    if (signal.aborted) throw abortError(signal);
    if (error instanceof GatewayError && error.code === 'url_not_allowed') {
      throw refusedAddress(url);
    }
    if (!(error instanceof HttpFailure)) throw error;
    note(null, error.code);
    return { reply: null, failure: error, url: url.href };
  }
}

/** Of a redirect the address that was asked for: the one that it leads to is none of the function's business. */
const refusedAddress = ({ host }: URL): GatewayError =>
  new GatewayError('url_not_allowed', {
    message: `Requests to ${host} are not allowed: it leads to an address that is not public, and that SVC_EGRESS_ALLOW of the gateway does not list.`,
  });

/** @throws GatewayError `url_not_allowed`, `too_many_redirects` */
async function plainFetch(
  call: z.output<typeof shapes.fetch>,
  deps: RuntimeDeps,
): Promise<HostAnswer> {
  if (!URL.canParse(call.url)) throw new GatewayError('url_not_allowed');
  const data = dataOf(call.body);
  const body = data instanceof URLSearchParams ? data.toString() : data;
  const type = data instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : undefined;
  const attempt = await send(
    {
      method: call.method,
      url: new URL(call.url),
      headers: {
        'user-agent': 'svc',
        ...(type === undefined ? {} : { 'content-type': type }),
        ...call.headers,
      },
      ...(typeof body === 'string' || body instanceof Uint8Array ? { body } : {}),
      credentialHeaders: ['authorization', 'proxy-authorization', 'cookie'],
    },
    1,
    deps,
  );
  return answerOf(attempt, 'binary');
}

function answerOf(attempt: Attempt, bodyAs: Call['bodyAs']): HostAnswer {
  if (attempt.reply === null) {
    const { code, message } = attempt.failure;
    return {
      json: JSON.stringify({
        outcome: 'failure',
        code,
        message,
        url: attempt.url,
      } satisfies HttpAnswer),
    };
  }
  const { status, statusText, headers, setCookies, url, body } = attempt.reply;
  const json = JSON.stringify({
    outcome: 'reply',
    status,
    statusText,
    headers,
    ...(setCookies === undefined ? {} : { setCookies }),
    url,
    ...(attempt.requestUrl === url ? {} : { requestUrl: attempt.requestUrl }),
  } satisfies HttpAnswer);
  return {
    json,
    body: bodyAs === 'binary' ? body.toString('latin1') : bodyText(body, headers['content-type']),
  };
}

/** The error of calls after the end of the run. */
export function abortError(signal: AbortSignal): GatewayError {
  const reason: unknown = signal.reason;
  return reason instanceof GatewayError ? reason : new GatewayError('script_aborted');
}
