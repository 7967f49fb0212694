import type { IncomingMessage, ServerResponse } from 'node:http';
import { inTrace, isTracing, startSpanOf, traceHeader, traceOf } from '#control-plane/trace.ts';
import type { Span } from '#ports/tracer.ts';

/** Of the requests whose responses have not ended; empty while tracing is off. */
const spans = new WeakMap<ServerResponse, { readonly span: Span; readonly method: string }>();

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']);

/**
 * Runs `task` in the trace that the request names, or in a new one; with tracing, in a span of the request that ends
 * with its response. The path is no attribute: it may name a connection or contain a token.
 */
export function inRequestTrace(
  request: IncomingMessage,
  response: ServerResponse,
  task: () => void,
): void {
  const header = request.headers[traceHeader]?.toString();
  const span = isTracing() ? startRequestSpan(header, request, response) : null;
  inTrace(span?.traceparent ?? traceOf(header), task);
}

function startRequestSpan(
  header: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Span | null {
  // Clients may send any word: the conventions name `_OTHER` and `HTTP` for unknown ones.
  const sent = request.method ?? '';
  const isKnown = methods.has(sent);
  const method = isKnown ? sent : 'HTTP';
  const span = startSpanOf(header, () => ({
    name: method,
    kind: 'server',
    attributes: {
      'http.request.method': isKnown ? sent : '_OTHER',
      'url.scheme': 'http',
      'network.protocol.version': request.httpVersion,
    },
  }));
  if (span === null) return null;
  spans.set(response, { span, method });
  response.once('close', () => {
    const { statusCode, writableFinished } = response;
    span.set({ 'http.response.status_code': statusCode });
    if (statusCode >= 500) span.fail(String(statusCode));
    else if (!writableFinished) span.fail('disconnected');
    span.end();
  });
  return span;
}

/** Names the span of the request after its route, as the API documents it; undefined: no route matches. */
export function noteRoute(response: ServerResponse, route: string | undefined): void {
  if (!isTracing() || route === undefined) return;
  const existing = spans.get(response);
  if (existing === undefined) return;
  existing.span.rename(`${existing.method} ${route}`);
  existing.span.set({ 'http.route': route });
}
