import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The service's own programs (`src/<name>.ts`), each with its options of Node. */
export const programs = {
  main: ['--max-semi-space-size=16', '--disable-warning=TimeoutNegativeWarning'],
  log: [],
  keys: [],
  upgrade: [],
} as const;

export type Program = keyof typeof programs;

/** Runs one of the service's own programs in the user's current folder. Resolves with its exit code. */
export function runProgram(
  root: string,
  program: Program,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<number> {
  const entry = fileURLToPath(new URL(`../${program}${extname(import.meta.url)}`, import.meta.url));
  return runNode(root, [...programs[program], entry, ...args], signal);
}

/**
 * Runs a script on this Node as a child process. It is asked to end when the signal aborts or this process is, once:
 * a second request would end it at once.
 */
export async function runNode(
  root: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  const ending = new AbortController();
  const end = (): void => ending.abort();
  ending.signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  signal?.addEventListener('abort', end);
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, end);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    signal?.removeEventListener('abort', end);
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, end);
  }
}
