import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { logFile } from '../adapters/event-log/embedded/tables.ts';
import { CannotStart } from '../kernel/cannot-start.ts';

/** Where the embedded parts keep their files, under SVC_DATA_DIR. Only `log` and the root key are truth. */
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
 * Makes the folders that are missing, for this user alone.
 * @throws CannotStart where that is not possible
 */
export function makeFolders({ rootKeyFile, log, state, views, tables }: Folders): void {
  for (const folder of [dirname(rootKeyFile), log, state, views, tables]) make(folder);
}

/**
 * A log that is gone would be rebuilt, and everything that is derived from it thrown away.
 * @throws CannotStart where the log is missing beside what was derived from one
 */
export function mustHaveItsLog({ log, state, views, tables }: Folders): void {
  const file = logFile(log);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const full = [state, views, tables].filter(holdsFiles);
  if (full.length === 0) return;
  const message = `SVC_DATA_DIR: the event log is missing. There is nothing in ${file}, while ${full.join(', ')} hold what a service has derived from its log. Restore the folder ${log} from its backup, or name an empty data folder to start a new service.`;
  throw new CannotStart(message);
}

const holdsFiles = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).length > 0;

function make(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `SVC_DATA_DIR: ${folder} cannot be made (${code}); name a folder that this user may write to.`;
    throw new CannotStart(message, { cause });
  }
}
