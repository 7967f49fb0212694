import { hostname } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import { openEmbeddedLogClient } from '#adapters/event-log/embedded/client.ts';
import { openEmbeddedLog, type EmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { controlTopic } from '#control-plane/message-codec.ts';
import type { LogPorts, ProcessPorts } from '#control-plane/ports.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isErasable, type EventLog } from '#ports/event-log.ts';
import { kafkaAccessOptions, maskedUrl, type KafkaAccess } from '../config/addresses.ts';
import { roles as allRoles } from '../config/config-rules.ts';
import type { Config } from '../config/config.ts';
import { release } from '../config/version.ts';
import { finishReplacement, removeCopies, type Folders } from './folders.ts';
import type { LogCorruption } from './log-corruption.ts';
import { readOnlyLog } from './read-only.ts';
import { retryStartup } from './retry-startup.ts';
import { topicSpecs } from './topics.ts';

interface CommonAccess {
  /** Whether this process only reads (SVC_READ_ONLY). */
  readonly isReadOnly: boolean;
}

interface EmbeddedAccess extends CommonAccess {
  readonly kind: 'embedded';
  readonly directory: string;
  /** Transferred to the other thread. */
  readonly port: MessagePort;
}

interface ServerAccess extends CommonAccess, KafkaAccess {
  readonly registryUrl: string;
  readonly prefix: string;
  /** Client id of the process at the brokers, without its thread. */
  readonly client: string;
  readonly replication: number | null;
}

/** How another thread of this process reaches the log: plain data, so that it can be sent there. */
export type LogAccess = EmbeddedAccess | ServerAccess;

/** The log and its schemas, the same in every thread. */
export type OpenedLog = LogPorts;

/** The servers that the log depends on, by their names in messages. */
export interface Servers {
  readonly kafka: string;
  readonly registry: string;
  /** Null while a broker answers. */
  outage(): { readonly ms: number; readonly error: unknown } | null;
}

/** The log with its servers; null: it is embedded. */
export interface ServedLog extends OpenedLog {
  readonly servers: Servers | null;
}

/** The log of the main thread. */
export interface MainLog extends ServedLog {
  /** One per thread that needs the log. */
  access(): LogAccess;
  /** Maintenance of the embedded log. */
  readonly maintenance: EmbeddedLog['maintenance'] | null;
}

interface LogDeps extends ProcessPorts {
  /** Name of the thread, the last part of its client id at the brokers. */
  readonly thread: string;
}

interface MainLogDeps extends Omit<LogDeps, 'thread'> {
  /** Unique name of this process. */
  readonly node: string;
  readonly folders: Folders;
  readonly corruption: LogCorruption;
}

/**
 * Opens the log and the registry of SVC_LOG_URL and SVC_REGISTRY_URL; waits for servers.
 * @throws CannotStart that names the unreachable server, or when another process holds the folder
 */
export async function openMainLog(
  stack: AsyncDisposableStack,
  config: Config,
  deps: MainLogDeps,
): Promise<MainLog> {
  const server = serverAccess(config, deps.node);
  if (server === null) return openEmbedded(stack, config, deps);
  const { logger } = deps;
  const opened = await openServer(stack, server, { ...deps, thread: 'main' });
  const request = () => opened.schemas.codec(controlTopic);
  await retryStartup(opened.servers.registry, request, { logger });
  return { ...opened, access: () => server, maintenance: null };
}

async function openEmbedded(
  stack: AsyncDisposableStack,
  { partitions, readOnly }: Pick<Config, 'partitions' | 'readOnly'>,
  { folders, corruption, clock, logger }: MainLogDeps,
): Promise<MainLog> {
  const erasable = topicSpecs(partitions).filter(isErasable);
  const onCleanFailure = (err: unknown) => logger.warn({ err }, 'cleaning the log failed');
  const onEndsDamaged = (reason: string) =>
    logger.warn({ reason }, 'the event log is not verified');
  const onCorruption = (message: string) => corruption.found(message);
  const directory = folders.log;
  finishReplacement(folders);
  const embedded = stack.use(
    await openEmbeddedLog({
      directory,
      clock,
      erasable,
      release: release(),
      onCleanFailure,
      onEndsDamaged,
      onCorruption,
    }).catch(refuseTaken),
  );
  removeCopies(directory);
  const { log, schemas, maintenance } = embedded;
  const isReadOnly = readOnly === 'yes';
  const access = (): LogAccess => ({
    kind: 'embedded',
    isReadOnly,
    directory,
    port: embedded.connectPort(),
  });
  return { log: openedFor({ isReadOnly }, log), schemas, servers: null, access, maintenance };
}

const openedFor = ({ isReadOnly }: CommonAccess, log: EventLog): EventLog =>
  isReadOnly ? readOnlyLog(log) : log;

/** @throws CannotStart for a folder that another process holds; any other error as it is */
export function refuseTaken(error: unknown): never {
  throw isTaken(error) ? takenBy(error) : error;
}

const isTaken = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'conflict';

function takenBy(cause: GatewayError): CannotStart {
  const message = `SVC_DATA_DIR: ${cause.message} Stop that one, or choose another folder.`;
  return new CannotStart(message, { cause });
}

function serverAccess(config: Config, node: string): ServerAccess | null {
  const { logUrl, registryUrl, topicPrefix: prefix, kafkaReplication: replication } = config;
  if (logUrl.kind === 'embedded' || registryUrl.kind === 'embedded') return null;
  const client = clientOf(config, node);
  const isReadOnly = config.readOnly === 'yes';
  return { ...logUrl, isReadOnly, registryUrl: registryUrl.url, prefix, replication, client };
}

/** Roles, host and process: brokers show it in their metrics and logs, and quotas may name it. */
export function clientOf(
  { topicPrefix, roles }: Pick<Config, 'topicPrefix' | 'roles'>,
  node: string,
): string {
  const role = roles.size === allRoles.length ? 'all' : [...roles].join('-');
  return [topicPrefix, role, hostname(), node.slice(0, 8)].join('.');
}

/** Waits for a broker. Loads the clients of the servers, which the embedded log does not need. */
async function openServer(
  stack: AsyncDisposableStack,
  access: ServerAccess,
  { clock, logger, thread }: LogDeps,
): Promise<ServedLog & { readonly servers: Servers }> {
  const [{ openKafkaLog }, { openRegistrySchemas }, { readWithSchemas }] = await Promise.all([
    import('#adapters/event-log/kafka/open.ts'),
    import('#adapters/event-log/registry/open.ts'),
    import('#adapters/event-log/registry/open.ts'),
  ]);
  const { brokers, prefix, replication, client, registryUrl: url } = access;
  const options = {
    ...kafkaAccessOptions(access),
    prefix,
    clientId: `${client}.${thread}`,
    clock,
    logger,
    ...(replication === null ? {} : { replication }),
  };
  const name = `Kafka at ${brokers.join(', ')}`;
  const kafka = stack.use(await retryStartup(name, () => openKafkaLog(options), { logger }));
  const schemas = openRegistrySchemas({ url, prefix, logger });
  const registry = `the schema registry at ${maskedUrl(url)}`;
  const servers = { kafka: name, registry, outage: () => kafka.outage() };
  const log = readWithSchemas(kafka.log, schemas, logger);
  return { log: openedFor(access, log), schemas, servers };
}

/** Opens the log in a thread from its access data. */
export async function openThreadLog(
  stack: AsyncDisposableStack,
  access: LogAccess,
  deps: LogDeps & { readonly onCorruption: (message: string) => void },
): Promise<ServedLog> {
  if (access.kind === 'kafka') return openServer(stack, access, deps);
  const { directory, port } = access;
  const { clock, onCorruption } = deps;
  const { log, schemas } = stack.use(
    openEmbeddedLogClient({ directory, port, clock, onCorruption }),
  );
  return { log: openedFor(access, log), schemas, servers: null };
}

/** The part of the access that is transferred instead of copied. */
export const transferOf = (access: LogAccess): readonly MessagePort[] =>
  access.kind === 'embedded' ? [access.port] : [];
