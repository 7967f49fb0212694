import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV4 } from '#kernel/ids.ts';
import type { Cancellation } from '#ports/http-client.ts';
import { checkScope } from './check-parts.ts';
import { preflightHeaders, headersOfEveryAnswer } from './cors.ts';
import type { Caller, RouteAnswer } from './define-route.ts';
import { refusalOf } from './error-response.ts';
import { anonymous, type RequestPipeline } from './pipeline.ts';
import { noteRoute } from './request-span.ts';
import type { ServerServices } from './server-services.ts';
import type { AnyStreamRoute, StreamCall } from './stream-route.ts';

export interface StreamHandler {
  /** Undefined if no streaming route matches. */
  find(request: IncomingMessage): AnyStreamRoute | undefined;
  /** Never rejects: an exception becomes the response, or cuts it. */
  handle(route: AnyStreamRoute, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface Parts {
  readonly services: ServerServices;
  readonly pipeline: RequestPipeline;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/** Serves the streaming routes directly on the HTTP server: no framework between the sockets. */
export function createStreamHandler(
  routes: readonly AnyStreamRoute[],
  parts: Parts,
): StreamHandler {
  const { services } = parts;
  return {
    find: ({ url = '/' }) => routes.find(({ prefix }) => isBelow(url, prefix)),
    async handle(route, request, response) {
      noteRoute(response, route.path);
      const requestId = uuidV4();
      const exchange = new Exchange(route, request, response, parts);
      exchange.setHeader('x-request-id', requestId);
      response.once('close', () => {
        if (!response.writableFinished) exchange.cancellation.cancel();
        const labels = [route.path, methodLabel(request.method), response.statusCode];
        services.metrics.observe('svc_http_request_duration_seconds', labels, exchange.seconds);
      });
      try {
        const admitted = pass(route, exchange, parts);
        const caller = admitted instanceof Promise ? await admitted : admitted;
        if (caller === null) return;
        checkScope(route, caller);
        exchange.caller = caller;
        await route.handle(exchange);
      } catch (error) {
        const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
        const facts = { requestId, method: request.method ?? 'GET', path };
        refuse(exchange, refusalOf(error, facts, services.logger));
        // Drains the rest of the body, so that the client reads the response.
        request.resume();
      }
    },
  };
}

const ofEveryAnswer = Object.entries(headersOfEveryAnswer).flat();

/** Whether the client has disconnected; a signal is created only on demand. */
class Departure implements Cancellation {
  isCancelled = false;
  listener: (() => void) | null = null;
  #controller: AbortController | null = null;

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.isCancelled) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  cancel(): void {
    this.isCancelled = true;
    this.listener?.();
    this.#controller?.abort();
  }
}

/** A request with its response. */
class Exchange implements StreamCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly services: ServerServices;
  readonly closing: AbortSignal;
  readonly cancellation = new Departure();
  /** The URL without the prefix of the route. */
  readonly target: string;
  /** Set by authorization. */
  caller: Caller = anonymous;
  readonly #startedAt = performance.now();
  readonly #own: string[] = [...ofEveryAnswer];

  constructor(
    { prefix }: AnyStreamRoute,
    request: IncomingMessage,
    response: ServerResponse,
    { services, closing }: Parts,
  ) {
    const { url = '/' } = request;
    this.request = request;
    this.response = response;
    this.services = services;
    this.closing = closing;
    this.target = prefix.endsWith('/') ? url.slice(prefix.length - 1) : url;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1e3;
  }

  readonly setHeader = (name: string, value: string): void => {
    this.#own.push(name, value);
  };

  readonly begin: StreamCall['begin'] = (status, headers, statusText) => {
    const all = [...headers, ...this.#own];
    if (statusText === undefined) this.response.writeHead(status, all);
    else this.response.writeHead(status, statusText, all);
  };
}

function isBelow(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false;
  return prefix.endsWith('/') || url.length === prefix.length || url[prefix.length] === '?';
}

/** The caller; null if the response was sent. */
function pass(
  route: AnyStreamRoute,
  exchange: Exchange,
  { pipeline }: Parts,
): Caller | null | Promise<Caller> {
  const { request, response, setHeader } = exchange;
  const { method = 'GET' } = request;
  const isHead = method === 'HEAD' && route.takesHead === true;
  if (!isHead && !route.methods.includes(method)) {
    const allow = [...route.methods, 'OPTIONS'];
    if (method === 'OPTIONS') {
      exchange.begin(204, Object.entries(preflightHeaders(allow)).flat());
      response.end();
      return null;
    }
    setHeader('allow', allow.join(', '));
    throw new GatewayError('method_not_allowed');
  }
  const address = request.socket.remoteAddress ?? 'unknown';
  return pipeline.authorize({ request, route, address, setHeader });
}

function refuse({ response, begin }: Exchange, { status, body, headers }: RouteAnswer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  begin(status, ['content-type', 'application/json', ...Object.entries(headers ?? {}).flat()]);
  response.end(JSON.stringify(body));
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method as the label of a metric: bounded, because clients may send any word. */
export const methodLabel = (method: string | undefined): string =>
  method !== undefined && methods.has(method) ? method : 'other';
