import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { logFile } from '#adapters/event-log/embedded/tables.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import type { FaultPoint } from './fault-points.ts';

/** The folders of the embedded parts, under SVC_DATA_DIR. Only `log` and the root key are a source of truth. */
export interface Folders {
  readonly log: string;
  readonly state: string;
  readonly views: string;
  readonly tables: string;
  readonly rootKeyFile: string;
}

export function foldersOf(dataDir: string): Folders {
  const root = resolve(dataDir);
  return {
    log: join(root, 'log'),
    state: join(root, 'state'),
    views: join(root, 'views'),
    tables: join(root, 'clickhouse'),
    rootKeyFile: join(root, 'root.key'),
  };
}

/** Beside the folder of a log: the incomplete copy that replaces it, the complete one, and what it replaced. */
export const copying = (log: string): string => `${log}.copying`;
export const copied = (log: string): string => `${log}.copied`;
const replaced = (log: string): string => `${log}.replaced`;

/**
 * Puts the closed copy in the place of the closed log. A kill at any point leaves one or the other.
 * @param faultPoint called between the steps
 */
export function replaceLog(folders: Folders, faultPoint: FaultPoint): void {
  const reached = (): void => faultPoint('repartition:replacing');
  renameSync(copying(folders.log), copied(folders.log));
  reached();
  renameSync(folders.log, replaced(folders.log));
  reached();
  finishReplacement(folders, reached);
}

/**
 * Ends a replacement that was interrupted between the two logs, before the log is opened. What was derived from the
 * former log goes with it.
 */
export function finishReplacement(folders: Folders, reached = (): void => undefined): void {
  const { log, state, views, tables } = folders;
  if (isFilled(log) || !existsSync(copied(log))) return;
  for (const folder of [state, views, tables]) rmSync(folder, { recursive: true, force: true });
  reached();
  renameSync(copied(log), log);
  reached();
  makeFolders(folders);
  removeCopies(log);
}

/** Removes the remains of a replacement from beside the opened log. */
export function removeCopies(log: string): void {
  // Between the two logs another one was begun here: both stay.
  if (existsSync(copied(log)) && existsSync(replaced(log))) return;
  for (const name of [copying, copied, replaced]) {
    rmSync(name(log), { recursive: true, force: true });
  }
}

/** Whether the folder, or the copy that will replace it, holds a log. */
export const hasLog = ({ log }: Folders): boolean => isFilled(log) || existsSync(copied(log));

export const isFilled = (log: string): boolean =>
  (statSync(logFile(log), { throwIfNoEntry: false })?.size ?? 0) > 0;

/**
 * Creates the missing folders, accessible to this user only.
 * @throws CannotStart if that is not possible
 */
export function makeFolders({ rootKeyFile, log, state, views, tables }: Folders): void {
  for (const folder of [dirname(rootKeyFile), log, state, views, tables]) make(folder);
}

/**
 * A start without the log would create an empty one and discard all data derived from the old one.
 * @throws CannotStart if the log is missing but derived data exists
 */
export function mustHaveItsLog(folders: Folders): void {
  if (hasLog(folders)) return;
  const { log, state, views, tables } = folders;
  const file = logFile(log);
  const full = [state, views, tables].filter(holdsFiles);
  if (full.length === 0) return;
  const message = `SVC_DATA_DIR: the event log is missing. ${file} does not exist or is empty, but ${full.join(', ')} hold data derived from a log. Restore the folder ${log} from its backup, or name an empty data folder to start a new service.`;
  throw new CannotStart(message);
}

const holdsFiles = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).length > 0;

function make(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `SVC_DATA_DIR: ${folder} cannot be created (${code}); name a folder that this user may write to.`;
    throw new CannotStart(message, { cause });
  }
}
