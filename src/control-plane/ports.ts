import type { Logger } from 'pino';
import type { Clock } from '#kernel/time.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';

/** The log and the schemas of its topics. */
export interface LogPorts {
  readonly log: EventLog;
  readonly schemas: Schemas;
}

export interface ProcessPorts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What most parts of a process need of the world. */
export type Ports = LogPorts & ProcessPorts;
