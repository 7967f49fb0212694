import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inheritedEnv } from './deployment.ts';

const entry = fileURLToPath(new URL('../../../dist/src/log.js', import.meta.url));
const run = promisify(execFile);

export interface Transferred {
  readonly event: string;
  readonly topics: number;
  readonly messages: number;
  /** Of a backup or a restore. */
  readonly id: string;
  readonly made_at: string;
  readonly bytes: number;
  readonly restored: number;
}

/**
 * Runs `svc log` on the log of a data folder in a process of its own.
 * @param before the words that start it, such as `nice -n 19`
 * @throws Error with what it says
 */
export async function transfer(
  direction: 'export' | 'import' | 'repartition' | 'backup' | 'verify' | 'restore',
  what: string | readonly string[],
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<Transferred> {
  const settings = { ...inheritedEnv(), SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'warn' };
  const [command = '', ...words] = [
    ...before,
    process.execPath,
    entry,
    direction,
    ...[what].flat(),
  ];
  const { stdout } = await run(command, words, {
    env: { ...settings, ...env },
  });
  return JSON.parse(stdout) as Transferred;
}
