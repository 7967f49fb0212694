import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { openFakeAuth } from '#fake-providers/server.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import { withLimits } from '#test/support/processes/with-limits.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { compileFunctions } from '#test/support/worlds/deploy.ts';
import {
  functionsProject,
  syncText,
  type FunctionsProject,
} from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { closePages, openPage, sharedChromium } from './chromium.ts';
import { signedIn, type Console } from './console-world.ts';
import { redirectProvider } from './providers.ts';

/** Screenshots, outputs of the command line and bodies of the API, one of each for a failure. */
const folder =
  process.env['SVC_TEST_FAILURES'] ??
  fileURLToPath(new URL('../../test-artefacts/failures', import.meta.url));

export const beacon = redirectProvider.name;

const helper = `interface Contact {
  name?: string;
}

/** The first letter of a name that may be absent. */
export function initialOf(contact: Contact): string {
  const { name } = contact as { name: string };
  return name.trim().charAt(0);
}
`;

/** Fails in the way that its input names. */
export const failing = `import { createAction } from 'svc';
import { z } from 'zod';
import { initialOf } from '../lib/initials.js';

const action = createAction({
  description: 'Fails in the way it is asked to',
  input: z.object({ how: z.string(), contact: z.string().regex(/^contact-/).optional() }),
  output: z.object({ done: z.boolean() }),
  exec: async (svc, { how }) => {
    if (how === 'throw') initialOf({});
    if (how === 'rejected') await Promise.reject(new RangeError('The page 7 is out of range'));
    if (how === 'order') await svc.post({ endpoint: '/orders', data: { id: 1 } });
    if (how === 'list') await svc.get({ endpoint: '/orders' });
    if (how === 'unreachable') await svc.get({ endpoint: '/a', baseUrlOverride: 'http://127.0.0.1:1' });
    if (how === 'internal') await svc.get({ endpoint: '/a', baseUrlOverride: 'http://169.254.169.254' });
    if (how === 'slow') await new Promise((resolve) => setTimeout(resolve, 600_000));
    if (how === 'endless') {
      for (let page = 0; page < 3; page += 1) await svc.log('reads a page', { page });
      for (;;) JSON.stringify({ how });
    }
    if (how === 'memory') {
      await svc.log('reads all pages');
      const all: number[][] = [];
      for (;;) all.push(new Array<number>(1_000_000).fill(all.length));
    }
    return (how === 'output' ? { done: 'yes' } : { done: true }) as { done: boolean };
  },
});

export default action;
`;

/** A page that shows something else is a failure of its test, and not of the browser. */
const shownWithinMs = 10_000;

export interface FailuresWorld extends AsyncDisposable {
  readonly world: CrmWorld;
  readonly project: FunctionsProject;
  readonly played: PlayedProvider;
  readonly crm: CrmConnection;
  /** Signed in with the keys of dev and of the account. */
  readonly console: Console;
  newPage(): Promise<Page>;
  /** The command line in the project of the functions. */
  svc(args: readonly string[], key?: string): Promise<Ended>;
  /** Keeps what a user sees of a failure. */
  keep(name: string, page: Page, cli: readonly Ended[], api: unknown): Promise<void>;
}

export async function openFailuresWorld(): Promise<FailuresWorld> {
  await using stack = new AsyncDisposableStack();
  await mkdir(folder, { recursive: true });
  const fake = stack.use(await openFakeAuth());
  const played = fake.play(redirectProvider);
  const world = stack.use(
    await openCrmWorld({
      definitions: fake.definitions(),
      hosts: [fake.hostPort, '127.0.0.1:1'],
      env: withLimits({ actionRunMaxMs: 3_000, runGraceMs: 100 }),
    }),
  );
  const { gateway } = world;
  const project = stack.use(
    functionsProject({
      'crm/actions/failing.ts': failing,
      'crm/syncs/contacts.ts': syncText(`await svc.batchSave([{ id: 'c1' }], 'Contact');`, {
        model: 'Contact',
        more: `frequency: 'every day', autoStart: false,`,
      }),
      'crm/lib/initials.ts': helper,
    }),
  );
  const body = await compileFunctions(project.root);
  succeeded(await gateway.call('POST', '/functions/deployments/bundle', { body }));
  const strict = { key: gateway.accountKey, body: { validation: 'error' } };
  succeeded(await gateway.call('PATCH', `/environments/${world.environmentId}`, strict));
  const integration = { unique_key: beacon, provider: beacon, credentials: played.integration };
  succeeded(await gateway.call('POST', '/integrations', { body: integration }));
  const crm = await world.connect();
  await crm.run('contacts');
  const browser = await sharedChromium();
  stack.defer(() => closePages(browser));
  const viewport = { width: 1280, height: 860 };
  const newPage = () => openPage(browser, { viewport });
  const opened = await signedIn({ gateway, page: newPage });
  opened.page.setDefaultTimeout(shownWithinMs);
  const owned = stack.move();
  return {
    world,
    project,
    played,
    crm,
    console: opened,
    newPage,
    async svc(args, key = gateway.key) {
      const variables = { SVC_HOSTPORT: gateway.url, SVC_SECRET_KEY_DEV: key };
      const sandbox = await sharedSandbox();
      return commandLine([...args, '-e', 'dev'], { root: project.root, sandbox, variables });
    },
    async keep(name, page, cli, api) {
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
      const printed = cli.map(({ out, err, exitCode }) => `${out}${err}exit ${exitCode}\n`);
      await writeFile(join(folder, `${name}.cli.txt`), printed.join('\n'));
      await writeFile(join(folder, `${name}.api.json`), `${JSON.stringify(api, null, 2)}\n`);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
