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

/** The executable of the dependency `node`; this process's own if it is not installed. */
function node() {
  try {
    const folder = dirname(require.resolve('node/package.json'));
    const file = process.platform === 'win32' ? 'node.exe' : 'node';
    const executable = join(folder, 'bin', file);
    return existsSync(executable) ? executable : process.execPath;
  } catch {
    return process.execPath;
  }
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
