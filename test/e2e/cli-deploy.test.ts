import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/ports/sandbox.ts';
import { commandLine } from '../support/command-line.ts';
import { openSharedCrmWorld, type SharedCrmWorld } from '../support/crm-world.ts';
import { openTerminal } from '../support/terminal.ts';

const example = fileURLToPath(new URL('../../examples/npm-releases', import.meta.url));

let world: SharedCrmWorld;
let sandbox: Sandbox;
let root: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'svc-deployed-'));
  for (const part of ['index.ts', 'package.json', 'npm', '.svc/.gitkeep']) {
    cpSync(join(example, part), join(root, part), { recursive: true });
  }
  sandbox = await openSandbox({ childrenMax: 1 });
  world = await openSharedCrmWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

/** Of the environment in which nothing is deployed yet. */
const ownKey = () => world.gateway.prodKey;
const settings = () => ({ SVC_HOSTPORT: world.gateway.url, SVC_SECRET_KEY_DEV: ownKey() });
const call = (method: string, path: string, body?: object) =>
  world.gateway.call(method, path, { key: ownKey(), ...(body === undefined ? {} : { body }) });

const deploy = (...more: string[]) =>
  commandLine(['deploy', 'dev', '--no-dependency-update', ...more], {
    root,
    sandbox,
    variables: settings(),
  });

it('the command line deploys the example to a running service, and a second time changes nothing', async () => {
  const refused = await deploy();
  expect(refused.exitCode).toBe(11);
  expect(refused.err).toContain(
    '(integration_not_found)\n  Make it with svc connect <integration>',
  );

  const providers = await call('GET', '/providers');
  const { data } = providers.body as { data: { name: string; auth_mode: string }[] };
  const provider = data.find(({ auth_mode }) => auth_mode === 'NONE')?.name;
  const made = await call('POST', '/integrations', { provider, unique_key: 'npm' });
  expect(made.status).toBe(200);

  const first = await deploy();
  expect(first).toMatchObject({ exitCode: 0 });
  expect(first.out).toContain(' + npm -> releases');
  expect(first.out).toContain('- latest-version@v1.0.0');

  const listed = await call('GET', '/integrations/npm/functions');
  expect(listed.body).toMatchObject({
    data: [
      { name: 'latest-version', type: 'action', returns: ['ActionOutput_npm_latestversion'] },
      { name: 'releases', type: 'sync', returns: ['Release'], runs: 'every hour' },
    ],
  });

  const second = await deploy();
  expect(second).toMatchObject({ exitCode: 0 });
  expect(second.out).toBe(' Nothing to change: 2 functions as deployed\n');

  const third = await deploy('--json');
  expect(third).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(third.out)).toMatchObject({
    created: [],
    unchanged: [{ name: 'releases' }, { name: 'latest-version' }],
  });
  expect(third.err).toContain('Nothing to change');
  expect(third.err).not.toContain('Deploying');
});

it('shows on a terminal how far a deployment is', async () => {
  await using terminal = openTerminal(
    ['deploy', 'dev', '--version', '2', '--no-dependency-update'],
    {
      cwd: root,
      env: settings(),
    },
  );
  expect(await terminal.exited, terminal.shown).toBe(0);
  expect(terminal.shown).toContain(`Typechecking  [${'-'.repeat(24)}]  0 %`);
  expect(terminal.shown).toMatch(/Deploying 2 functions  \[#+-+\]  80 %/);
});

it.each([
  ['logs', ['--follow'], 'Following the log'],
  ['listen', [], 'Listening'],
])('svc %s goes on until Ctrl-C, which is the end that it has', async (name, more, shown) => {
  await using terminal = openTerminal([name, '-e', 'dev', ...more], {
    cwd: root,
    env: settings(),
  });
  await terminal.shows(shown);
  terminal.type('\x03');
  expect(await terminal.exited, terminal.shown).toBe(0);
});
