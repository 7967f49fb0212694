import type { ProcessPorts } from '#control-plane/ports.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { Metrics } from '#ports/metrics.ts';

export interface ServerSettings {
  readonly rateLimitPerMinute: number;
}

/** The services of the server itself; handlers of routes receive more. */
export interface ServerServices extends ProcessPorts {
  readonly coordination: Coordination;
  readonly metrics: Metrics;
  readonly settings: ServerSettings;
}
