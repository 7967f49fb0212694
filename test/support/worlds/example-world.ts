import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mocksPath } from '#cli/mocks/mocks.ts';
import { openExampleProviders, type ExampleProviders } from '../fakes/example-providers.ts';
import { commandLine, KeptCompilers, type Ended } from '../processes/command-line.ts';
import { startGateway, type RunningGateway } from '../processes/gateway.ts';
import { sharedSandbox } from './shared-sandbox.ts';

export const examplesFolder = fileURLToPath(
  new URL('../../../examples/integrations', import.meta.url),
);

/** How each example is run when its mocks are saved. */
export const recordings: readonly { readonly file: string; readonly args: readonly string[] }[] = [
  { file: 'github/syncs/issues', args: ['-m', '{"repository":"acme/app"}'] },
  {
    file: 'github/actions/create-issue',
    args: ['--input', '{"repository":"acme/app","title":"It fails","body":"Always"}'],
  },
  { file: 'hubspot/syncs/contacts', args: [] },
  { file: 'hubspot/on-events/check-access', args: [] },
  { file: 'hubspot/on-events/remember-portal', args: [] },
  { file: 'zendesk/syncs/tickets', args: [] },
  { file: 'zendesk/actions/close-ticket', args: ['--input', '{"id":"3","comment":"Done"}'] },
  { file: 'jira/syncs/issues', args: ['-m', '{"projects":["APP","OPS"]}'] },
  { file: 'freshdesk/syncs/companies', args: [] },
  { file: 'stripe/syncs/charges', args: ['-c', '{"after":"ch_1"}'] },
  {
    file: 'stripe/actions/create-customer',
    args: ['--input', '{"email":"ada@example.com","name":"Ada"}'],
  },
  { file: 'notion/syncs/pages', args: [] },
  {
    file: 'slack/actions/post-message',
    args: ['--input', '{"channel":"#general","text":"Hello"}'],
  },
  { file: 'google-calendar/syncs/events', args: ['-c', '{"syncToken":"s1"}'] },
];

export interface ExampleWorld extends AsyncDisposable {
  /** A copy of the project. */
  readonly root: string;
  readonly gateway: RunningGateway;
  readonly providers: ExampleProviders;
  /** A command line in the project, with the keys of the gateway. */
  svc(args: readonly string[], more?: Partial<Parameters<typeof commandLine>[1]>): Promise<Ended>;
  /** The mocks of a function as they are kept: without where its provider was played, and when. */
  mocksOf(file: string): string;
}

/** A gateway with a connection `demo` to each played provider, and a copy of the example functions. */
export async function openExampleWorld(): Promise<ExampleWorld> {
  await using stack = new AsyncDisposableStack();
  const root = mkdtempSync(join(tmpdir(), 'svc-examples-'));
  stack.defer(() => rmSync(root, { recursive: true, force: true }));
  cpSync(examplesFolder, root, { recursive: true });
  const providers = stack.use(await openExampleProviders());
  const definitions = join(root, '.svc', 'providers.json');
  writeFileSync(definitions, JSON.stringify(providers.definitions));
  const hosts = Object.values(providers.origins).map((origin) => new URL(origin).host);
  const gateway = stack.use(
    await startGateway({ env: { SVC_PROVIDERS: definitions, SVC_EGRESS_ALLOW: hosts.join() } }),
  );
  for (const provider of Object.keys(providers.origins)) {
    await succeed(gateway, '/integrations', { provider, unique_key: provider });
    await succeed(gateway, '/connections', {
      provider_config_key: provider,
      connection_id: 'demo',
      credentials: { type: 'API_KEY', apiKey: providers.apiKey },
    });
  }
  const sandbox = await sharedSandbox();
  const compilers = stack.use(new KeptCompilers());
  const variables = { SVC_HOSTPORT: gateway.url, SVC_SECRET_KEY_DEV: gateway.key, CI: '1' };
  const opened = stack.move();
  return {
    root,
    gateway,
    providers,
    svc: (args, more) => commandLine(args, { root, sandbox, compilers, variables, ...more }),
    mocksOf: (file) => lasting(readFileSync(join(root, pathOf(file)), 'utf8'), providers),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Path of the mocks of a function that is named by its file. */
export function pathOf(file: string): string {
  const [integrationKey = '', , name = ''] = file.split('/');
  return mocksPath(integrationKey, name);
}

async function succeed(gateway: RunningGateway, path: string, body: object): Promise<void> {
  const answer = await gateway.call('POST', path, { body });
  if (answer.status < 300) return;
  throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

const momentary =
  /"(id|created_at|updated_at|last_fetched_at)": (\d+|"\d{4}-[^"]*")(?=,\n {6}|\n)/g;

function lasting(text: string, { origins }: ExampleProviders): string {
  let kept = text;
  for (const [name, origin] of Object.entries(origins)) {
    kept = kept.replaceAll(origin, `https://${name}.example`);
  }
  const [head = '', ...rest] = kept.split('"getMetadata"');
  const connection = head.replaceAll(momentary, (_whole, key: string) =>
    key === 'id' ? '"id": 1' : `"${key}": "2026-01-01T00:00:00.000+00:00"`,
  );
  return [connection, ...rest].join('"getMetadata"');
}
