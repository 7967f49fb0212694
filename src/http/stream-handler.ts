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
import type { StreamRoute } from './stream-route.ts';

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
      observeWhenEnded(route, request, response, parts.services);
      response.setHeader('x-request-id', requestId);
      for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
      try {
        await pass(route, request, response, parts);
      } catch (error) {
        const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
        const facts = { requestId, method: request.method ?? 'GET', path };
        refuse(response, refusalOf(error, facts, parts.services.logger));
        // The rest of the body is read away, so that the client gets to see the answer.
        request.resume();
      }
    },
  };
}

function observeWhenEnded(
  { path }: StreamRoute,
  { method }: IncomingMessage,
  response: ServerResponse,
  { metrics }: Services,
): void {
  const startedAt = performance.now();
  response.once('close', () => {
    const labels = [path, methodLabel(method), response.statusCode];
    const seconds = (performance.now() - startedAt) / 1e3;
    metrics.observe('svc_http_request_duration_seconds', labels, seconds);
  });
}

function isBelow(url: string, prefix: string): boolean {
  if (!url.startsWith(prefix)) return false;
  return prefix.endsWith('/') || url.length === prefix.length || url[prefix.length] === '?';
}

async function pass(
  route: StreamRoute,
  request: IncomingMessage,
  response: ServerResponse,
  { services, authenticator, closing }: Parts,
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  if (!route.methods.includes(method)) {
    const allow = [...route.methods, 'OPTIONS'];
    response.setHeader('allow', allow.join(', '));
    if (method !== 'OPTIONS') throw new GatewayError('method_not_allowed');
    response.writeHead(204, preflightHeaders(allow)).end();
    return;
  }
  const admission = {
    request,
    route,
    address: request.socket.remoteAddress ?? 'unknown',
    setHeader: (name: string, value: string) => void response.setHeader(name, value),
  };
  const caller = await admit(admission, services, authenticator);
  checkScope(route, caller);
  const gone = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) gone.abort();
  };
  response.once('close', onClose);
  const target = route.prefix.endsWith('/') ? url.slice(route.prefix.length - 1) : url;
  const { signal } = gone;
  await route.handle({ request, response, target, caller, services, signal, closing });
}

function refuse(response: ServerResponse, { status, body, headers }: RouteAnswer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
