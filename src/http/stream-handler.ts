import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../kernel/errors.ts';
import type { Authenticator } from './authenticate.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import type { RouteAnswer } from './define-route.ts';
import { refusalOf } from './error-response.ts';
import { methodLabel } from './method-label.ts';
import { admit, checkScope } from './gate.ts';
import type { Services } from './services.ts';
import type { StreamCall, StreamRoute } from './stream-route.ts';

export interface StreamHandler {
  takes(request: IncomingMessage): boolean;
  /** Never rejects: what is thrown becomes the answer, or cuts it. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface Parts {
  readonly services: Services;
  readonly authenticator: Authenticator;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/** Answers the routes that stream, on the server itself: no framework stands between the sockets. */
export function createStreamHandler(routes: readonly StreamRoute[], parts: Parts): StreamHandler {
  const find = ({ url = '/' }: IncomingMessage): StreamRoute | undefined =>
    routes.find(({ prefix }) => isBelow(url, prefix));
  return {
    takes: (request) => find(request) !== undefined,
    async handle(request, response) {
      const route = find(request);
      if (route === undefined) return;
      const requestId = randomUUID();
      const exchange = openExchange(route, request, response, parts.services.metrics);
      exchange.setHeader('x-request-id', requestId);
      try {
        await pass(route, exchange, parts);
      } catch (error) {
        const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
        const facts = { requestId, method: request.method ?? 'GET', path };
        refuse(exchange, refusalOf(error, facts, parts.services.logger));
        // The rest of the body is read away, so that the client gets to see the answer.
        request.resume();
      }
    },
  };
}

type Exchange = Pick<StreamCall, 'request' | 'response' | 'begin' | 'setHeader' | 'signal'>;

const ofEveryAnswer = Object.entries(corsHeaders).flat();

/** A request with the answer that is made of it, observed when that has ended. */
function openExchange(
  { path }: StreamRoute,
  request: IncomingMessage,
  response: ServerResponse,
  metrics: Services['metrics'],
): Exchange {
  const startedAt = performance.now();
  const own: string[] = [...ofEveryAnswer];
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
    const labels = [path, methodLabel(request.method), response.statusCode];
    const seconds = (performance.now() - startedAt) / 1e3;
    metrics.observe('svc_http_request_duration_seconds', labels, seconds);
  });
  return {
    request,
    response,
    signal: gone.signal,
    setHeader: (name, value) => void own.push(name, value),
    begin(status, headers, statusText) {
      const all = [...headers];
      for (let at = 0; at < own.length; at += 2) {
        const name = own[at] ?? '';
        if (!hasName(headers, name)) all.push(name, own[at + 1] ?? '');
      }
      if (statusText === undefined) response.writeHead(status, all);
      else response.writeHead(status, statusText, all);
    },
  };
}

function hasName(headers: readonly string[], name: string): boolean {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return true;
  return false;
}

function isBelow(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false;
  return prefix.endsWith('/') || url.length === prefix.length || url[prefix.length] === '?';
}

async function pass(
  route: StreamRoute,
  exchange: Exchange,
  { services, authenticator, closing }: Parts,
): Promise<void> {
  const { request, response, setHeader } = exchange;
  const { method = 'GET', url = '/' } = request;
  if (!route.methods.includes(method)) {
    const allow = [...route.methods, 'OPTIONS'];
    if (method === 'OPTIONS') {
      exchange.begin(204, Object.entries(preflightHeaders(allow)).flat());
      response.end();
      return;
    }
    setHeader('allow', allow.join(', '));
    throw new GatewayError('method_not_allowed');
  }
  const address = request.socket.remoteAddress ?? 'unknown';
  const caller = await admit({ request, route, address, setHeader }, services, authenticator);
  checkScope(route, caller);
  const target = route.prefix.endsWith('/') ? url.slice(route.prefix.length - 1) : url;
  await route.handle({ ...exchange, target, caller, services, closing });
}

function refuse({ response, begin }: Exchange, { status, body, headers }: RouteAnswer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  begin(status, ['content-type', 'application/json', ...Object.entries(headers ?? {}).flat()]);
  response.end(JSON.stringify(body));
}
