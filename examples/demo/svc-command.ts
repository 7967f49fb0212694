import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Gateway } from './gateway.ts';

const launcher = fileURLToPath(new URL('../../bin/svc.js', import.meta.url));
const project = fileURLToPath(new URL('../npm-releases', import.meta.url));

/** Runs the command line in the example project, as a user would. @throws Error when it fails. */
export async function svc(gateway: Gateway, args: readonly string[]): Promise<void> {
  const child = spawn(
    process.execPath,
    [launcher, ...args, '--no-interactive', '--no-dependency-update'],
    {
      cwd: project,
      env: { ...process.env, SVC_HOSTPORT: gateway.url, SVC_SECRET_KEY_DEV: gateway.key },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${String(code)}`);
}
