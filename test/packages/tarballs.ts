import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '#test/services/commands.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** The packed files, as `npm pack` names them. */
export interface Tarballs {
  readonly svc: string;
  readonly client: string;
}

/** The packages of the repository, as if they had been installed here. */
export function linkPackages(modules: string): void {
  mkdirSync(modules, { recursive: true });
  const from = join(repository, 'node_modules');
  for (const name of readdirSync(from)) symlinkSync(join(from, name), join(modules, name));
}

export const manifestOf = (root: string): string =>
  readFileSync(join(root, 'package.json'), 'utf8');

/** What a build needs and the tarball does not carry, or carries anyway. */
const builtFrom = [
  'examples/demo-provider',
  'examples/consumers',
  'templates',
  'deploy',
  'CHANGELOG.md',
  'SECURITY.md',
  'package.json',
  'package-lock.json',
];

const configs = (): string[] =>
  readdirSync(repository).filter((name) => name.startsWith('tsconfig'));

/**
 * Packs a copy of the repository below `folder`, with the scripts that `npm pack` runs.
 * @returns the packed files, in `folder`, and the copy
 */
export async function packTarballs(folder: string): Promise<Tarballs & { readonly copy: string }> {
  const copy = join(folder, 'source');
  const { files } = JSON.parse(manifestOf(repository)) as { files: string[] };
  const parts = files.filter((name) => !name.startsWith('!'));
  // With their times a build of the same sources is taken as it is.
  const options = { recursive: true, preserveTimestamps: true };
  for (const name of [...parts, ...builtFrom, ...configs()])
    cpSync(join(repository, name), join(copy, name), options);
  linkPackages(join(copy, 'node_modules'));
  const pack = async (from: string): Promise<string> => {
    const args = ['pack', '--silent', '--pack-destination', folder];
    const printed = await run('npm', args, { cwd: from });
    return join(folder, printed.trim().split('\n').at(-1) ?? '');
  };
  return { svc: await pack(copy), client: await pack(join(copy, 'dist/client')), copy };
}

/** Unpacks a tarball as the package `name` of a project. */
export async function unpack(tarball: string, modules: string, name: string): Promise<string> {
  const target = join(modules, name);
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  return target;
}
