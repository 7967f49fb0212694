import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the embedded parts keep their files, under SVC_DATA_DIR. Only `log` and the root key are truth. */
export interface Folders {
  readonly log: string;
  readonly state: string;
  readonly views: string;
  readonly tables: string;
  readonly rootKeyFile: string;
}

/** Makes the folders that are missing, for this user alone. */
export function makeFolders(dataDir: string): Folders {
  const root = resolve(dataDir);
  const folders = {
    log: join(root, 'log'),
    state: join(root, 'state'),
    views: join(root, 'views'),
    tables: join(root, 'clickhouse'),
  };
  for (const folder of [root, ...Object.values(folders)])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { ...folders, rootKeyFile: join(root, 'root.key') };
}
