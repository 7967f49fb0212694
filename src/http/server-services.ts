import type { Logger } from 'pino';
import type { Clock } from '../kernel/time.ts';
import type { Coordination } from '../ports/coordination.ts';
import type { Metrics } from '../ports/metrics.ts';

/** The services of the server itself; handlers of routes receive more. */
export interface ServerServices {
  readonly coordination: Coordination;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: { readonly rateLimitPerMinute: number };
}
