import { readdirSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { getPriority, platform, setPriority } from 'node:os';
import { join } from 'node:path';

const nicenessMax = 19;
const tasks = '/proc/self/task';

/**
 * Has the calling thread go after the main thread of the process when processors are short, by so many steps
 * of niceness. Only Linux has a priority for each thread: elsewhere nothing happens.
 */
export function lowerThreadPriority(steps: number): void {
  if (platform() === 'linux') lower(0, steps);
}

/**
 * The same for the threads of libuv's pool. ClickHouse in process runs its queries and inserts there, and its own
 * threads, which merge, take over the niceness of the thread that starts them. To be called before it is opened.
 */
export async function lowerPoolPriority(steps: number): Promise<void> {
  if (platform() !== 'linux') return;
  // The pool begins with the first work for it.
  await stat(tasks);
  for (const id of readdirSync(tasks)) if (nameOf(id) === 'libuv-worker') lower(Number(id), steps);
}

/** Counted from the main thread, so that it may be done again; never up, which takes privileges. */
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
