import type { MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import { openEmbeddedLogClient } from '../adapters/event-log/embedded/client.ts';
import { openEmbeddedLog, type EmbeddedLog } from '../adapters/event-log/embedded/open.ts';
import type { Clock } from '../kernel/time.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Schemas } from '../ports/schemas.ts';
import type { Config } from './config.ts';
import type { Folders } from './folders.ts';

/** How another thread of this process reaches the log: data alone, so that it can be sent there. */
export type LogAccess = {
  readonly kind: 'embedded';
  readonly directory: string;
  /** To be transferred. */
  readonly port: MessagePort;
};

/** The log and its schemas, as any thread has them. */
export interface OpenedLog {
  readonly log: EventLog;
  readonly schemas: Schemas;
}

/** The log of the main thread. */
export interface MainLog extends OpenedLog {
  /** One for each thread that needs the log. */
  access(): LogAccess;
  /** What only the embedded log wants doing. */
  readonly maintenance: EmbeddedLog['maintenance'] | null;
}

interface LogDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens what SVC_LOG_URL and SVC_REGISTRY_URL name. */
export async function openMainLog(
  stack: AsyncDisposableStack,
  _config: Config,
  { folders, clock, logger }: LogDeps & { readonly folders: Folders },
): Promise<MainLog> {
  const onCleanFailure = (err: unknown) => logger.warn({ err }, 'cleaning the log failed');
  const directory = folders.log;
  const embedded = stack.use(await openEmbeddedLog({ directory, clock, onCleanFailure }));
  const { log, schemas, maintenance } = embedded;
  const access = (): LogAccess => ({ kind: 'embedded', directory, port: embedded.connectPort() });
  return { log, schemas, access, maintenance };
}

/** Opens the log in a thread that was given access to it. */
export async function openThreadLog(
  stack: AsyncDisposableStack,
  { directory, port }: LogAccess,
  { clock }: LogDeps,
): Promise<OpenedLog> {
  return stack.use(openEmbeddedLogClient({ directory, port, clock }));
}

/** What of the access moves to the other thread instead of being copied. */
export const transferOf = ({ port }: LogAccess): readonly MessagePort[] => [port];
