import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inheritedEnv } from './deployment.ts';

const programOf = (name: string): string =>
  fileURLToPath(new URL(`../../../dist/src/${name}.js`, import.meta.url));

export type Env = Readonly<Record<string, string>>;

/** A program of the service over the data folder, whose output is for the test; the gateway when none is named. */
export function spawned(
  dataDir: string,
  env: Env = {},
  program = 'main',
  args: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [programOf(program), ...args], {
    env: { ...inheritedEnv(), SVC_PORT: '0', SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What a start prints that comes to its end by itself. */
export const failedStart = (dataDir: string, env: Env = {}) => endOf(spawned(dataDir, env));

/** What `svc keys recover` prints. */
export const recoverKey = (dataDir: string, env: Env = {}) => endOf(spawned(dataDir, env, 'keys'));

/** What `svc upgrade check` prints. */
export const checkUpgrade = (dataDir: string, env: Env = {}) =>
  endOf(spawned(dataDir, env, 'upgrade'));

/** What `svc log accept-loss` prints. */
export const acceptLoss = (dataDir: string, env: Env = {}) =>
  endOf(spawned(dataDir, env, 'log', ['accept-loss']));

async function endOf(child: ChildProcess) {
  const [out, err, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}
