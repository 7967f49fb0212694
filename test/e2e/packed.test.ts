import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
/** A folder of somebody who has installed the packed tarball. */
let project: string;
let installed: string;

/** @throws Error with what was printed when the command fails */
async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'caches') };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${String(code)}\n${out}${err}`);
  return out;
}

/** The packages of the repository, as if they had been installed here. */
function linkPackages(modules: string): void {
  mkdirSync(modules, { recursive: true });
  const from = join(repository, 'node_modules');
  for (const name of readdirSync(from)) symlinkSync(join(from, name), join(modules, name));
}

const manifestOf = (root: string): string => readFileSync(join(root, 'package.json'), 'utf8');

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-packed-')));
  const source = join(folder, 'source');
  const { files } = JSON.parse(manifestOf(repository)) as { files: string[] };
  const parts = files.filter((name) => name !== 'dist');
  for (const name of [...parts, ...builtFrom, ...configs()]) {
    cpSync(join(repository, name), join(source, name), { recursive: true });
  }
  linkPackages(join(source, 'node_modules'));
  await run('npm', ['pack', '--pack-destination', folder], source);
  expect(manifestOf(source)).toBe(manifestOf(repository));
  project = join(folder, 'project');
  linkPackages(join(project, 'node_modules'));
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  await run('tar', ['-xzf', join(folder, tarball), '-C', folder], folder);
  installed = join(project, 'node_modules/svc');
  cpSync(join(folder, 'package'), installed, { recursive: true });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What a build needs and the tarball does not carry, or carries anyway. */
const builtFrom = ['examples/demo-provider', 'package.json', 'package-lock.json'];

const configs = (): string[] =>
  readdirSync(repository).filter((name) => name.startsWith('tsconfig'));

describe('the packed tarball, installed', () => {
  it('has modules that Node imports', async () => {
    const script = join(project, 'use.mjs');
    writeFileSync(
      script,
      `import { createSync } from 'svc';
       import { createClient } from 'svc/client';
       import { replay } from 'svc/testing';
       console.log(typeof createSync, typeof createClient, typeof replay);`,
    );
    expect(await run(process.execPath, [script], project)).toBe('function function function\n');
  });

  it('has the command line, which makes a project and compiles it', async () => {
    const launcher = join(installed, 'bin/svc.js');
    await run(process.execPath, [launcher, 'init', 'made', '--copy'], project);
    const made = join(project, 'made');
    const out = await run(process.execPath, [launcher, 'compile', '--no-dependency-update'], made);
    expect(out).toBe('Compiled\n');
  });

  it('has the service, with the connect page', async () => {
    await using gateway = await startGateway({ entry: join(installed, 'dist/src/main.js') });
    const page = await fetch(`${gateway.url}/connect/ui/`);
    const [script = ''] = /(?<=src=")[^"]+\.js/.exec(await page.text()) ?? [];
    const answer = await fetch(new URL(script, page.url));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ]);
  });
});
