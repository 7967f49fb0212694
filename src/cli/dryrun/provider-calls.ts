import { setTimeout as pause } from 'node:timers/promises';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { HostAnswer, HostCalls, HttpAnswer } from '#ports/sandbox.ts';
import { parseArgs, shapes } from '#rules/arguments.ts';
import { dataOf } from '#rules/body.ts';
import { encodeBody } from '#rules/encode-body.ts';
import { resolveEndpoint } from '#rules/endpoint.ts';
import { providerHeaders, proxyPrefix } from '#rules/provider-headers.ts';
import { joinUrl, withParams } from '#rules/url.ts';
import { fillEndpoint, type ConnectionName } from './connections.ts';
import type { ProviderResponse } from './journal.ts';
import type { DryRunSession } from './session.ts';

const retriesMax = 10;
/** The refusal of a request above the limit of the provider: functions of the service wait for their turn. */
const limitReached = 'provider_limit_reached' satisfies ErrorCode;
/** Only the path of a URL below it is used: the client adds the address of the service. */
const proxyBase = 'http://localhost/proxy';
/** Refusals of the proxy itself; any other response is the provider's. */
const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  'forbidden',
  'invalid_headers',
  'unknown_provider_config',
  'unknown_connection',
  'invalid_credentials',
  'connection_refresh_backoff',
  'connection_refresh_exhausted',
  'missing_api_url',
  'unsupported_provider',
  'url_not_allowed',
  'too_many_request',
]);

type Session = Pick<DryRunSession, 'client' | 'connections' | 'journal' | 'say' | 'signal'>;

/** Requests of a function: to its provider through the proxy of the service, and plain ones from here. */
export function providerCalls(
  session: Session,
  own: ConnectionName,
): Pick<HostCalls, 'http' | 'fetch'> {
  return {
    http: async (text) => {
      const call = parseArgs(shapes.http, text, parseRawJson);
      const { path, headers, body, url } = await proxied(session, own, call);
      const { method } = call;
      const sent = await sendInTurn(session, path, { method, headers, body: asBody(body) });
      refuseFor(sent);
      const reply = { ...sent, headers: providerHeaders(sent.headers) };
      const shown = `${method} ${call.endpoint.split('?', 1)[0] ?? ''}`;
      const failure = replyFailure(reply);
      if (failure !== null) {
        session.say('info', `http [${failure.code}] ${shown}`);
        return { json: JSON.stringify({ ...failure, url: call.endpoint } satisfies HttpAnswer) };
      }
      session.say('info', `http [${reply.status}] ${shown}`);
      return answerOf(reply, url, call.bodyAs === 'binary', (response) =>
        session.journal.noteAnswer('api', call, response),
      );
    },
    fetch: async (text) => plainFetch(session, text),
  };
}

/** A response with its whole body. */
interface Reply {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly setCookies: readonly string[];
  readonly body: Buffer;
}

const replyOf = async (response: Response): Promise<Reply> => ({
  status: response.status,
  statusText: response.statusText,
  headers: Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie')),
  setCookies: response.headers.getSetCookie(),
  body: Buffer.from(await response.arrayBuffer()),
});

/** Waits for the limit of the provider as often as the service refuses the request for it. */
async function sendInTurn(
  { client, say, signal }: Session,
  path: string,
  request: RequestInit,
): Promise<Reply> {
  for (;;) {
    const reply = await replyOf(await client.fetch(path, request));
    if (refusalOf(reply)?.code !== limitReached) return reply;
    const seconds = Number(reply.headers['retry-after'] ?? 1);
    say('info', `The request waits ${seconds} s for the limit of the provider.`);
    await pause(seconds * 1000, undefined, { signal });
  }
}

const asBody = (body: string | Uint8Array | undefined) =>
  body === undefined || typeof body === 'string' ? (body ?? null) : Buffer.from(body);

type HttpArgs = ReturnType<typeof parseArgs<typeof shapes.http>>;

/** The request to the proxy that represents the call. */
async function proxied(session: Session, own: ConnectionName, call: HttpArgs) {
  const name = {
    integrationKey: call.providerConfigKey ?? own.integrationKey,
    connectionId: call.connectionId ?? own.connectionId,
  };
  const connection = await session.connections.connection(name);
  const target = resolveEndpoint(call);
  const filled = fillEndpoint(target.endpoint, connection);
  if (filled === null) {
    const message = 'The endpoint refers to a value that this connection does not have.';
    throw new GatewayError('missing_api_url', { message });
  }
  const { baseUrlOverride: override } = target;
  const base = override ?? (await session.connections.baseUrl(connection));
  const endpoint = base !== null && filled.startsWith(base) ? filled.slice(base.length) : filled;
  const headers: Record<string, string> = { ...call.headers };
  const body = encodeBody(dataOf(call.body), undefined, headers);
  const { 'content-type': type, ...others } = headers;
  const forwarded = Object.entries(others).map(([key, value]): [string, string] => [
    `${proxyPrefix}${key}`,
    value,
  ]);
  const url = withParams(joinUrl(proxyBase, endpoint), call.params);
  return {
    path: `${url.pathname}${url.search}`,
    /** Of the provider; the endpoint where its base is not known here. */
    url: base === null ? call.endpoint : joinUrl(base, endpoint).href,
    body,
    headers: {
      'provider-config-key': name.integrationKey,
      'connection-id': name.connectionId,
      retries: String(Math.min(Math.floor(call.retries ?? 0), retriesMax)),
      ...(call.retryOn === undefined ? {} : { 'retry-on': call.retryOn.join(',') }),
      ...(override === undefined ? {} : { 'base-url-override': override }),
      ...(call.forwardHeadersOnRedirect === true ? { 'forward-headers-on-redirect': 'true' } : {}),
      ...(type === undefined ? {} : { 'content-type': type }),
      ...Object.fromEntries(forwarded),
    },
  };
}

/** @throws GatewayError when the proxy itself refused the call */
function refuseFor(reply: Reply): void {
  const refusal = refusalOf(reply);
  if (refusal === null || !refusals.has(refusal.code)) return;
  throw new GatewayError(refusal.code as ErrorCode, { message: refusal.message });
}

/** Null where the body is not that of a refusal. */
function refusalOf(reply: Reply): { readonly code: string; readonly message: string } | null {
  const error = reply.status < 400 ? null : jsonOf(reply)?.['error'];
  if (!isJsonObject(error)) return null;
  const { code, message } = error;
  return typeof code === 'string' && typeof message === 'string' ? { code, message } : null;
}

/** The provider did not respond: the proxy reports it as 502 or 504 with a body of its own. */
function replyFailure(reply: Reply): { outcome: 'failure'; code: string; message: string } | null {
  if (reply.status !== 502 && reply.status !== 504) return null;
  const { code, message, status } = jsonOf(reply) ?? {};
  if (typeof code !== 'string' || typeof message !== 'string' || status !== reply.status)
    return null;
  return { outcome: 'failure', code, message };
}

function jsonOf({ body }: Reply): Record<string, Json> | null {
  try {
    const parsed = JSON.parse(body.toString('utf8')) as unknown;
    return isJsonObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function answerOf(
  { status, statusText, headers, setCookies, body }: Reply,
  url: string,
  isBinary: boolean,
  note: (response: ProviderResponse) => void,
): HostAnswer {
  const text = isBinary ? body.toString('latin1') : bodyText(body, headers['content-type']);
  note({ status, headers, text, isBinary });
  const cookies = setCookies.length === 0 ? {} : { setCookies };
  const answer = {
    outcome: 'reply',
    status,
    statusText,
    headers,
    ...cookies,
    url,
  } satisfies HttpAnswer;
  return { json: JSON.stringify(answer), body: text };
}

/** From this machine: a dry run can reach only what the user can reach anyway. */
async function plainFetch(session: Session, text: string): Promise<HostAnswer> {
  const call = parseArgs(shapes.fetch, text);
  if (!URL.canParse(call.url)) throw new GatewayError('url_not_allowed');
  const headers: Record<string, string> = { ...call.headers };
  const body = encodeBody(dataOf(call.body), undefined, headers);
  const shown = `${call.method} ${call.url.split('?', 1)[0] ?? ''}`;
  try {
    const { method } = call;
    const { signal } = session;
    const response = await fetch(call.url, { method, headers, body: asBody(body), signal });
    session.say('info', `http [${response.status}] ${shown}`);
    const answered = await replyOf(response);
    const request = {
      method,
      endpoint: call.url,
      headers: call.headers,
      body: call.body,
    };
    return answerOf(answered, call.url, true, (one) =>
      session.journal.noteAnswer('fetch', request, one),
    );
  } catch (error) {
    const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
    const { code = 'ECONNRESET', message } = cause as { code?: string; message: string };
    session.say('info', `http [${code}] ${shown}`);
    const answer = { outcome: 'failure', code, message, url: call.url } satisfies HttpAnswer;
    return { json: JSON.stringify(answer) };
  }
}
