import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { logFile } from '../adapters/event-log/embedded/tables.ts';
import { CannotStart } from '../kernel/cannot-start.ts';

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
export function mustHaveItsLog({ log, state, views, tables }: Folders): void {
  const file = logFile(log);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
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
