import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inheritedEnv } from './deployment.ts';

const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type Env = Readonly<Record<string, string>>;

/** A gateway over the data folder, whose output is for the test. */
export function spawned(dataDir: string, env: Env = {}): ChildProcess {
  return spawn(process.execPath, [entry], {
    env: { ...inheritedEnv(), SVC_PORT: '0', SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What a start prints that comes to its end by itself. */
export async function failedStart(dataDir: string, env: Env = {}) {
  const child = spawned(dataDir, env);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}
