#!/usr/bin/env node
// Starts the command line under the Node of this package's own dependency, because the user's Node may be older.
// Plain JavaScript that Node 20 runs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/** The built program of a packed package, otherwise the TypeScript source of the repository. */
function program() {
  const built = join(root, 'dist', 'src', 'cli', 'main.js');
  const source = join(root, 'src', 'cli', 'main.ts');
  return existsSync(source) && !root.includes('node_modules') ? source : built;
}

/** The oldest that runs the programs. */
const nodeMajorMin = 24;

/** The executable of a dependency: of the packed package for its platform, otherwise `node`; null without one. */
function installedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  for (const name of [`node-${platform}-${process.arch}`, 'node']) {
    try {
      const executable = join(dirname(require.resolve(`${name}/package.json`)), 'bin', file);
      if (existsSync(executable)) return executable;
    } catch {
      // Not installed.
    }
  }
  return null;
}

/** Otherwise this process's own executable, if it is new enough. */
function node() {
  const installed = installedNode();
  if (installed !== null) return installed;
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) return process.execPath;
  console.error(
    `svc needs Node ${nodeMajorMin}, and this is ${process.version}: its own was not installed. ` +
      `Install Node ${nodeMajorMin}, or install the package with its optional dependencies.`,
  );
  process.exit(1);
}

/** Compile cache of Node, with which the next command starts in half the time. */
function compiled() {
  const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return process.env.NODE_COMPILE_CACHE ?? join(caches, 'svc', 'compiled');
}

const child = spawn(node(), [program(), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, NODE_COMPILE_CACHE: compiled() },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`Could not start Node: ${error.message}`);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : signal === 'SIGINT' ? 130 : 1;
});
