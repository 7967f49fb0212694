import type { Logger } from 'pino';
import type { Clock } from '#kernel/time.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';

/** What most parts of a process need of the world. */
export interface Ports {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly logger: Logger;
}
