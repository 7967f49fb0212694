import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { CommandFailure } from './exit.ts';
import type { Output } from './output.ts';
import type { OwnPackage } from './package.ts';

type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

const lockFiles: readonly (readonly [string, PackageManager])[] = [
  ['package-lock.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

interface Updates {
  /** Otherwise only warns. */
  readonly mayUpdate: boolean;
  readonly output: Output;
}

/**
 * Ensures that the project's package.json has this package and the exact zod of the sandbox; writes and installs
 * differences, unless updates are off (docs/reference/cli.md#project).
 */
export function alignDependencies(root: string, own: OwnPackage, updates: Updates): void {
  const manifest = readManifest(root);
  addDependencies(root, manifest, wrongDependencies(root, own, manifest), updates);
}

/** Ensures that package.json has any version of vitest; writes and installs it if missing. */
export function alignTestRunner(root: string, updates: Updates): void {
  const manifest = readManifest(root);
  const groups = ['dependencies', 'devDependencies'].map((group) => objectOf(manifest[group]));
  if (groups.some((group) => 'vitest' in group)) return;
  addDependencies(root, manifest, [['vitest', vitestVersion]], updates);
}

/** The version of vitest that generated tests were tested with. */
export const vitestVersion = '5.1.1';

function addDependencies(
  root: string,
  manifest: JsonObject,
  wanted: PackageSpecs,
  { mayUpdate, output }: Updates,
): void {
  if (wanted.length === 0) return;
  const list = listed(wanted);
  if (!mayUpdate) {
    output.note(output.paint('yellow', `warn - package.json should have ${list}`));
    return;
  }
  const present = objectOf(manifest['devDependencies']);
  const changed = { ...manifest, devDependencies: { ...present, ...Object.fromEntries(wanted) } };
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(changed, null, 2)}\n`);
  output.note(`Updated package.json: ${list}`);
  installDependencies(root, output);
}

/** What package.json lacks, as text; empty when it is complete. */
export function missingDependencies(root: string, own: OwnPackage): string {
  return listed(wrongDependencies(root, own, readManifest(root)));
}

type PackageSpecs = readonly (readonly [name: string, spec: string])[];

const wrongDependencies = (root: string, own: OwnPackage, manifest: JsonObject): PackageSpecs =>
  Object.entries(wantedDependencies(root, own)).filter(
    ([name, wanted]) => !isSatisfied(root, own, manifest, name, wanted),
  );

const listed = (wanted: PackageSpecs): string =>
  wanted.map(([name, spec]) => `${name} ${spec}`).join(', ');

/** Functions import this name, whichever name the package has in a registry: in a project it is an alias. */
export const dependencyName = 'svc';

/** The development dependencies that a project needs. */
export const wantedDependencies = (
  root: string,
  own: OwnPackage,
): { readonly [dependencyName]: string; readonly zod: string } => ({
  [dependencyName]: ownSpec(root, own),
  zod: own.zodVersion,
});

/** A checkout is linked. An installed package is installed from where it came: a packed file, or a registry. */
function ownSpec(root: string, own: OwnPackage): string {
  const modules = own.root.lastIndexOf(`${sep}node_modules${sep}`);
  if (modules < 0) return `file:${pathFrom(root, own.root)}`;
  const installation = own.root.slice(0, modules);
  const file = packedFile(installation, pathFrom(installation, own.root));
  if (file === undefined) return `npm:${own.name}@${own.version}`;
  return `file:${pathFrom(root, resolve(installation, file))}`;
}

const pathFrom = (root: string, path: string): string =>
  relative(realpathSync(root), path).split(sep).join('/');

/** The packed file that npm installed `name` from, relative to the installation. */
function packedFile(installation: string, name: string): string | undefined {
  const path = join(installation, 'node_modules/.package-lock.json');
  if (!existsSync(path)) return undefined;
  const { packages } = JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
  const { resolved } = objectOf(objectOf(packages)[name]);
  return typeof resolved === 'string' && resolved.startsWith('file:')
    ? resolved.slice('file:'.length)
    : undefined;
}

function isSatisfied(
  root: string,
  own: OwnPackage,
  manifest: JsonObject,
  name: string,
  wanted: string,
): boolean {
  const specs = ['dependencies', 'devDependencies'].flatMap((group) => {
    const value = objectOf(manifest[group])[name];
    return typeof value === 'string' ? [value] : [];
  });
  if (name !== dependencyName || specs.includes(wanted)) return specs.includes(wanted);
  // When installed from a packed file, the package is inside the project.
  if (specs.length > 0 && own.root.startsWith(realpathSync(root) + sep)) return true;
  return specs.some((value) => value.startsWith('file:') && isFolder(root, value, own));
}

function isFolder(root: string, spec: string, own: OwnPackage): boolean {
  const folder = resolve(root, spec.slice('file:'.length));
  return existsSync(folder) && realpathSync(folder) === realpathSync(own.root);
}

/** The project's package.json. @throws CommandFailure if it is no JSON object */
export function readManifest(root: string): JsonObject {
  const path = join(root, 'package.json');
  if (!existsSync(path)) return { private: true, type: 'module' };
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Json;
    if (isJsonObject(manifest)) return manifest;
  } catch {
    // Reported below: to the user an unreadable manifest and one that is no object are the same.
  }
  throw new CommandFailure('package.json is not a JSON object');
}

/** @throws CommandFailure when the package manager fails */
export function installDependencies(root: string, output: Output): void {
  const manager = packageManager(root);
  output.note(`Installing dependencies with ${manager}`);
  const { status, error } = spawnSync(manager, ['install'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  const reason = error === undefined ? '' : `: ${error.message}`;
  throw new CommandFailure(`${manager} install failed${reason}`);
}

/** `packageManager` of package.json, otherwise by the lock file, otherwise npm. */
function packageManager(root: string): PackageManager {
  const named = readManifest(root)['packageManager'];
  const name = typeof named === 'string' ? named.split('@')[0] : undefined;
  const existing = lockFiles.find(([, manager]) => manager === name);
  const locked = lockFiles.find(([file]) => existsSync(join(root, file)));
  return (existing ?? locked)?.[1] ?? 'npm';
}
