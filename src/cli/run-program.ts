import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processVariables } from './environment.ts';

/** The service's own programs (`src/<name>.ts`), each with its options of Node. */
export const programs = {
  main: ['--max-semi-space-size=8', '--disable-warning=TimeoutNegativeWarning'],
  log: [],
  keys: [],
  upgrade: [],
  rights: [],
  providers: ['--disable-warning=TimeoutNegativeWarning'],
} as const;

/**
 * Of glibc. Two arenas instead of one for each thread: freed memory of one thread is used by another. Buffers from 256 KiB
 * on are mappings, which go back to the system when they are freed: otherwise glibc raises that size with what is freed,
 * up to 32 MiB.
 */
export const programEnv = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '262144' } as const;

export type Program = keyof typeof programs;

/** Runs one of the service's own programs in the user's current folder. Resolves with its exit code. */
export function runProgram(
  root: string,
  program: Program,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<number> {
  const entry = fileURLToPath(new URL(`../${program}${extname(import.meta.url)}`, import.meta.url));
  const env = { ...programEnv, ...processVariables() };
  return runNode(root, [...programs[program], entry, ...args], { signal, env });
}

interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs a script on this Node as a child process. It is asked to end when the signal aborts or this process is, once:
 * a second request would end it at once.
 */
export async function runNode(
  root: string,
  args: readonly string[],
  { signal, env = processVariables() }: RunOptions,
): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env });
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
