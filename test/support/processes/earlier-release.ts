import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cached } from '#test/services/cache.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** The last commit of the release before this one. */
const commit = 'c3cac34b';

/**
 * The gateway's program of the earlier release: its sources from the history, installed and built once, and kept in the
 * cache of the services.
 * @throws Error in a clone without that commit: fetch the whole history
 */
export async function earlierRelease(): Promise<string> {
  const folder = await cached(`svc-${commit}`, async (made) => {
    await mkdir(made);
    const archive = join(made, 'source.tar');
    await run('git', ['archive', '--output', archive, commit], { cwd: repository });
    await run('tar', ['-xf', archive, '-C', made]);
    await run('npm', ['run', '-s', 'setup:runtime'], { cwd: made });
  });
  return join(folder, 'dist/src/main.js');
}
