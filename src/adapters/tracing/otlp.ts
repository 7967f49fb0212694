import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Span, SpanStart, Tracer } from '#ports/tracer.ts';
import type { SamplerName } from './samplers.ts';

export interface OtlpTracerOptions {
  /** Where the exporter posts to, with its path. Headers, time limit, compression and certificates: `OTEL_EXPORTER_OTLP_*`. */
  readonly url: string;
  readonly sampler: SamplerName;
  /** Share of traces for the ratio samplers, 0 to 1. */
  readonly ratio: number;
  /** Attributes of the process; `OTEL_RESOURCE_ATTRIBUTES` adds to them. */
  readonly resource: Readonly<Record<string, string | readonly string[]>>;
  /** `messaging.system` of spans about topics. */
  readonly messagingSystem: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Records spans and exports them in batches as protobuf over HTTP (OTLP). Spans that the collector does not accept are
 * dropped, and a log line reports it. Disposing exports the remaining spans, for a few seconds at most.
 */
export function createOtlpTracer(options: OtlpTracerOptions): Tracer & AsyncDisposable {
  const { url, resource, messagingSystem, logger } = options;
  const exporter = reporting(new OTLPTraceExporter({ url }), logger);
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
      .merge(resourceFromAttributes(mutable(resource))),
    sampler: samplerOf(options),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: exportMs })],
  });
  const spans = provider.getTracer('svc');
  return {
    start({ name, kind, parent, attributes = {} }: SpanStart): Span {
      const span = spans.startSpan(
        name,
        {
          kind: kinds[kind],
          attributes:
            'messaging.destination.name' in attributes
              ? { 'messaging.system': messagingSystem, ...attributes }
              : { ...attributes },
        },
        parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)),
      );
      return {
        traceparent: traceparentOf(span.spanContext()),
        rename: (to) => void span.updateName(to),
        set: (fields) => void span.setAttributes(fields),
        fail(type) {
          span.setAttribute('error.type', type);
          span.setStatus({ code: SpanStatusCode.ERROR });
        },
        end: () => span.end(),
      };
    },
    [Symbol.asyncDispose]: () => provider.shutdown().catch(() => undefined),
  };
}

/** How long one export, and with it the end of the process, may take. */
const exportMs = 5_000;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Of a `traceparent` of version 00. */
const contextOf = (parent: string): SpanContext => ({
  traceId: parent.slice(3, 35),
  spanId: parent.slice(36, 52),
  traceFlags: Number.parseInt(parent.slice(53, 55), 16),
  isRemote: true,
});

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

function samplerOf({ sampler, ratio }: OtlpTracerOptions): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** Logs when exports begin to fail, and when they succeed again. */
function reporting(exporter: OTLPTraceExporter, logger: OtlpTracerOptions['logger']): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const isFailure = result.error !== undefined;
        if (isFailure && !isFailing)
          logger.warn(
            { reason: result.error?.name },
            'spans are dropped until the collector accepts them',
          );
        if (!isFailure && isFailing) logger.info('the collector accepts spans again');
        isFailing = isFailure;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

const mutable = (resource: OtlpTracerOptions['resource']) =>
  Object.fromEntries(
    Object.entries(resource).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  );
