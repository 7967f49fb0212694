import { randomUUID } from 'node:crypto';
import { createThreadMetrics, type ThreadMetrics } from '#adapters/metrics/prometheus.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import { keysTopic } from '#modules/access/vault/key-log.ts';
import type { RootKey } from '#modules/access/vault/root-keys.ts';
import { makeRootKeyFile, readRootKeys } from '#modules/access/vault/root-keys.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Config } from '../config/config.ts';
import { hasLog, makeFolders, mustHaveItsLog, type Folders } from './folders.ts';
import type { LogCorruption } from './log-corruption.ts';
import { createLogger } from './logger.ts';
import { observeLog } from './observe-log.ts';
import { openMainLog, refuseTaken, type MainLog } from './open-log.ts';
import { openTracing, tracingAccess, type TracingAccess } from './open-tracing.ts';
import { copyFolders } from './read-only.ts';
import { startOnLog, type Start } from './start-on-log.ts';
import { topicSpecs } from './topics.ts';

/** What the parts of the main thread share. */
export interface ProcessContext extends ProcessPorts {
  readonly config: Config;
  readonly folders: Folders;
  readonly corruption: LogCorruption;
  readonly rootKeys: readonly RootKey[];
  readonly log: MainLog;
  readonly start: Pick<Start, 'run'>;
  readonly metrics: ThreadMetrics;
  /** Null: tracing is off. */
  readonly tracing: TracingAccess | null;
  /** Unique name of this process; another one after a restart. */
  readonly node: string;
}

/** Opens the log and creates its topics; a process that only reads must find them. */
export async function openProcessContext(
  stack: AsyncDisposableStack,
  config: Config,
  input: Pick<ProcessContext, 'folders' | 'corruption'>,
): Promise<ProcessContext> {
  const clock = systemClock;
  const { corruption } = input;
  const logger = createLogger(config.logLevel, 'main');
  const folders = await prepareFolders(stack, config, input.folders);
  const metrics = createThreadMetrics('main');
  const node = randomUUID();
  const tracing = tracingAccess(config, node);
  await openTracing(stack, tracing, { thread: 'main', logger });
  const opened = await openMainLog(stack, config, { folders, corruption, clock, logger, node });
  const start = startOnLog(opened, logger);
  await start.log.ensureTopics(topicSpecs(config.partitions)).catch((error: unknown) => {
    if (isRefusal(error, 'conflict')) throw otherTopics(error, config);
    if (isRefusal(error, 'unknown_topic') && config.readOnly === 'yes') {
      throw nothingToRead(error.message, error);
    }
    throw error;
  });
  const rootKeys = config.encryptionKey ?? (await rootKeysOf(start.log, config, folders));
  const { schemas } = start;
  const log = { ...opened, schemas, log: observeLog(start.log, metrics, 'main') };
  return {
    config,
    clock,
    logger,
    folders,
    corruption,
    rootKeys,
    log,
    start,
    metrics,
    tracing,
    node,
  };
}

/** @returns where this process may write */
async function prepareFolders(
  stack: AsyncDisposableStack,
  { logUrl, readOnly }: Config,
  folders: Folders,
): Promise<Folders> {
  if (logUrl.kind === 'embedded') mustHaveItsLog(folders);
  if (logUrl.kind !== 'embedded' || readOnly === 'no') {
    makeFolders(folders);
    return folders;
  }
  if (!hasLog(folders)) throw nothingToRead(`${folders.log} has no event log.`);
  return copyFolders(stack, folders).catch(refuseTaken);
}

const isRefusal = (error: unknown, code: ErrorCode): error is GatewayError =>
  error instanceof GatewayError && error.code === code;

function nothingToRead(reason: string, cause?: GatewayError): CannotStart {
  const message = `SVC_READ_ONLY: ${reason} Name the data folder or the topic prefix of an installation that this release has started on.`;
  return new CannotStart(message, { cause });
}

function otherTopics(cause: GatewayError, { partitions, logUrl }: Config): CannotStart {
  const position = logUrl.kind === 'kafka' ? 'another SVC_TOPIC_PREFIX' : 'another SVC_DATA_DIR';
  const message = `SVC_PARTITIONS is ${partitions}, or the topics of the log have other settings than this release gives them: ${cause.message} Set the number of partitions that the log has (\`svc log repartition\` makes more of them), or use ${position}.`;
  return new CannotStart(message, { cause });
}

/**
 * The root keys in the file. It is created only while the log is new: a new key could not open what is sealed
 * there.
 */
async function rootKeysOf(
  log: EventLog,
  { readOnly }: Config,
  { rootKeyFile: file }: Folders,
): Promise<readonly RootKey[]> {
  const isNew = readOnly === 'no' && (await log.endOffset(keysTopic, 0)) === 0;
  if (isNew) makeRootKeyFile(file);
  return readRootKeys(file);
}
