import type { Ports } from '#control-plane/ports.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { Metrics } from '#ports/metrics.ts';

/** The services of the server itself; handlers of routes receive more. */
export interface ServerServices extends Pick<Ports, 'clock' | 'logger'> {
  readonly coordination: Coordination;
  readonly metrics: Metrics;
  readonly settings: { readonly rateLimitPerMinute: number };
}
