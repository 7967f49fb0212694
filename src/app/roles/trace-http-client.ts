import { inSpan, traceHeader, type SpanDescription } from '#control-plane/trace.ts';
import { overridden } from '#kernel/overridden.ts';
import type { AnswerSink, Destination, HttpClient } from '#ports/http-client.ts';
import type { Span } from '#ports/tracer.ts';

/**
 * The client with a span for each request, whose `traceparent` goes with it unless the caller sets one. Path and query
 * are no attributes, unlike the convention `url.full`: those of some providers and webhooks contain tokens.
 */
export function traceHttpClient(http: HttpClient): HttpClient {
  return overridden(http, {
    request: (request) =>
      inSpan(
        () => describe(request),
        async (span) => {
          const reply = await http.request(traced(request, span));
          noteStatus(span, reply.status);
          return reply;
        },
      ),
    forward: (request, sink) =>
      inSpan(
        () => describe(request),
        (span) => http.forward(traced(request, span), (flow) => noting(span, sink(flow))),
      ),
  });
}

function describe({
  method,
  url,
}: {
  readonly method: string;
  readonly url: Destination;
}): SpanDescription {
  const { hostname, port, protocol } = url;
  const scheme = protocol.replace(/:$/, '');
  return {
    name: method,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'server.address': hostname,
      'server.port': port === '' ? (scheme === 'https' ? 443 : 80) : Number(port),
      'url.scheme': scheme,
    },
  };
}

function traced<R extends { readonly headers: Readonly<Record<string, string>> }>(
  request: R,
  span: Span | null,
): R {
  const { headers } = request;
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === traceHeader);
  if (span === null || isNamed) return request;
  return { ...request, headers: { ...headers, [traceHeader]: span.traceparent } };
}

const noting = (span: Span | null, sink: AnswerSink): AnswerSink => ({
  head(status, ...head) {
    noteStatus(span, status);
    return sink.head(status, ...head);
  },
  data: (...piece) => sink.data(...piece),
});

function noteStatus(span: Span | null, status: number): void {
  span?.set({ 'http.response.status_code': status });
  if (status >= 400) span?.fail(String(status));
}
