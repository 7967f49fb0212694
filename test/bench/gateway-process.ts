import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { programEnv, programs } from '#cli/run-program.ts';
import { inheritedEnv } from '#test/support/processes/deployment.ts';
import { treeCpuMs } from '#test/support/processes/processor-time.ts';
import type { Env } from '#test/support/processes/starts.ts';
import type { Api } from './paged-provider.ts';

/** A gateway in a process of its own, as `npm start` starts it. */
export interface GatewayProcess extends Api, AsyncDisposable {
  readonly pid: number;
  /** From its start to its line `ready`. */
  readonly ms: number;
  readonly cpuMs: number;
}

export async function startGatewayProcess(dataDir: string, env: Env = {}): Promise<GatewayProcess> {
  const key = `svc_env_${randomBytes(32).toString('base64url')}`;
  const program = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
  const began = performance.now();
  const child = spawn(process.execPath, [...programs.main, program], {
    env: {
      ...inheritedEnv(),
      ...programEnv,
      SVC_PORT: '0',
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'warn',
      SVC_BOOTSTRAP_KEY_DEV: key,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const pid = child.pid ?? 0;
  let out = '';
  for await (const text of child.stdout.iterator({ destroyOnReturn: false })) {
    out += String(text);
    if (out.includes('"event":"ready"') && out.endsWith('\n')) break;
  }
  const ms = performance.now() - began;
  const [ready] = out.split('\n').filter((line) => line.includes('"event":"ready"'));
  if (ready === undefined) throw new Error(`The gateway did not start:\n${out}`);
  child.stdout.resume();
  return {
    pid,
    ms,
    cpuMs: treeCpuMs(pid),
    ...{ url: (JSON.parse(ready) as { url: string }).url, key },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
