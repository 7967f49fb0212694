import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { forgetEnds, missingMessages } from '#adapters/event-log/embedded/acknowledged-ends.ts';
import { lockDirectory } from '#adapters/event-log/embedded/tables.ts';
import type { Config } from '../config/config.ts';
import { foldersOf, makeFolders, mustHaveItsLog } from '../process/folders.ts';

export interface AcceptedLoss {
  /** By partition, the first and the last lost offset; empty where only derived data has them (or the log is in Kafka). */
  readonly lost: Readonly<Record<string, readonly [from: number, to: number]>>;
  /** What the next start makes of the log again. */
  readonly removed: readonly string[];
}

/**
 * Accepts that the log lacks messages: removes the evidence and everything that was derived from them, which would
 * otherwise be taken for what the log writes at the same offsets later. Run again after a kill, it ends what was begun.
 * @throws CannotStart if there is no log; GatewayError `conflict` while a process has the folder, `log_corrupt`
 */
export function acceptLoss({ dataDir, logUrl, snapshotDir }: Config): AcceptedLoss {
  const folders = foldersOf(dataDir);
  const isEmbedded = logUrl.kind === 'embedded';
  if (isEmbedded) mustHaveItsLog(folders);
  makeFolders(folders);
  using _lock = isEmbedded ? lockOf(folders.log) : null;
  const gaps = isEmbedded ? missingMessages(folders.log) : [];
  const snapshots =
    snapshotDir === null
      ? []
      : globSync('*/records-*.db', { cwd: snapshotDir }).map((name) => join(snapshotDir, name));
  const removed = [folders.state, folders.views, folders.tables, ...snapshots];
  for (const path of removed) rmSync(path, { recursive: true, force: true });
  makeFolders(folders);
  // Last: until then a start is refused.
  if (isEmbedded) forgetEnds(folders.log);
  return {
    lost: Object.fromEntries(gaps.map(({ name, from, to }) => [name, [from, to]])),
    removed,
  };
}

function lockOf(directory: string): Disposable {
  const lock = lockDirectory(directory);
  return { [Symbol.dispose]: () => lock.close() };
}
