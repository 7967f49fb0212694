import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { systemClock } from '#kernel/time.ts';
import { exportLog, type Transfer } from '#modules/extensions/log-transfer/export.ts';
import { importLog } from '#modules/extensions/log-transfer/import.ts';
import type { Manifest } from '#modules/extensions/log-transfer/manifest.ts';
import type { Config } from '../config/config.ts';
import { version } from '../config/version.ts';
import { foldersOf, makeFolders, mustHaveItsLog } from '../process/folders.ts';
import { LogCorruption } from '../process/log-corruption.ts';
import { createLogger } from '../process/logger.ts';
import { openMainLog } from '../process/open-log.ts';
import { topicSpecs } from '../process/topics.ts';

const directions = { export: exportLog, import: importLog } as const;
export type Direction = keyof typeof directions;

export const isDirection = (word: string | undefined): word is Direction =>
  word !== undefined && Object.hasOwn(directions, word);

/** Exports the log of the settings to the folder, or imports it from there. No process of the service may run. */
export async function transferLog(
  config: Config,
  direction: Direction,
  folder: string,
  progress: Transfer['progress'],
): Promise<Manifest> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock;
  const logger = createLogger(config.logLevel, 'log');
  const folders = foldersOf(config.dataDir);
  if (direction === 'export' && config.logUrl.kind === 'embedded') mustHaveItsLog(folders);
  makeFolders(folders);
  const corruption = new LogCorruption(folders);
  const deps = { folders, corruption, clock, logger, node: randomUUID() };
  const { log, schemas } = await openMainLog(stack, config, deps).catch((error: unknown) => {
    throw corruption.causeOf(error);
  });
  const topics = topicSpecs(config.partitions);
  const transfer = { log, schemas, clock, topics, progress, version: version() };
  return await directions[direction]({ ...transfer, folder: resolve(folder) });
}
