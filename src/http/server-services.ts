import type { Logger } from 'pino';
import type { Clock } from '../kernel/time.ts';
import type { Coordination } from '../ports/coordination.ts';
import type { Metrics } from '../ports/metrics.ts';

/** What the server itself works with; handlers of routes are given more. */
export interface ServerServices {
  readonly coordination: Coordination;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: { readonly rateLimitPerMinute: number };
}
