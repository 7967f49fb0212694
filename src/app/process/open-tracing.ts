import type { Logger } from 'pino';
import type { SamplerName } from '#adapters/tracing/samplers.ts';
import { useTracer, inSpan, traceHeader, type SpanDescription } from '#control-plane/trace.ts';
import { overridden } from '#kernel/overridden.ts';
import type { AnswerSink, Destination, HttpClient } from '#ports/http-client.ts';
import type { Span } from '#ports/tracer.ts';
import type { Config } from '../config/config.ts';
import { version } from '../config/version.ts';

/** What a thread needs to record spans: plain data. */
export interface TracingAccess {
  readonly url: string;
  readonly sampler: SamplerName;
  readonly ratio: number;
  readonly resource: Readonly<Record<string, string | readonly string[]>>;
  readonly messagingSystem: string;
}

/** Null: tracing is off. */
export function tracingAccess(config: Config, node: string): TracingAccess | null {
  const { otlpEndpoint, otlpTracesEndpoint, tracesSampler, tracesSamplerRatio } = config;
  const url = otlpTracesEndpoint ?? (otlpEndpoint === null ? null : `${otlpEndpoint}/v1/traces`);
  if (url === null) return null;
  return {
    url,
    sampler: tracesSampler,
    ratio: tracesSamplerRatio,
    resource: {
      'service.name': config.serviceName,
      'service.version': version(),
      'service.instance.id': node,
      'svc.roles': [...config.roles],
    },
    messagingSystem: config.logUrl.kind === 'kafka' ? 'kafka' : 'svc',
  };
}

/**
 * Records the spans of this thread until the stack is disposed of, which exports the remaining ones. OpenTelemetry is
 * loaded here, so that a process without tracing never loads it.
 */
export async function openTracing(
  stack: AsyncDisposableStack,
  access: TracingAccess | null,
  { thread, logger }: { readonly thread: string; readonly logger: Logger },
): Promise<void> {
  if (access === null) return;
  const { createOtlpTracer } = await import('#adapters/tracing/otlp.ts');
  const resource = { ...access.resource, 'svc.thread': thread };
  const tracer = stack.use(createOtlpTracer({ ...access, resource, logger }));
  useTracer(tracer);
  stack.defer(() => useTracer(null));
}

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
