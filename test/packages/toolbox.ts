import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached } from '#test/services/cache.ts';
import { announce, run, ServiceUnavailable } from '#test/services/commands.ts';
import { versions } from '#test/services/versions.ts';

/** The folder in which a package is installed. @throws ServiceUnavailable when it cannot be fetched */
async function fetched(name: string, version: string): Promise<string> {
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

const commands = {
  publint: 'publint',
  '@arethetypeswrong/cli': 'attw',
  pnpm: 'pnpm',
  '@yarnpkg/cli-dist': 'yarn',
} as const;

/** The command of a tool. @throws ServiceUnavailable */
export async function tool(name: keyof typeof commands): Promise<string> {
  const folder = await fetched(name, versions.npm[name]);
  return join(folder, 'node_modules/.bin', commands[name]);
}

/** The compiler of a version of TypeScript. @throws ServiceUnavailable */
export const tscOf = async (version: string): Promise<string> =>
  join(await fetched('typescript', version), 'node_modules/typescript/bin/tsc');

/** The executable of a version of Node. @throws ServiceUnavailable */
export async function nodeOf(version: string): Promise<string> {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  return join(
    await fetched(name, version),
    'node_modules',
    name,
    process.platform === 'win32' ? 'bin/node.exe' : 'bin/node',
  );
}
