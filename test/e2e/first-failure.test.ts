/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, RunFailure } from '#client/index.ts';
import { commandLine } from '#test/support/processes/command-line.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { compileFunctions } from '#test/support/worlds/deploy.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const helper = `interface Contact {
  name?: string;
}

/** The first letter of a name that may be absent. */
export function initialOf(contact: Contact): string {
  const { name } = contact as { name: string };
  return name.trim().charAt(0);
}
`;

/** Fails in the way that its input names; each place is marked. */
const failing = `import { createAction } from 'svc';
import { z } from 'zod';
import { initialOf } from '../lib/initials.js';

const action = createAction({
  description: 'Fails in the way it is asked to',
  input: z.object({ how: z.string() }),
  output: z.object({ done: z.boolean() }),
  exec: async (svc, { how }) => {
    await svc.log('begins', { how });
    if (how === 'throw') initialOf({});
    if (how === 'provider') await svc.post({ endpoint: '/orders', data: { id: 1 } });
    if (how === 'cause') {
      try {
        await svc.get({ endpoint: '/orders', params: { token: 'abcdefgh12345678' } });
      } catch (cause) {
        throw new Error('The orders cannot be read', { cause });
      }
    }
    if (how === 'rejected') await Promise.reject(new RangeError('out of range'));
    if (how === 'refused') throw new svc.ActionError({ message: 'No such order' });
    if (how === 'secret') throw new Error(\`refused \${JSON.stringify(await svc.getToken())}\`);
    if (how === 'memory') {
      const all: string[][] = [];
      for (;;) all.push(Array.from({ length: 100_000 }, (_, n) => String(n)));
    }
    return (how === 'output' ? { done: 'yes' } : { done: true }) as { done: boolean };
  },
});

export default action;
`;

const sync = `import { createSync } from 'svc';
import { z } from 'zod';
import { initialOf } from '../lib/initials.js';

const sync = createSync({
  description: 'Fails in a helper',
  frequency: 'every day',
  autoStart: false,
  models: { Order: z.object({ id: z.string() }) },
  exec: async (svc) => {
    await svc.batchSave([{ id: initialOf({}) }], 'Order');
  },
});

export default sync;
`;

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  using project = functionsProject({
    'crm/actions/failing.ts': failing,
    'crm/syncs/orders.ts': sync,
    'crm/lib/initials.ts': helper,
  });
  const body = await compileFunctions(project.root);
  succeeded(await world.gateway.call('POST', '/functions/deployments/bundle', { body }));
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const lineOf = (text: string, part: string): number =>
  text.slice(0, text.indexOf(part)).split('\n').length;
const at = (part: string): RegExp =>
  new RegExp(String.raw`^crm/actions/failing\.ts:${lineOf(failing, part)}:\d+$`);
const helperLine = `crm/lib/initials.ts:${lineOf(helper, 'return name')}`;

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  readonly run_id: string;
  readonly failure: RunFailure;
  readonly upstream?: unknown;
}

async function failed(how: string): Promise<{ status: number; error: ErrorBody }> {
  const { status, body } = await crm.action('failing', { how });
  return { status, error: body.error as ErrorBody };
}

type Run = Answer<'GET /runs/{id}'>['data'];
const runOf = async (id: string): Promise<Run> =>
  succeeded(await world.gateway.call('GET', `/runs/${id}`)).data as Run;

type ListedRun = Answer<'GET /runs'>['data'][number];

/** The newest run of the kind that has ended; the list follows the log. */
async function endedRun(
  kind: string,
  isMeant: (run: ListedRun) => boolean = () => true,
): Promise<ListedRun> {
  const list = async (): Promise<ListedRun | undefined> => {
    const path = `/runs?connection_id=${crm.id}&kind=${kind}`;
    const { data } = succeeded(await world.gateway.call('GET', path)) as Answer<'GET /runs'>;
    return data.find((one) => one.ended_at !== null && isMeant(one));
  };
  const found = await eventually(list, (run) => run !== undefined);
  return found!;
}

async function svc(...args: string[]) {
  const { url, key } = world.gateway;
  const variables = { SVC_HOSTPORT: url, SVC_SECRET_KEY_DEV: key };
  const sandbox = await sharedSandbox();
  return commandLine([...args, '-e', 'dev'], { root: '/tmp', sandbox, variables });
}

describe('a function that throws in a helper', () => {
  it('answers the line of its source, and so do the run and the command line', async () => {
    const { status, error } = await failed('throw');
    expect(status).toBe(424);
    expect(error).toMatchObject({ code: 'script_internal_error', fix: expect.any(String) });
    expect(error.failure).toMatchObject({ name: 'TypeError', call: null, causes: [] });
    expect(error.failure.location).toBe(`${helperLine}:15`);
    const { line, lines } = error.failure.excerpt!;
    expect(lines[lineOf(helper, 'return name') - line]).toBe('  return name.trim().charAt(0);');
    expect(error.failure.frames.map((one) => one.file)).toEqual([
      'crm/lib/initials.ts',
      'crm/actions/failing.ts',
    ]);

    const run = await runOf(error.run_id);
    expect(run.failure).toEqual(error.failure);
    expect(run.error).toMatchObject({ location: `${helperLine}:15`, fix: error.fix });

    const shown = await svc('runs', 'show', error.run_id);
    expect(shown.exitCode).toBe(0);
    expect(shown.out).toContain("TypeError: Cannot read properties of undefined (reading 'trim')");
    expect(shown.out).toContain(`at initialOf (${helperLine}:15)`);
    expect(shown.out).toMatch(/^> 8 \| {3}return name\.trim\(\)\.charAt\(0\);\n +\| +\^$/m);
    expect(shown.out).toContain(`fix: ${error.fix}`);
    const listed = await endedRun('action');
    expect(listed).toMatchObject({ id: error.run_id, error: run.error });
  });

  it('in a sync has it too, and in the log', async () => {
    await crm.run('orders');
    const run = await runOf((await endedRun('sync')).id);
    expect(run.failure?.location).toBe(`${helperLine}:15`);
    const log = await eventually(
      () => svc('logs', run.log_id),
      ({ out }) => out.includes('initials.ts'),
    );
    expect(log.out).toContain(`(${helperLine}:15)`);
  });
});

describe('a request to the provider that fails', () => {
  it.each([
    [422, { error: 'amount is missing' }],
    [503, { error: 'down for maintenance' }],
  ])('with %i is shown with its response, and ends with its connection', async (status, body) => {
    crm.account.plan('/orders', { status, body });
    const { error } = await failed('provider');
    expect(error.code).toBe('script_http_error');
    expect(error.upstream).toMatchObject({ status, body });
    expect(error.failure.location).toMatch(at('await svc.post'));
    expect(error.failure.call).toMatchObject({
      method: 'POST',
      status,
      body: JSON.stringify(body),
    });
    expect(error.failure.call?.url).toContain('/orders');
    expect((await runOf(error.run_id)).failure).toEqual(error.failure);
    const shown = await svc('runs', 'show', error.run_id);
    expect(shown.out).toMatch(new RegExp(`POST http.*/orders.* answered ${status}`));
    expect(shown.out).toContain(body.error);
  });

  it('as the cause of another error is shown with it', async () => {
    crm.account.plan('/orders?token=abcdefgh12345678', { status: 404, body: { error: 'gone' } });
    const { error } = await failed('cause');
    expect(error).toMatchObject({
      code: 'script_internal_error',
      message: 'The orders cannot be read',
    });
    expect(error.failure.location).toMatch(at('throw new Error'));
    expect(error.failure.causes).toEqual([
      {
        name: 'AxiosError',
        message: 'Request failed with status code 404',
        code: 'ERR_BAD_REQUEST',
        location: expect.stringMatching(at('await svc.get')),
      },
    ]);
    expect(error.failure.call).toMatchObject({ status: 404 });
    expect(error.failure.call?.url).toContain('token=[removed]');
    const shown = await svc('runs', 'show', error.run_id);
    expect(shown.out).toMatch(/caused by AxiosError: .* \(ERR_BAD_REQUEST\), at crm\/actions/);
  });

  it('leaves no response that can be read once its connection is deleted', async () => {
    const other = await world.connect();
    other.account.plan('/orders', { status: 400, body: { error: 'personal data' } });
    const { body } = await other.action('failing', { how: 'provider' });
    expect((await runOf(body.error.run_id as string)).failure?.call?.body).toContain('personal');
    const path = `/connections/${other.id}?provider_config_key=crm`;
    succeeded(await world.gateway.call('DELETE', path));
    const call = await eventually(
      async () => (await runOf(body.error.run_id as string)).failure?.call,
      (one) => one?.body === null,
    );
    expect(call).toMatchObject({ method: 'POST', status: 400 });
  });
});

describe('lines below the level of the log', () => {
  it('are counted, with the setting that keeps them, and kept for an hour where asked', async () => {
    const runWithLog = async (): Promise<string> => {
      const { error } = await failed('rejected');
      const log = await eventually(
        () => svc('logs', error.run_id),
        ({ out }) => out.includes('out of range'),
      );
      const shown = await eventually(
        () => svc('runs', 'show', error.run_id),
        ({ out }) => out.includes('info:'),
      );
      return `${log.out}${shown.out}`;
    };
    const counted = await runWithLog();
    const said =
      '1 info line was not kept: the level is warn. To keep them for an hour, run svc logs keep';
    expect(counted.split(said)).toHaveLength(3);
    expect(counted).not.toContain('begins');

    const { accountKey: key } = world.gateway;
    const keep = async (minutes: number) =>
      succeeded(
        await world.gateway.call('PATCH', `/environments/${world.environmentId}`, {
          key,
          body: { keep_all_logs_minutes: minutes },
        }),
      ).data.keep_all_logs_until as string;
    expect(Date.parse(await keep(60)) - Date.now()).toBeGreaterThan(50 * 60_000);
    const all = await runWithLog();
    expect(all).toContain('begins');
    expect(all).not.toContain('not kept');
    await keep(0);
    expect(await runWithLog()).toContain(said);
  });

  it('are kept by the command line, of one function or of all, until it ends that', async () => {
    const runOf = async (how: string): Promise<string> => {
      const { error } = await failed(how);
      const log = await eventually(
        () => svc('logs', error.run_id),
        ({ out }) => out.includes('out of range'),
      );
      return log.out;
    };
    const kept = async () =>
      succeeded(await world.gateway.call('GET', '/logs/keep')).data as {
        keep_all_logs_until: string | null;
        functions: { name: string }[];
      };
    const one = await svc('logs', 'keep', 'failing', '--minutes', '15');
    expect(one.out).toMatch(/^failing: log lines of every level until 20/);
    expect(await runOf('rejected')).toContain('begins');
    expect(await kept()).toMatchObject({
      keep_all_logs_until: null,
      functions: [{ integration_id: 'crm', type: 'action', name: 'failing' }],
    });
    await svc('logs', 'keep', 'failing', '--minutes', '0');
    expect(await kept()).toEqual({ keep_all_logs_until: null, functions: [] });
    expect(await runOf('rejected')).not.toContain('begins');

    expect((await svc('logs', 'keep', 'orders')).exitCode).toBe(0);
    expect(await runOf('rejected')).not.toContain('begins');
    expect((await svc('logs', 'keep')).out).toMatch(/^All functions: log lines of every level/);
    expect(await runOf('rejected')).toContain('begins');
    await svc('logs', 'keep', '--minutes', '0');
    const unknown = await svc('logs', 'keep', 'nothing');
    expect([unknown.exitCode, unknown.err]).toEqual([
      1,
      expect.stringContaining('No function "nothing" is deployed'),
    ]);
  });
});

async function setEnvironment(body: Readonly<Record<string, unknown>>): Promise<void> {
  const { accountKey: key } = world.gateway;
  const path = `/environments/${world.environmentId}`;
  succeeded(await world.gateway.call('PATCH', path, { key, body }));
}

describe('an input that does not fit the schema of an action', () => {
  it('is refused with its path, what is expected and what was received', async () => {
    const { status, body } = await crm.action('failing', { how: 7 });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 'invalid_action_input',
      message: expect.stringContaining('how: '),
      errors: [
        {
          code: 'invalid_type',
          message: 'Invalid input: expected string, received number',
          path: ['how'],
        },
      ],
      fix: expect.stringContaining('schema'),
    });
    const shown = await svc('runs', 'show', body.error.run_id as string);
    expect(shown.out).toContain('how: Invalid input: expected string, received number');
    expect(shown.out).toContain(`fix: ${body.error.fix as string}`);
  });

  it('reaches the function where the environment says so', async () => {
    await setEnvironment({ input_validation: 'warn' });
    const { status, body } = await crm.action('failing', { how: 7 });
    await setEnvironment({ input_validation: 'error' });
    expect([status, body]).toEqual([200, { done: true }]);
    expect((await crm.action('failing', { how: 7 })).status).toBe(400);
  });
});

describe('values that do not fit, where the environment refuses them', () => {
  it.each([
    ['an input', {}, 'invalid_action_input', 'how: '],
    ['an output', { how: 'output' }, 'invalid_action_output', 'done: '],
  ])('%s is named with its path, and what to do', async (_what, input, code, path) => {
    await setEnvironment({ validation: 'error' });
    const { status, body } = await crm.action('failing', input);
    await setEnvironment({ validation: 'warn' });
    expect([status, body.error.code]).toEqual([400, code]);
    expect(body.error.message).toContain(path);
    const shown = await svc('runs', 'show', body.error.run_id as string);
    expect(shown.out).toContain(path);
    expect(shown.out).toContain(`fix: ${body.error.fix as string}`);
  });

  it('a model that no sync declares is refused with those that there are', async () => {
    const shown = await svc('records', 'Ordre', crm.id, '-i', 'crm');
    expect(shown.exitCode).toBe(1);
    expect(shown.err).toContain('Ordre');
    expect(shown.err).toContain('Order');
  });
});

describe('other failures', () => {
  it('a rejected promise has the line where its error was made', async () => {
    const { error } = await failed('rejected');
    expect(error.failure).toMatchObject({
      name: 'RangeError',
      location: expect.stringMatching(at('await Promise.reject')),
    });
  });

  it('an ActionError answers its payload alone, and its run has the line', async () => {
    const { status, body } = await crm.action('failing', { how: 'refused' });
    expect([status, body]).toEqual([
      424,
      { error_type: 'action_script_failure', payload: { message: 'No such order' } },
    ]);
    const run = await endedRun('action', (one) => one.error?.code === 'action_script_failure');
    expect(run.error?.location).toMatch(at('throw new svc.ActionError'));
  });

  it('no secret of the connection is shown', async () => {
    const { error } = await failed('secret');
    expect(error.message).toContain('[removed]');
    const all = JSON.stringify([error, await runOf(error.run_id)]);
    expect(all).not.toContain(world.provider.apiKey);
  });

  it('too much memory says so', async () => {
    const { error } = await failed('memory');
    expect(error).toMatchObject({ code: 'function_runtime_out_of_memory' });
    expect(error.fix).toContain('memory');
    expect(error.run_id).toBeDefined();
  });
});
