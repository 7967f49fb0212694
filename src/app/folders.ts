import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CannotStart } from '../kernel/cannot-start.ts';

/** Where the embedded parts keep their files, under SVC_DATA_DIR. Only `log` and the root key are truth. */
export interface Folders {
  readonly log: string;
  readonly state: string;
  readonly views: string;
  readonly tables: string;
  readonly rootKeyFile: string;
}

/**
 * Makes the folders that are missing, for this user alone.
 * @throws CannotStart where that is not possible
 */
export function makeFolders(dataDir: string): Folders {
  const root = resolve(dataDir);
  const folders = {
    log: join(root, 'log'),
    state: join(root, 'state'),
    views: join(root, 'views'),
    tables: join(root, 'clickhouse'),
  };
  for (const folder of [root, ...Object.values(folders)]) make(folder);
  return { ...folders, rootKeyFile: join(root, 'root.key') };
}

function make(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `SVC_DATA_DIR: ${folder} cannot be made (${code}); name a folder that this user may write to.`;
    throw new CannotStart(message, { cause });
  }
}
