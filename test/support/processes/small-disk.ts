import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory of a fixed size, seen by the commands that run `within` it. */
export interface SmallDisk extends AsyncDisposable {
  /** Its path, for commands within it. */
  readonly folder: string;
  /** What comes before a command to run it within. */
  readonly within: readonly string[];
  /** Takes all the space that is left. */
  fill(): Promise<void>;
  /** Gives it back. */
  free(): Promise<void>;
}

const chunkBytes = 64 * 1024;

/**
 * In a mount namespace of its own, so that it takes no privileges and leaves nothing behind: Linux with user
 * namespaces.
 */
export async function openSmallDisk(megabytes: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-disk-'));
  const script = `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && echo mounted && exec cat`;
  const holder = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', script, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const pid = String(holder.pid);
  const filler = join('/proc', pid, 'root', folder, 'filler');
  return {
    folder,
    within: ['nsenter', '--user', '--mount', '--preserve-credentials', `--target=${pid}`],
    async fill() {
      await using file = await open(filler, 'a');
      const chunk = Buffer.alloc(chunkBytes);
      for (let size = chunkBytes; size > 0; size = Math.floor(size / 2)) {
        while (await hasWritten(() => file.write(chunk, 0, size))) continue;
      }
    },
    free: () => rm(filler),
    async [Symbol.asyncDispose]() {
      const ended = once(holder, 'exit');
      holder.stdin.end();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** False when the disk has no room for it. */
async function hasWritten(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
