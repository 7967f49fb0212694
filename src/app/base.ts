import type { Logger } from 'pino';
import type { EmbeddedLog } from '../adapters/event-log/embedded/open.ts';
import type { Clock } from '../kernel/time.ts';
import type { RunBodies } from '../modules/runs/bodies.ts';
import type { Config } from './config.ts';

/** What the parts of the main thread share. */
export interface Base {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly embedded: EmbeddedLog;
  readonly bodies: RunBodies;
}
