import type { Logger } from 'pino';
import type { SamplerName } from '#adapters/tracing/samplers.ts';
import { useTracer } from '#control-plane/trace.ts';
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
