import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isWebhook, verifyHmac, verifyWebhook } from '#client/index.ts';
import { buildSource, checkSources } from '#test/support/processes/client-sources.ts';
import { commandLine } from '#test/support/processes/command-line.ts';
import { openTerminal } from '#test/support/processes/terminal.ts';
import { openSharedCrmWorld, type SharedCrmWorld } from '#test/support/worlds/crm-world.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const example = fileURLToPath(new URL('../../examples/npm-releases', import.meta.url));

let world: SharedCrmWorld;
const sandbox = await sharedSandbox();
let root: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'svc-deployed-'));
  for (const part of ['index.ts', 'package.json', 'npm', '.svc/.gitkeep']) {
    cpSync(join(example, part), join(root, part), { recursive: true });
  }
  world = await openSharedCrmWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
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
    '(integration_not_found)\n  Create it with svc connect <integration>',
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

it('writes a client that knows the records and actions of an environment, and verifies its webhooks', async () => {
  const folder = join(root, 'application');
  mkdirSync(folder);
  const manifest =
    '{ "type": "module", "dependencies": { "@integration-gateway/svc-client": "*" } }';
  writeFileSync(join(folder, 'package.json'), manifest);
  const { url, key } = world.gateway;
  const variables = { SVC_HOSTPORT: url, SVC_SECRET_KEY_DEV: key };
  const write = (line: string) => commandLine(line.split(' '), { root, sandbox, variables });
  expect(await write('generate client -e dev --out application/gateway.ts')).toMatchObject({
    exitCode: 0,
    out: 'Wrote application/gateway.ts\n',
  });
  expect((await write('generate:client -e dev -o application/gateway.ts')).out).toBe(
    'Unchanged: application/gateway.ts\n',
  );
  writeFileSync(join(folder, 'use.ts'), application);
  await checkSources(folder);

  const crm = await world.connect();
  crm.account.contacts = [{ id: 'c1', name: 'Ada', email: 'ada@acme.example' }];
  await crm.run('contacts');
  const program = await buildSource(join(folder, 'use.ts'));
  const { use } = (await import(`data:text/javascript,${encodeURIComponent(program)}`)) as {
    readonly use: (options: object, connection: string) => Promise<unknown>;
  };
  expect(await use({ url, key }, crm.id)).toEqual([
    ['ADDED', 'Ada', 'ada@acme.example'],
    { echoed: 1 },
    'script_internal_error',
  ]);

  const [delivery] = world.receiver.received;
  const { payload } = await verifyWebhook(delivery ?? { body: '', headers: {} }, world.signingKey);
  expect(isWebhook(payload)).toBe(true);
  expect(await verifyHmac(delivery ?? { body: '', headers: {} }, world.signingKey)).toBe(true);
});

const application = `import { createSvcClient } from './gateway.ts';
import { ApiError, type ClientOptions } from '@integration-gateway/svc-client';

export async function use(options: ClientOptions, connection: string): Promise<readonly unknown[]> {
  const crm = createSvcClient(options).connection('crm', connection);
  const found: unknown[] = [];
  for await (const { name, email, _svc_metadata } of crm.records('Contact', { limit: 2 }))
    found.push([_svc_metadata.last_action, name satisfies string, email satisfies string | undefined]);
  found.push(await crm.run('echo', { echoed: 1 }));
  await crm.run('fail', { how: 'exception' }).catch((error: unknown) => {
    found.push(error instanceof ApiError && error.code);
  });
  const wrong = [
    // @ts-expect-error -- no such model
    () => crm.records('Person'),
    // @ts-expect-error -- no such way to fail
    () => crm.run('fail', { how: 'silently' }),
  ];
  return wrong.length === 2 ? found : [];
}
`;
