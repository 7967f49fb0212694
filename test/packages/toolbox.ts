import { join } from 'node:path';
import { installNpmPackage } from '#test/services/npm-package.ts';
import { versions } from '#test/services/versions.ts';

const commands = {
  publint: 'publint',
  '@arethetypeswrong/cli': 'attw',
  pnpm: 'pnpm',
  '@yarnpkg/cli-dist': 'yarn',
} as const;

/** The command of a tool. @throws ServiceUnavailable */
export async function tool(name: keyof typeof commands): Promise<string> {
  const folder = await installNpmPackage(name, versions.npm[name]);
  return join(folder, 'node_modules/.bin', commands[name]);
}

/** The compiler of a version of TypeScript. @throws ServiceUnavailable */
export const tscOf = async (version: string): Promise<string> =>
  join(await installNpmPackage('typescript', version), 'node_modules/typescript/bin/tsc');

/** The executable of a version of Node. @throws ServiceUnavailable */
export async function nodeOf(version: string): Promise<string> {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  return join(
    await installNpmPackage(name, version),
    'node_modules',
    name,
    process.platform === 'win32' ? 'bin/node.exe' : 'bin/node',
  );
}
