import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from './cache.ts';
import { announce, run, ServiceUnavailable } from './commands.ts';

/** The folder in which a package is installed. @throws ServiceUnavailable when it cannot be fetched */
export async function installNpmPackage(name: string, version: string): Promise<string> {
  const entry = `npm-${name.replaceAll(/[@/]/g, '-')}-${version}`;
  return cached(entry, async (path) => {
    announce(`fetching ${name} ${version}`);
    await mkdir(path);
    await writeFile(join(path, 'package.json'), '{ "private": true }\n');
    const quiet = ['--no-fund', '--no-audit', '--loglevel=error', '--ignore-scripts'];
    try {
      await run('npm', ['install', '--no-save', ...quiet, `${name}@${version}`], { cwd: path });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ServiceUnavailable(`${name} ${version} cannot be fetched: ${reason}`);
    }
  });
}
