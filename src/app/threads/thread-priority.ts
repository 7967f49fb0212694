import { readdirSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { getPriority, platform, setPriority } from 'node:os';
import { join } from 'node:path';

const nicenessMax = 19;
const tasks = '/proc/self/task';

/**
 * Lowers the priority of the calling thread below the main thread of the process by this many steps of niceness.
 * Only Linux has a priority per thread: elsewhere a no-op.
 */
export function lowerThreadPriority(steps: number): void {
  if (platform() === 'linux') lower(0, steps);
}

/**
 * The same for the threads of libuv's pool. ClickHouse in process runs its queries and inserts there, and its own
 * threads, which merge, inherit the niceness of the thread that starts them. Call it before opening ClickHouse.
 */
export async function lowerPoolPriority(steps: number): Promise<void> {
  if (platform() !== 'linux') return;
  // The pool starts with its first task.
  await stat(tasks);
  for (const id of readdirSync(tasks)) if (nameOf(id) === 'libuv-worker') lower(Number(id), steps);
}

/** Relative to the main thread, so that it is idempotent; never raises the priority, which requires privileges. */
function lower(thread: number, steps: number): void {
  const niceness = Math.min(nicenessMax, getPriority(process.pid) + steps);
  if (niceness > getPriority(thread)) setPriority(thread, niceness);
}

/** Null for a thread that has ended meanwhile. */
function nameOf(id: string): string | null {
  try {
    return readFileSync(join(tasks, id, 'comm'), 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
