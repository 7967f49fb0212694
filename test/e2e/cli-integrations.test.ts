import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFakeAuth, visit, type FakeAuth } from '#fake-providers/server.ts';
import { commandLine } from '#test/support/processes/command-line.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { openTerminal } from '#test/support/processes/terminal.ts';
import { providerOf } from '#test/support/worlds/authorizing.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

let stack: AsyncDisposableStack;
let root: string;
let gateway: RunningGateway;
let fake: FakeAuth;
const beacon = 'beacon-crm';
let app: Record<string, string>;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  root = mkdtempSync(join(tmpdir(), 'svc-cli-integrations-'));
  stack.defer(() => rmSync(root, { recursive: true }));
  fake = stack.use(await openFakeAuth());
  const played = fake.play(
    providerOf('OAUTH2', {
      name: beacon,
      display_name: 'Beacon',
      setup_guide_url: 'https://beacon.example/apps',
      default_scopes: ['read'],
      scope_descriptions: { read: 'Reads contacts.', write: 'Changes contacts.' },
    }),
  );
  app = played.integration as Record<string, string>;
  const definitions = join(root, 'providers.json');
  writeFileSync(definitions, JSON.stringify(fake.definitions()));
  gateway = stack.use(
    await startGateway({ env: { SVC_PROVIDERS: definitions, SVC_EGRESS_ALLOW: fake.hostPort } }),
  );
});
afterAll(() => stack.disposeAsync());

const variables = () => ({ SVC_HOSTPORT: gateway.url, SVC_SECRET_KEY_DEV: gateway.key });
const openDialog = (args: readonly string[]) => openTerminal(args, { cwd: root, env: variables() });
const svc = async (...args: readonly string[]) =>
  commandLine(['integrations', ...args], {
    root,
    sandbox: await sharedSandbox(),
    variables: variables(),
  });
const credentialsOf = async (key: string) => {
  const answer = await gateway.call('GET', `/integrations/${key}?include=credentials`);
  return (answer.body as { data: { credentials: unknown } }).data.credentials;
};

describe('svc integrations', () => {
  it('creates one from its arguments, and lists all', async () => {
    const made = await svc('create', 'affinity', '--key', 'sales', '--name', 'Our sales');
    expect(made).toMatchObject({ exitCode: 0, out: 'Created sales of affinity\n', questions: [] });
    const credentials = JSON.stringify({ type: 'OAUTH2', client_id: 'a', client_secret: 'b' });
    const other = await svc('create', 'github', '--credentials', credentials, '--json');
    expect(JSON.parse(other.out)).toMatchObject({ unique_key: 'github', provider: 'github' });
    const listed = await svc();
    expect(listed.out).toMatch(/^integration +name +provider +created\n/);
    expect(listed.out).toMatch(/\nsales +Our sales +affinity +/);
    expect((await svc('list', '--json')).out).toContain('"unique_key":"github"');
  });

  it.each([
    [['create'], 'Name the provider'],
    [['create', 'no-such-provider'], 'not in the catalog'],
    [['create', 'slack'], 'not valid'],
  ])('refuses %j where nobody can be asked', async (args, message) => {
    const ended = await svc(...args);
    expect(ended.exitCode).toBe(1);
    expect(ended.err).toContain(message);
  });
});

describe('svc integrations create in a terminal', () => {
  it('leads from a search to a connected account, and hides the secret', async () => {
    await using terminal = openDialog(['integrations', 'create']);
    await terminal.shows('Provider (a part of its name): ');
    terminal.type('no such product\r');
    await terminal.shows('No provider matches "no such product".');
    terminal.type('beacon\r');
    await terminal.shows('Number (Enter: search once more): ');
    terminal.type('1\r');
    await terminal.shows('Register an app at Beacon:  https://beacon.example/apps');
    await terminal.shows(`Callback URL (redirect URI):  ${gateway.url}/oauth/callback`);
    await terminal.shows('Client id: ');
    terminal.type(`${app['client_id']}\r`);
    await terminal.shows('Client secret (not shown): ');
    terminal.type('a-wrong-secret\r');
    await terminal.shows('write  Changes contacts.');
    await terminal.shows('Scopes, with commas between them (Enter: read): ');
    terminal.type('read, write\r');
    await terminal.shows(`(Enter: ${beacon}): `);
    terminal.type('crm\r');
    await terminal.shows(`Created crm of ${beacon}`);
    await terminal.shows('Connect a test account now? y/n ');
    terminal.type('y\r');
    await terminal.shows('Waiting for the account');
    const [link = ''] = /http\S+session_token=\S+/.exec(terminal.shown) ?? [];
    const token = new URL(link).searchParams.get('session_token') ?? '';
    await signIn(token);
    await terminal.shows('invalid_client');
    await terminal.shows('What to do: Copy client id and secret of the app at Beacon');
    expect(await credentialsOf('crm')).toMatchObject({ scopes: 'read,write' });
    await gateway.call('PATCH', '/integrations/crm', { body: { credentials: app } });
    await signIn(token);
    await terminal.shows('Connected ');
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).not.toContain('a-wrong-secret');
  });

  it('asks once more for a key that is taken', async () => {
    await using terminal = openDialog(['integrations', 'create', beacon]);
    await terminal.shows('Client id: ');
    terminal.type('id\r');
    await terminal.shows('Client secret (not shown): ');
    terminal.type('secret\r');
    await terminal.shows('(Enter: read): ');
    terminal.type('\r');
    await terminal.shows(`(Enter: ${beacon}): `);
    terminal.type('crm\r');
    await terminal.shows('The unique key is taken.');
    terminal.type('second\r');
    await terminal.shows('Connect a test account now? y/n ');
    terminal.type('n\r');
    expect(await terminal.exited).toBe(0);
    expect(await credentialsOf('second')).toMatchObject({ client_id: 'id', scopes: 'read' });
  });
});

/** The person opens the link, consents, and comes back. */
async function signIn(token: string): Promise<void> {
  const query = new URLSearchParams({ connect_session_token: token });
  const started = await fetch(`${gateway.url}/oauth/connect/crm?${query.toString()}`, {
    redirect: 'manual',
  });
  const cookie = (started.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const back = new URLSearchParams(await visit(started.headers.get('location') ?? ''));
  await fetch(`${gateway.url}/oauth/callback?${back.toString()}`, { headers: { cookie } });
}
