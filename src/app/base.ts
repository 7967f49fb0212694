import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { createThreadMetrics, type ThreadMetrics } from '../adapters/metrics/prometheus.ts';
import type { Clock } from '../kernel/time.ts';
import type { RootKey } from '../modules/credentials/root-keys.ts';
import { loadRootKeys } from '../modules/credentials/root-keys.ts';
import { systemClock } from '../kernel/time.ts';
import type { Config } from './config.ts';
import { makeFolders, type Folders } from './folders.ts';
import { createLogger } from './logger.ts';
import { observeLog } from './observe-log.ts';
import { openMainLog, type MainLog } from './open-log.ts';
import { topicSpecs } from './topics.ts';

/** What the parts of the main thread share. */
export interface Base {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly folders: Folders;
  readonly rootKeys: readonly RootKey[];
  readonly log: MainLog;
  readonly metrics: ThreadMetrics;
  /** Name of this process among those of the service; another after a restart. */
  readonly node: string;
}

/** Opens the log and makes its topics. */
export async function openBase(stack: AsyncDisposableStack, config: Config): Promise<Base> {
  const clock = systemClock;
  const logger = createLogger(config.logLevel, 'main');
  const folders = makeFolders(config.dataDir);
  const rootKeys = loadRootKeys({ setting: config.encryptionKey, file: folders.rootKeyFile });
  const metrics = createThreadMetrics('main');
  const opened = await openMainLog(stack, config, { folders, clock, logger });
  await opened.log.ensureTopics(topicSpecs(config.partitions));
  const log = { ...opened, log: observeLog(opened.log, metrics, 'main') };
  return { config, clock, logger, folders, rootKeys, log, metrics, node: randomUUID() };
}
