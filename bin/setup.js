// Installs the dependencies when they are missing or differ from the lockfile, with `--runtime` only those of the
// gateway itself (`npm start`, `npm run demo`); then builds the programs (bin/build.ts). Plain JavaScript: it runs on
// the Node of npm, before the project's own Node is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isRuntime = process.argv.includes('--runtime');
const wanted = packages(join(root, 'package-lock.json'));
const installed = packages(join(root, 'node_modules', '.package-lock.json'));

/** Version of each package that a lockfile lists, by path, without optional ones of other platforms. */
function packages(file) {
  if (!existsSync(file)) return null;
  const entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages);
  const needed = entries.filter(([path, { optional, dev, devOptional }]) => {
    const isDevelopment = dev === true || devOptional === true;
    return path !== '' && optional !== true && !(isRuntime && isDevelopment);
  });
  return new Map(needed.map(([path, { version }]) => [path, version]));
}

const isCurrent =
  installed !== null && [...wanted].every(([path, version]) => installed.get(path) === version);

if (!isCurrent) {
  console.error('Installing the dependencies (npm install) …');
  // Not `npm ci`: it fails if a registry lacks an optional package of another platform.
  const args = ['install', '--no-save', '--no-fund', '--no-audit', '--loglevel=error'];
  if (isRuntime) args.push('--omit=dev');
  run('npm', args);
}
// npm has put the programs of the dependencies first on the PATH, Node among them.
run('node', ['bin/build.ts']);

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
