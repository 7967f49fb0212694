import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Programs of the service that work on its log: `src/<name>.ts`. */
export type LogProgram = 'log' | 'keys' | 'upgrade';

/**
 * Runs one of the service's own programs on its log, as a child process in the user's current folder. Resolves with
 * its exit code.
 */
export async function runOnLog(
  root: string,
  program: LogProgram,
  args: readonly string[],
): Promise<number> {
  const entry = fileURLToPath(new URL(`../${program}${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [entry, ...args], { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
