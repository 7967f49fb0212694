import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Outside the repository, so that a clean clone does not fetch again. */
const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'svc-test-services');

/** Where the entry is, or would be. */
export const cachePath = (name: string): string => join(cacheFolder(), name);

/**
 * The entry of the cache, made on first use. It is made aside and renamed when whole, so that what was
 * broken off is never taken; of two processes that make it at once the first wins.
 */
export async function cached(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const target = cachePath(name);
  if (existsSync(target)) return target;
  await mkdir(cacheFolder(), { recursive: true });
  const aside = await mkdtemp(`${target}.`);
  try {
    const made = join(aside, 'made');
    await make(made);
    await rename(made, target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return target;
}
