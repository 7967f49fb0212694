import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Koa, { type Context } from 'koa';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { headersOfEveryAnswer } from './cors.ts';
import { type AnyRoute, headersOfDeprecation, type RouteAnswer } from './define-route.ts';
import { refusalOf } from './error-response.ts';
import { hostAndPort } from './host-and-port.ts';
import { createMessageServer, drain } from './message-server.ts';
import { codingFor } from './negotiate.ts';
import type { RequestPipeline } from './pipeline.ts';
import { inRequestTrace, noteRoute } from './request-span.ts';
import { createPathSlashRemoval } from './request-target.ts';
import { serveRoutes, type Match } from './router.ts';
import type { ServerServices } from './server-services.ts';
import { isSocketRequest, openSockets, type Sockets } from './sockets.ts';
import { methodLabel, createStreamHandler, type StreamHandler } from './stream-handler.ts';
import type { AnyStreamRoute } from './stream-route.ts';

export interface HttpServerOptions {
  readonly routes: readonly AnyRoute[];
  readonly streamRoutes?: readonly AnyStreamRoute[];
  readonly pipeline: RequestPipeline;
  /** What handlers are given, and what the server needs of it. */
  readonly services: ServerServices;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Path of the page that a browser gets on `/`; any other client is answered as on an unknown path. */
  readonly homePage?: () => string;
  /** How long a close waits for answers under way, in ms; default 20 s. */
  readonly closeWithinMs?: number;
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

const keepAliveTimeoutMs = 65_000;
/** How often the heads that have not come as a whole are looked at. */
const lookEveryMs = 1_000;

/** Listens when it resolves. Disposing stops accepting, lets answers finish, then cuts what is left. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { routes, services, pipeline, host } = options;
  const app = new Koa();
  app.silent = true;
  const closing = new AbortController();
  app.use((context, next) => answer(context, next, { services, closing: closing.signal }));
  const { homePage } = options;
  if (homePage !== undefined) app.use((context, next) => redirectHome(context, next, homePage));
  for (const middleware of serveRoutes(routes, (context, match) => pass(context, match, pipeline)))
    app.use(middleware);
  const handle = app.callback();
  const parts = { services, pipeline, closing: closing.signal };
  const { streamRoutes = [] } = options;
  const streams = createStreamHandler(streamRoutes, parts);
  const withoutPathSlash = createPathSlashRemoval([...routes, ...streamRoutes]);
  const sockets = await openSockets(services);
  const handlers = { streams, handle, sockets, withoutPathSlash, closing: closing.signal };
  const server = serverOf(handlers);

  const port = await listen(server, options.port, host);
  // A connection that could not be accepted, for want of memory say: the others go on.
  server.on('error', (err) => services.logger.error({ err }, 'connection not accepted'));
  return {
    url: `http://${hostAndPort(host, port)}`,
    port,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await sockets[Symbol.asyncDispose]();
      await close(server, options.closeWithinMs ?? 20_000);
    },
  };
}

interface Handlers {
  readonly streams: StreamHandler;
  /** Of every other request. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly sockets: Sockets;
  readonly withoutPathSlash: (target: string) => string;
  readonly closing: AbortSignal;
}

/** The server, with what comes too slowly. */
function serverOf({ streams, handle, sockets, withoutPathSlash, closing }: Handlers): Server {
  const { server, refuseBody } = createMessageServer({
    // Most requests have no body: an eighth less time for each of them.
    optimizeEmptyRequests: true,
    connectionsCheckingInterval: lookEveryMs,
    onRequest(request, response) {
      request.url = withoutPathSlash(request.url ?? '/');
      inRequestTrace(request, response, () => {
        const route = streams.find(request);
        bodies.add(request, response, route?.bodyIdleMs ?? null);
        if (route === undefined) {
          void handle(request, response);
          return;
        }
        if (closing.aborted) response.setHeader('connection', 'close');
        void streams.handle(route, request, response);
      });
    },
    isUpgrade: isSocketRequest,
    onUpgrade: (request, socket, head) => void sockets.upgrade(request, socket, head),
  });
  const bodies = new ArrivingBodies((request, response) => refuseBody(request, response, 408));
  server.headersTimeout = limits.requestHeadMs;
  // It would be the same for every body (arriving-bodies.ts).
  server.requestTimeout = 0;
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.once('close', () => bodies[Symbol.dispose]());
  return server;
}

interface Parts {
  readonly services: ServerServices;
  readonly closing: AbortSignal;
}

/** What a request has come to, for what refuses and measures it. */
interface RequestState {
  match?: Match;
}

/** Around every request: its id, the headers of every answer, refusals as JSON or as a page, the duration. */
async function answer(
  context: Context,
  next: () => Promise<void>,
  { services, closing }: Parts,
): Promise<void> {
  const startedAt = performance.now();
  const requestId = randomUUID();
  context.set('x-request-id', requestId);
  context.set(headersOfEveryAnswer);
  const state = context.state as RequestState;
  try {
    await next();
  } catch (error) {
    const refused = refusal(error, context, requestId, services);
    send(context, (await shown(error, context, state.match, services)) ?? refused);
  } finally {
    const route = state.match?.route.path ?? 'none';
    noteRoute(context.res, state.match?.route.path);
    observeRequest(services.metrics, { route, context, startedAt });
  }
  // Otherwise the connection would stay open, idle, until the client has enough of it.
  if (closing.aborted) context.set('connection', 'close');
}

/** A browser says that it takes HTML; a client of the API asks for JSON or for anything. */
async function redirectHome(
  context: Context,
  next: () => Promise<void>,
  homePage: () => string,
): Promise<void> {
  const isRead = context.method === 'GET' || context.method === 'HEAD';
  if (context.path !== '/' || !isRead) return next();
  context.set('vary', 'accept');
  if (!context.get('accept').includes('text/html')) return next();
  send(context, { status: 302, headers: { location: homePage(), 'cache-control': 'no-store' } });
}

function observeRequest(
  metrics: ServerServices['metrics'],
  call: { readonly route: string; readonly context: Context; readonly startedAt: number },
): void {
  const { route, context, startedAt } = call;
  const labels = [route, methodLabel(context.method), context.status];
  metrics.observe(
    'svc_http_request_duration_seconds',
    labels,
    (performance.now() - startedAt) / 1e3,
  );
}

/** Answers a request whose route is found. @throws GatewayError what the pipeline and the handler refuse with */
async function pass(context: Context, match: Match, pipeline: RequestPipeline): Promise<void> {
  (context.state as RequestState).match = match;
  const { deprecation } = match.route;
  if (deprecation !== undefined) context.set(headersOfDeprecation(deprecation));
  const gone = new AbortController();
  const onClose = () => {
    if (!context.res.writableFinished) gone.abort();
  };
  context.res.once('close', onClose);
  try {
    const call = {
      request: context.req,
      match,
      search: searchOf(context),
      address: context.req.socket.remoteAddress ?? 'unknown',
      signal: gone.signal,
      setHeader: (name: string, value: string) => context.set(name, value),
    };
    const answered = await pipeline.handleRequest(call);
    const accepted = context.method === 'HEAD' ? undefined : context.req.headers['accept-encoding'];
    send(context, await encodedAnswer(answered, accepted));
  } finally {
    context.res.off('close', onClose);
  }
}

/** Text after the first `?`, as it came. */
function searchOf({ req: { url = '/' } }: Context): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

/** What a person sees of a refusal, where the route has a page for it and their browser asks for one. */
async function shown(
  error: unknown,
  context: Context,
  match: Match | undefined,
  services: ServerServices,
): Promise<RouteAnswer | null> {
  const { refusalPage } = match?.route ?? {};
  if (refusalPage === undefined || !(error instanceof GatewayError)) return null;
  if (!context.get('accept').includes('text/html')) return null;
  return refusalPage(error, searchOf(context), services);
}

function refusal(
  error: unknown,
  context: Context,
  requestId: string,
  { logger }: ServerServices,
): RouteAnswer {
  const isTooLarge = error instanceof GatewayError && error.code === 'request_too_large';
  if (isTooLarge) drain(context.req);
  return refusalOf(error, { requestId, method: context.method, path: context.path }, logger);
}

function send(context: Context, { status, body, headers }: RouteAnswer): void {
  context.status = status;
  if (body === undefined) {
    context.body = null;
    if (status !== 204) context.status = status;
  } else if (body instanceof Uint8Array) {
    context.body = Buffer.isBuffer(body)
      ? body
      : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    context.set('content-type', 'application/json');
  } else {
    context.body = JSON.stringify(body);
    context.set('content-type', 'application/json');
  }
  for (const [name, value] of Object.entries(headers ?? {})) context.set(name, value);
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function close(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const abort = new AbortController();
  await Promise.race([closed, wait(withinMs, undefined, { signal: abort.signal, ref: false })]);
  abort.abort();
  server.closeAllConnections();
  await closed;
}

const [br, deflated] = [promisify(brotliCompress), promisify(gzip)];

/** Fast levels: a higher one costs more time than the network saves. */
const compressors = {
  br: (body: Uint8Array) => br(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  gzip: (body: Uint8Array) => deflated(body, { level: 1 }),
} as const;
const codings = ['br', 'gzip'] as const;

/** Most polls answer less; compression would only delay them. */
const bytesMin = 16 * 1024;

const compressible = /^(application\/json|text\/(html|plain|css|javascript))/;

/** A body that is sent repeatedly, such as the OpenAPI document, is compressed once. */
const compressed = new WeakMap<Uint8Array, Map<string, Promise<Buffer>>>();

/**
 * The response in a content encoding that the client accepts. One with secrets (`Cache-Control: no-store`) is not
 * compressed: its length would depend on whether the secret resembles what a request put beside it (BREACH).
 * @param accepted the header `Accept-Encoding`
 */
export async function encodedAnswer(
  answer: RouteAnswer,
  accepted: string | undefined,
): Promise<RouteAnswer> {
  const { headers = {} } = answer;
  if (answer.body === undefined || headers['cache-control']?.includes('no-store') === true) {
    return answer;
  }
  const type = headers['content-type'] ?? 'application/json';
  if ('content-encoding' in headers || !compressible.test(type)) return answer;
  const body = answer.body instanceof Uint8Array ? answer.body : JSON.stringify(answer.body);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.length < bytesMin) return { ...answer, body: bytes };
  const coding = codingFor(accepted, codings);
  const varying = { ...headers, vary: 'accept-encoding' };
  if (coding === null) return { ...answer, body: bytes, headers: varying };
  return {
    ...answer,
    body: await compressedOnce(bytes, coding),
    headers: { ...varying, 'content-encoding': coding },
  };
}

function compressedOnce(bytes: Uint8Array, coding: (typeof codings)[number]): Promise<Buffer> {
  const made = compressed.get(bytes) ?? new Map<string, Promise<Buffer>>();
  compressed.set(bytes, made);
  const existing = made.get(coding) ?? compressors[coding](bytes);
  made.set(coding, existing);
  return existing;
}

/** A request whose body is incomplete. */
interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Longest pause between two pieces of a streamed body; null: the body is due as a whole. */
  readonly idleMs: number | null;
  /** Start of its time limit, on the clock of `performance.now`. */
  since: number;
  /** Bytes received over its connection by then. */
  bytes: number;
}

/**
 * The bodies that are still arriving. One timer checks all of them: Node's own limit is the same for every request,
 * and a timer for each would be expensive.
 */
class ArrivingBodies implements Disposable {
  readonly #arrivals = new Set<Arrival>();
  readonly #refuse: (request: IncomingMessage, response: ServerResponse) => void;
  readonly #timer: NodeJS.Timeout;

  /** @param refuse called with a request whose body arrives too slowly */
  constructor(refuse: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#refuse = refuse;
    this.#timer = setInterval(() => this.#look(performance.now()), lookEveryMs);
    this.#timer.unref();
  }

  /** @param idleMs longest pause of a streamed body, until the request is answered */
  add(request: IncomingMessage, response: ServerResponse, idleMs: number | null): void {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (coding === undefined && (length === undefined || length === '0')) return;
    const since = performance.now();
    const bytes = request.socket.bytesRead;
    const arrival: Arrival = { request, response, idleMs, since, bytes };
    this.#arrivals.add(arrival);
    request.once('close', () => this.#arrivals.delete(arrival));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    for (const arrival of this.#arrivals) {
      const { request, response } = arrival;
      if (request.complete) continue;
      const idleMs = response.writableEnded ? null : arrival.idleMs;
      if (idleMs !== null && !isStill(arrival)) arrival.since = now;
      if (now - arrival.since < (idleMs ?? limits.requestMs)) continue;
      this.#arrivals.delete(arrival);
      this.#refuse(request, response);
    }
  }
}

/** Whether the client stalls: it sends nothing although nothing here applies backpressure. */
function isStill(arrival: Arrival): boolean {
  const { request } = arrival;
  const before = arrival.bytes;
  arrival.bytes = request.socket.bytesRead;
  return arrival.bytes === before && request.readableLength === 0 && !request.isPaused();
}
