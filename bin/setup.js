// Installs the dependencies when they are missing or differ from the lockfile. Plain JavaScript: it runs on
// the Node that npm itself runs on, before the project's own Node is there.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const wanted = packages(join(root, 'package-lock.json'));
const installed = packages(join(root, 'node_modules', '.package-lock.json'));

/** Version of each package that a lockfile lists, by path, without optional ones of other platforms. */
function packages(file) {
  if (!existsSync(file)) return null;
  const entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages);
  const needed = entries.filter(([path, { optional }]) => path !== '' && optional !== true);
  return new Map(needed.map(([path, { version }]) => [path, version]));
}

const isCurrent =
  installed !== null && [...wanted].every(([path, version]) => installed.get(path) === version);

if (!isCurrent) {
  console.error('Installing the dependencies (npm install) …');
  // Not `npm ci`: it fails where a registry lacks an optional package of another platform.
  const args = ['install', '--no-save', '--no-fund', '--no-audit', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
  process.exit(status ?? 1);
}
