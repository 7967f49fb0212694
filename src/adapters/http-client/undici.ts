import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, request as send, type Dispatcher } from 'undici';
import { GatewayError } from '#kernel/errors.ts';
import {
  HttpFailure,
  type HttpClient,
  type HttpReply,
  type OutgoingRequest,
} from '#ports/http-client.ts';
import { codingsOf, readBody, tooLarge } from './decode.ts';
import { createEgressPolicy, type EgressPolicy } from './egress.ts';
import { forwardOver } from './forward.ts';
import { isOwnHeader } from './http1/fields.ts';
import { ConnectionPool } from './http1/pool.ts';

/** Every address of a name. */
export type Resolve = (
  name: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

export interface HttpClientOptions {
  /** Exceptions from the egress policy: `host:port` entries and CIDRs. */
  readonly allow: readonly string[];
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

const connectTimeoutMs = 10_000;
const headerBytesMax = 64 * 1024;
/** Limit of a response when the request names none. */
const maxBytesDefault = 64 * 1024 ** 2;
const redirectsMost = 5;
const bodiless = new Set([204, 304]);
const redirects = new Set([301, 302, 303, 307, 308]);
const secretHeaders = ['authorization', 'cookie', 'proxy-authorization'];
const codes: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_HEADERS_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_BODY_TIMEOUT: 'ETIMEDOUT',
};

/**
 * Outgoing HTTP: whole responses over undici, forwarded ones over connections of our own. One connector applies the
 * egress policy to both, at the name, the address and the socket.
 */
export function createHttpClient({ allow, resolve = resolveAll }: HttpClientOptions): HttpClient {
  const policy = createEgressPolicy(allow);
  const newAgent = (connect: buildConnector.connector): Agent =>
    new Agent({
      allowH2: false,
      bodyTimeout: 0,
      headersTimeout: 0,
      maxHeaderSize: headerBytesMax,
      connect,
    });
  const connect = guardedConnector(policy, resolve);
  const shared = newAgent(connect);
  const pool = new ConnectionPool(connect);
  return {
    async request(request) {
      const deadline = startDeadline(request);
      // A connection with a client certificate serves only requests with that certificate.
      const { certificate } = request;
      const agent =
        certificate === undefined
          ? shared
          : newAgent(guardedConnector(policy, resolve, certificate));
      try {
        return await follow(request, { policy, agent, signal: deadline.signal });
      } catch (error) {
        throw asFailure(error, deadline.signal.reason);
      } finally {
        deadline.stop();
        if (agent !== shared) await agent.destroy();
      }
    },
    async forward(request, sink) {
      policy.checkUrl(request.url);
      try {
        await forwardOver(pool, request, sink);
      } catch (error) {
        throw asFailure(error);
      }
    },
    async [Symbol.asyncDispose]() {
      pool[Symbol.dispose]();
      await shared.destroy();
    },
  };
}

interface FetchContext {
  readonly policy: EgressPolicy;
  readonly agent: Agent;
  readonly signal: AbortSignal;
}

async function follow(first: OutgoingRequest, context: FetchContext): Promise<HttpReply> {
  const hopsMax = Math.min(first.redirectsMax ?? 0, redirectsMost);
  let request = first;
  for (let hops = 0; ; hops += 1) {
    context.policy.checkUrl(request.url);
    const answer = await exchange(request, context);
    const location = redirects.has(answer.statusCode) ? headerOf(answer, 'location') : undefined;
    if (location === undefined || hopsMax === 0) return read(request, answer, context);
    await answer.body.dump({ limit: 64 * 1024, signal: context.signal });
    if (hops === hopsMax) throw new GatewayError('too_many_redirects');
    request = redirected(request, answer.statusCode, location);
  }
}

async function exchange(
  request: OutgoingRequest,
  context: FetchContext,
): Promise<Dispatcher.ResponseData> {
  const headers: Record<string, string> = { 'accept-encoding': 'gzip, deflate, br' };
  for (const [name, value] of Object.entries(request.headers)) {
    if (!isOwnHeader(name.toLowerCase())) headers[name.toLowerCase()] = value;
  }
  const answer = await send(request.url.href, {
    method: request.method.toUpperCase(),
    headers,
    body: request.body ?? null,
    dispatcher: context.agent,
    signal: context.signal,
  });
  // The reader of the body receives its errors; a body without a reader must not end the process.
  answer.body.on('error', () => undefined);
  const coding = answer.headers['transfer-encoding'];
  if (coding !== undefined && String(coding).toLowerCase() !== 'chunked') {
    answer.body.destroy();
    throw new HttpFailure('ERR_INVALID_ANSWER', 'The response has an unknown Transfer-Encoding.');
  }
  return answer;
}

async function read(
  request: OutgoingRequest,
  answer: Dispatcher.ResponseData,
  { signal }: FetchContext,
): Promise<HttpReply> {
  const maxBytes = request.maxBytes ?? maxBytesDefault;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value === undefined || name === 'set-cookie') continue;
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const setCookies = [answer.headers['set-cookie'] ?? []].flat();
  const cookies = setCookies.length === 0 ? {} : { setCookies };
  const { statusCode: status, statusText } = answer;
  if (request.dropsBody) {
    await answer.body.dump({ limit: maxBytes, signal });
    return {
      status,
      statusText,
      headers,
      ...cookies,
      body: Buffer.alloc(0),
      url: request.url.href,
    };
  }
  const undo = codingsOf(status, headers['content-encoding']);
  const hasBody = request.method.toUpperCase() !== 'HEAD' && !bodiless.has(status);
  if (Number(headers['content-length'] ?? 0) > maxBytes && hasBody) {
    answer.body.destroy();
    throw tooLarge(maxBytes);
  }
  const body = await readBody(answer.body, undo, maxBytes);
  if (undo.length > 0) {
    delete headers['content-encoding'];
    delete headers['content-length'];
  }
  return { status, statusText, headers, ...cookies, body, url: request.url.href };
}

/** The redirected request: after 303, and a POST answered with 301 or 302, GET without a body. */
function redirected(request: OutgoingRequest, status: number, location: string): OutgoingRequest {
  if (!URL.canParse(location, request.url.href)) {
    throw new HttpFailure('ERR_BAD_REDIRECT', 'The response redirects to an invalid URL.');
  }
  const url = new URL(location, request.url);
  const method = request.method.toUpperCase();
  const becomesGet =
    (status === 303 && method !== 'HEAD') ||
    ((status === 301 || status === 302) && method === 'POST');
  const dropped = new Set<string>();
  if (becomesGet) dropped.add('content-type').add('content-encoding');
  if (url.origin !== request.url.origin) {
    for (const name of request.credentialHeaders ?? secretHeaders) dropped.add(name.toLowerCase());
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !dropped.has(name.toLowerCase())),
  );
  if (!becomesGet) return { ...request, url, headers };
  const { body: _body, ...rest } = request;
  return { ...rest, url, headers, method: 'GET' };
}

/** Connects only to checked addresses, and checks the remote address of the socket again. */
function guardedConnector(
  policy: EgressPolicy,
  resolve: Resolve,
  client?: OutgoingRequest['certificate'],
): buildConnector.connector {
  // One per origin keeps its TLS sessions; the lookup needs the port, which Node does not pass to it.
  const connectors = new LRUCache<string, buildConnector.connector>({ max: 1000 });
  return (options, callback) => {
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80));
    const key = `${options.hostname}:${port}`;
    let connect = connectors.get(key);
    if (!connect) {
      const lookup = guardedLookup(policy, resolve, port);
      const proof = client ? { cert: client.certificate, key: client.privateKey } : {};
      connect = buildConnector({ allowH2: false, timeout: connectTimeoutMs, lookup, ...proof });
      connectors.set(key, connect);
    }
    connect(options, (...outcome) => {
      const [, socket] = outcome;
      const refusal = socket && refusalOf(policy, options.hostname, port, [socket.remoteAddress]);
      if (!refusal) {
        callback(...outcome);
        return;
      }
      socket.destroy();
      callback(refusal, null);
    });
  };
}

function guardedLookup(policy: EgressPolicy, resolve: Resolve, port: number): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, found) => {
      const addresses = found.map(({ address }) => address);
      const refusal = error ?? refusalOf(policy, hostname, port, addresses);
      if (refusal) {
        callback(refusal, '', 0);
      } else if (options.all) {
        callback(null, [...found]);
      } else {
        callback(null, found[0]?.address ?? '', found[0]?.family ?? 0);
      }
    });
  };
}

function refusalOf(
  policy: EgressPolicy,
  host: string,
  port: number,
  addresses: readonly (string | undefined)[],
): Error | null {
  try {
    policy.checkAddresses(
      host,
      port,
      addresses.map((address) => address ?? ''),
    );
    return null;
  } catch (refusal) {
    return refusal as Error;
  }
}

const resolveAll: Resolve = (name, done) => {
  // On an error the platform omits the addresses, contrary to its types.
  systemLookup(name, { all: true }, (error, found?: LookupAddress[]) => done(error, found ?? []));
};

function startDeadline({ timeoutMs, signal }: OutgoingRequest) {
  const abort = new AbortController();
  const late = () => {
    const message = `No complete response within ${timeoutMs} ms.`;
    abort.abort(new HttpFailure('ETIMEDOUT', message));
  };
  const cancelled = () => abort.abort(new HttpFailure('ERR_CANCELED', 'The call was cancelled.'));
  const timer = setTimeout(late, timeoutMs);
  if (signal?.aborted) cancelled();
  signal?.addEventListener('abort', cancelled, { once: true });
  return {
    signal: abort.signal,
    stop: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancelled);
    },
  };
}

function asFailure(error: unknown, reason?: unknown): Error {
  if (reason instanceof HttpFailure) return reason;
  if (error instanceof GatewayError || error instanceof HttpFailure) return error;
  const systemError = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  const code = systemError.code ?? systemError.errors?.[0]?.code ?? 'ERR_NETWORK';
  const message = systemError.message || `The request failed: ${code}.`;
  return new HttpFailure(codes[code] ?? code, message, { cause: error });
}

function headerOf(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
