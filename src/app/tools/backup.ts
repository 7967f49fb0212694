import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { resolve } from 'node:path';
import { openLogSnapshot } from '#adapters/event-log/embedded/snapshot.ts';
import { lockDirectory } from '#adapters/event-log/embedded/tables.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import {
  BackupFolder,
  DamagedBackup,
  type Backup,
} from '#modules/extensions/log-transfer/backup-folder.ts';
import { takeBackup } from '#modules/extensions/log-transfer/backup.ts';
import type { Transfer } from '#modules/extensions/log-transfer/export.ts';
import { restoreLog, verifyBackups } from '#modules/extensions/log-transfer/restore.ts';
import { openTimeSnapshot } from '#modules/extensions/log-transfer/time-snapshot.ts';
import { isErasable, type LogSnapshot, type TopicSpec } from '#ports/event-log.ts';
import type { Config } from '../config/config.ts';
import { version } from '../config/version.ts';
import {
  copied,
  copying,
  finishReplacement,
  foldersOf,
  hasLog,
  makeFolders,
  type Folders,
} from '../process/folders.ts';
import { LogCorruption } from '../process/log-corruption.ts';
import { createLogger } from '../process/logger.ts';
import { openMainLog, refuseTaken } from '../process/open-log.ts';
import { topicSpecs } from '../process/topics.ts';

/** What backups and restores print. */
export interface BackupSummary {
  readonly id: string;
  readonly made_at: string;
  readonly previous: string | null;
  /** That it added. */
  readonly messages: number;
  readonly bytes: number;
}

const summaryOf = ({ id, made_at, previous, topics, bytes }: Backup): BackupSummary => {
  const added = topics.flatMap(({ parts }) => parts.map(({ messages }) => messages));
  const messages = added.reduce((sum, count) => sum + count, 0);
  return { id, made_at, previous: previous?.id ?? null, messages, bytes };
};

/** Below the service, which may be busy beside it. */
const niceness = 19;

/**
 * Adds a backup of the log of the settings to the folder. The service may be running.
 * @throws CannotStart, GatewayError
 */
export async function backUp(config: Config, path: string): Promise<BackupSummary> {
  setPriority(niceness);
  const folders = foldersOf(config.dataDir);
  const corruption = new LogCorruption(folders);
  const topics = topicSpecs(config.partitions);
  await using stack = new AsyncDisposableStack();
  try {
    const snapshot =
      config.logUrl.kind === 'embedded'
        ? stack.use(await openEmbeddedSnapshot(folders, topics))
        : await openServedSnapshot(stack, config, { folders, corruption, topics });
    const madeAt = systemClock.now();
    const folder = resolve(path);
    return summaryOf(await takeBackup({ snapshot, madeAt, folder, version: version(), topics }));
  } catch (error) {
    throw error instanceof DamagedBackup ? error : corruption.causeOf(error);
  }
}

function openEmbeddedSnapshot(folders: Folders, topics: readonly TopicSpec[]) {
  if (hasLog(folders)) {
    return openLogSnapshot({ directory: folders.log, erasable: topics.filter(isErasable) });
  }
  const message = `SVC_DATA_DIR: ${folders.log} has no event log. Name the data folder of a service.`;
  throw new CannotStart(message);
}

interface ServedInput {
  readonly folders: Folders;
  readonly corruption: LogCorruption;
  readonly topics: readonly TopicSpec[];
}

async function openServedSnapshot(
  stack: AsyncDisposableStack,
  config: Config,
  { folders, corruption, topics }: ServedInput,
): Promise<LogSnapshot> {
  const logger = createLogger(config.logLevel, 'log');
  const clock = systemClock;
  const deps = { folders, corruption, clock, logger, node: randomUUID() };
  const { log, schemas } = await openMainLog(stack, { ...config, readOnly: 'yes' }, deps);
  return openTimeSnapshot({ log, schemas, topics, clock });
}

/** Compares every backup of the folder with its checksums. @throws GatewayError `log_corrupt` */
export async function verifyFolder(path: string): Promise<readonly BackupSummary[]> {
  const folder = new BackupFolder(resolve(path));
  const last = (await folder.list()).at(-1);
  if (last === undefined) {
    throw new GatewayError('invalid_request', { message: `${path} has no backup.` });
  }
  const chain = await folder.chain(last);
  await verifyBackups(folder.path, chain);
  return chain.map(summaryOf);
}

export interface RestoreResult extends BackupSummary {
  /** That were written into the log. */
  readonly restored: number;
}

/**
 * Fills the log of the settings, which must be empty, with a backup of the folder. An embedded log is there only when it is
 * complete; what was derived from another one is removed.
 * @param at a time or the id of a backup; null: the last one
 * @throws CannotStart, GatewayError
 */
export async function restore(
  config: Config,
  path: string,
  at: string | null,
  progress: Transfer['progress'],
): Promise<RestoreResult> {
  const folders = foldersOf(config.dataDir);
  const isEmbedded = config.logUrl.kind === 'embedded';
  if (isEmbedded && hasLog(folders)) {
    const message = `${folders.log} already contains a log: name an empty data folder in SVC_DATA_DIR.`;
    throw new GatewayError('conflict', { message });
  }
  makeFolders(folders);
  const lock = isEmbedded ? lockOf(folders.log) : null;
  const target = isEmbedded ? copying(folders.log) : folders.log;
  let result: RestoreResult;
  try {
    if (isEmbedded) rmSync(target, { recursive: true, force: true });
    result = await fill({ config, target, path: resolve(path), at, progress });
  } finally {
    lock?.close();
  }
  if (isEmbedded) {
    renameSync(target, copied(folders.log));
    // An empty folder with the lock.
    rmSync(folders.log, { recursive: true });
    finishReplacement(folders);
  }
  return result;
}

function lockOf(log: string) {
  try {
    return lockDirectory(log);
  } catch (error) {
    return refuseTaken(error);
  }
}

interface RestoreInput {
  readonly config: Config;
  /** Folder of the log. */
  readonly target: string;
  readonly path: string;
  readonly at: string | null;
  readonly progress: Transfer['progress'];
}

async function fill({ config, target, path, at, progress }: RestoreInput): Promise<RestoreResult> {
  await using stack = new AsyncDisposableStack();
  const folders = { ...foldersOf(config.dataDir), log: target };
  const corruption = new LogCorruption(folders);
  const logger = createLogger(config.logLevel, 'log');
  const deps = { folders, corruption, clock: systemClock, logger, node: randomUUID() };
  const { log, schemas } = await openMainLog(stack, config, deps);
  const topics = topicSpecs(config.partitions);
  const { backup, messages } = await restoreLog({ log, schemas, topics, progress }, path, at);
  return { ...summaryOf(backup), restored: messages };
}
