import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkTypes, flavors, printedBy, runOn } from '#test/packages/consumer.ts';
import {
  linkPackages,
  manifestOf,
  packTarballs,
  unpack,
  type Tarballs,
} from '#test/packages/tarballs.ts';
import { nodeOf, tool } from '#test/packages/toolbox.ts';
import { run } from '#test/services/commands.ts';
import { versions } from '#test/services/versions.ts';
import { npmWithoutRegistry } from '#test/support/processes/npm-without-registry.ts';
import { pageOf } from '#test/support/processes/reader.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const [oldestNode] = versions.node;
/** TypeScript 7; `npm run test:all` takes each version. */
const tsc = join(repository, 'node_modules/typescript-native/bin/tsc');

const clientName = '@integration-gateway/svc-client';

let folder: string;
/** The sources that were packed. */
let copy: string;
let tarballs: Tarballs;
/** A folder of somebody who has installed the packed tarball. */
let project: string;
let installed: string;
/** One of somebody who has installed the client alone. */
let application: string;

/** Of the sources of a build: a copy of them that has its own has built again. */
const stateOfBuild = (root: string): string =>
  readFileSync(join(root, 'dist/sources.sha256'), 'utf8');

const inProject = async (command: string, args: readonly string[], cwd: string): Promise<string> =>
  run(command, args, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', XDG_CACHE_HOME: join(folder, 'caches') },
  });

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-packed-')));
  ({ copy, ...tarballs } = await packTarballs(folder));
  expect(manifestOf(copy)).toBe(manifestOf(repository));
  expect(stateOfBuild(copy)).toBe(stateOfBuild(repository));
  project = join(folder, 'project');
  const modules = join(project, 'node_modules');
  linkPackages(modules);
  installed = await unpack(tarballs.svc, modules, 'svc');
  application = join(folder, 'application');
  mkdirSync(application);
  writeFileSync(join(application, 'package.json'), '{ "private": true }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--offline', tarballs.client], {
    cwd: application,
  });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the packed tarball, installed', () => {
  it('has modules that Node imports and requires', async () => {
    const script = join(project, 'use.mjs');
    writeFileSync(
      script,
      `import { createSync } from 'svc';
       import { createClient } from 'svc/client';
       import { replay } from 'svc/testing';
       console.log(typeof createSync, typeof createClient, typeof replay);`,
    );
    expect(await inProject(process.execPath, [script], project)).toBe(
      'function function function\n',
    );
    const required = `const { createSync } = require('svc'); console.log(createSync({}).type)`;
    expect(await inProject(process.execPath, ['-e', required], project)).toBe('sync\n');
  });

  it('has the command line, which makes a project as the README says, compiles and tests it', async () => {
    const launcher = join(installed, 'bin/svc.js');
    const [command = ''] = /^npm exec .*/m.exec(pageOf('README.md')) ?? [];
    const begun = performance.now();
    const printed = await run('bash', ['--norc', '-euc', command], {
      cwd: dirname(tarballs.svc),
      env: { ...npmWithoutRegistry(join(folder, 'npm'), installed), HOME: folder, NO_COLOR: '1' },
    });
    expect(printed).toContain('The project is ready');
    const seconds = Math.round((performance.now() - begun) / 1000);
    console.log(`the packed package of the README: 1 command, ${seconds} s`);
    const made = join(folder, 'my-functions');
    const args = [launcher, 'compile', '--no-dependency-update'];
    expect(await inProject(process.execPath, args, made)).toMatch(/^Compiled\n/);
    expect(await inProject(process.execPath, [launcher, 'test'], made)).toMatch(
      /Tests {2}3 passed/,
    );
  });

  it('runs the tests of a project, whatever Node is on the PATH', async () => {
    const launcher = join(installed, 'bin/svc.js');
    const tested = join(project, 'tested');
    const svc = async (cwd: string, ...args: string[]) =>
      inProject(await nodeOf(oldestNode), [launcher, ...args], cwd);
    await svc(project, 'init', 'tested', '--no-dependency-update');
    await svc(tested, 'add', 'slack/send-message');
    const printed = await svc(tested, 'test', 'send-message');
    expect(printed).toMatch(/Tests {2}9 passed/);
    await expect(svc(tested, 'test', 'nothing')).rejects.toThrow('Not all tests passed.');
  });

  it('serves the gateway with its pages until a signal', async () => {
    const launcher = join(installed, 'bin/svc.js');
    const env = {
      ...process.env,
      SVC_PORT: '0',
      SVC_DATA_DIR: join(folder, 'data'),
      SVC_LOG_LEVEL: 'warn',
      XDG_CACHE_HOME: join(folder, 'caches'),
    };
    const child = spawn(await nodeOf(oldestNode), [launcher, 'serve'], {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    let url: string | undefined;
    for await (const line of createInterface(child.stdout)) {
      url = /^svc listens on (\S+)/.exec(line)?.[1];
      if (url !== undefined) break;
    }
    child.stdout.resume();
    const page = await fetch(`${url}/connect/ui/`);
    const [script = ''] = /(?<=src=")[^"]+\.js/.exec(await page.text()) ?? [];
    const answer = await fetch(new URL(script, page.url));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ]);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
  });
});

describe('the packed client, installed', () => {
  it('is small and alone', () => {
    const files = readdirSync(join(application, 'node_modules', clientName));
    expect(files).toContain('index.cjs');
    expect(readdirSync(join(application, 'node_modules')).sort()).toEqual([
      '.package-lock.json',
      '@integration-gateway',
    ]);
    expect(statSync(tarballs.client).size).toBeLessThan(100_000);
  });

  it.each(versions.node.filter((version) => !version.startsWith('22.')))(
    'reads pages, tries again and verifies webhooks on Node %s',
    async (version) => {
      const printed = await runOn(await nodeOf(version), application, clientName);
      expect(printed).toEqual(printedBy(Number(version.split('.')[0])));
    },
  );
});

describe('both packages', () => {
  it.each(flavors)('have strict types: $resolution, $format', async (flavor) => {
    const clients = ['svc/client'];
    await checkTypes(project, tsc, flavor, { clients, functions: true, globals: 'node' });
    const alone = { clients: [clientName], functions: false, globals: 'dom' } as const;
    await checkTypes(application, tsc, flavor, alone);
  });

  it('are what their manifests promise, to each kind of resolution', async () => {
    const publint = await tool('publint');
    for (const tarball of [tarballs.svc, tarballs.client])
      expect(await run(publint, ['run', tarball, '--strict'])).toContain('All good!');
    const attw = await tool('@arethetypeswrong/cli');
    // Before Node 16 nothing read `exports`; vitest, which `svc/testing` is for, is an ES module.
    await run(attw, [tarballs.svc, '--profile', 'node16', '--exclude-entrypoints', './testing']);
    await run(attw, [tarballs.svc, '--profile', 'esm-only', '--entrypoints', './testing']);
    await run(attw, [tarballs.client]);
  });
});

describe('a dry run of publishing', () => {
  // Nothing is sent anywhere.
  const nowhere = ['--registry=http://127.0.0.1:9', '--fetch-retries=0'];
  const publish = (cwd: string) =>
    run('npm', ['publish', '--dry-run', '--json', ...nowhere], { cwd });

  it('passes for both packages', async () => {
    const { version } = JSON.parse(manifestOf(copy)) as { version: string };
    expect(await publish(copy)).toContain(`"id": "@integration-gateway/svc@${version}"`);
    const client = await publish(join(copy, 'dist/client'));
    expect(client).toContain(`"id": "${clientName}@${version}"`);
  });
});
