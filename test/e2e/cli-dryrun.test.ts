import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mocks } from '#cli/mocks/mocks.ts';
import { mocksPath } from '#cli/mocks/mocks.ts';
import type { CallFixture, ObjectFixture } from '#fake-providers/objects/fixture.ts';
import { linkPackages } from '#test/packages/tarballs.ts';
import { actionText, syncText } from '#test/support/worlds/functions-project.ts';
import { openTemplateProject, type TemplateProject } from '#test/support/worlds/project-world.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

interface Recording {
  /** Of a template. */
  readonly file: string;
  /** Beside the input of an action, which is that of its first case. */
  readonly args?: readonly string[];
}

const recordings: readonly Recording[] = [
  // Pages by the `Link` header, and metadata.
  { file: 'github/syncs/issues', args: ['-m', '{"repository":"acme/app"}'] },
  { file: 'github/actions/create-issue' },
  // Pages by a search in the body of a POST, then others by cursor.
  { file: 'hubspot/syncs/contacts' },
  { file: 'hubspot/on-events/check-access' },
  // Calls of the handle beside requests: the address of webhooks, and metadata.
  { file: 'zendesk/on-events/register-webhook' },
  { file: 'zendesk/syncs/tickets' },
  { file: 'zendesk/actions/add-comment' },
  // Pages by offset.
  { file: 'jira/syncs/projects' },
  // Pages by number.
  { file: 'freshdesk/syncs/tickets' },
  // From a checkpoint.
  { file: 'stripe/syncs/charges', args: ['-c', '{"lastId":"ch_5"}'] },
  { file: 'notion/syncs/database-pages' },
  { file: 'slack/actions/send-message' },
  // A form as body.
  { file: 'wrike/actions/create-task' },
  { file: 'google-calendar/syncs/events' },
  // A request with an idempotency key, which the function makes in each run.
  { file: 'stripe/actions/create-customer' },
  // Credentials that a person types in.
  { file: 'ashby/syncs/jobs' },
];

let world: TemplateProject;
beforeAll(async () => {
  world = await openTemplateProject(recordings.map(({ file }) => file));
  add(
    'slack/syncs/odd.ts',
    syncText("await svc.batchSave([{ id: '1', more: 2 } as { id: string }], 'Item');"),
  );
  add(
    'slack/actions/throws.ts',
    actionText("    await svc.log('x');\n    throw new TypeError('no such thing');"),
  );
  add(
    'slack/actions/waits.ts',
    actionText("    await svc.log('x');\n    await new Promise((r) => setTimeout(r, 600_000));"),
  );
  add('slack/actions/asks.ts', actionText("    await svc.get({ endpoint: '/nothing' });"));
  add(
    'slack/syncs/many.ts',
    syncText("for (const id of 'abcdefghijkl') await svc.batchSave([{ id }], 'Many');", {
      model: 'Many',
    }),
  );
  add('slack/actions/calls.ts', actionText(callsText));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const partsOf = (file: string) => {
  const [integrationKey = '', folder = '', name = ''] = file.split('/');
  return { integrationKey, folder, name };
};
const pathOf = (file: string): string => {
  const { integrationKey, name } = partsOf(file);
  return mocksPath(integrationKey, name);
};
const read = (file: string): string => readFileSync(join(world.root, file), 'utf8');
const mocksOf = (file: string): Mocks => JSON.parse(read(pathOf(file))) as Mocks;
const fixtureOf = (file: string) => {
  const { integrationKey, name } = partsOf(file);
  return JSON.parse(read(`${integrationKey}/fixtures/${name}.json`)) as unknown;
};
const inputOf = (file: string): string[] => {
  if (partsOf(file).folder !== 'actions') return [];
  const [first] = (fixtureOf(file) as CallFixture).cases;
  return ['--input', JSON.stringify(first?.input)];
};

const callsText = `    const posted = await svc.triggerAction('send-message', { channel_id: 'C1', text: 'b' });
    await svc.setMetadata({ a: { b: 1 } });
    await svc.updateMetadata({ c: 2 });
    await svc.log('found', { posted, metadata: await svc.getMetadata() }, { level: 'warn' });
    await svc.log(\`lock \${await svc.tryAcquireLock({ key: 'k', ttlMs: 1000 })}\`);`;

function add(file: string, text: string): void {
  mkdirSync(dirname(join(world.root, file)), { recursive: true });
  writeFileSync(join(world.root, file), text);
  appendFileSync(join(world.root, 'index.ts'), `import './${file.replace(/\.ts$/, '.js')}';\n`);
}

const dryrun = (...args: string[]) => world.svc(['dryrun', ...args, '-e', 'dev']);

describe('svc dryrun --save', () => {
  it.each(recordings)('keeps what $file asked for and did', async ({ file, args = [] }) => {
    const ended = await dryrun(file, 'demo', '--save', ...inputOf(file), ...args);
    expect(ended, ended.err).toMatchObject({ exitCode: 0 });
    expect(ended.err).toContain(`Saved ${pathOf(file)}`);
    const { svc, output, api } = mocksOf(file);
    expect(api).not.toEqual({});
    const { folder } = partsOf(file);
    if (folder === 'syncs') {
      const { records = {} } = fixtureOf(file) as ObjectFixture;
      for (const [model, expected] of Object.entries(records)) {
        const saved = svc.batchSave[model] as readonly { id: string }[];
        const known = saved.filter(({ id }) => expected.some((one) => one['id'] === id));
        expect(known.length).toBeGreaterThan(0);
        expect(expected).toEqual(expect.arrayContaining(known));
      }
    } else if (folder === 'actions') {
      expect(output).toEqual((fixtureOf(file) as CallFixture).cases[0]?.output);
    }
  });

  it('holds no credential', () => {
    const all = recordings.map(({ file }) => read(pathOf(file))).join();
    const credentials = recordings.flatMap(({ file }) => {
      const { played } = world.fakes.of(partsOf(file).integrationKey);
      return [...played.asked].flatMap(({ headers }) => headers.authorization ?? []);
    });
    expect(new Set(credentials).size).toBeGreaterThan(5);
    for (const credential of credentials)
      expect(all).not.toContain(credential.replace(/^\w+ /, ''));
    expect(all).not.toContain(world.gateway.key);
  });

  it('writes nothing to the service', async () => {
    const path = '/connections/demo?provider_config_key=zendesk';
    expect((await world.gateway.call('GET', path)).body).toMatchObject({ metadata: {} });
  });
});

describe('svc generate:tests and svc test', () => {
  it('write a test of each, which replays what was saved in the sandbox', async () => {
    const generated = await world.svc(['generate:tests', '--auto-confirm']);
    expect(generated).toMatchObject({ exitCode: 0 });
    const files = recordings.map(({ file }) => {
      const { integrationKey, name } = partsOf(file);
      return `${integrationKey}/tests/${integrationKey}-${name}.test.ts`;
    });
    for (const file of files) expect(generated.out).toContain(`Wrote ${file}\n`);
    const modules = join(world.root, 'node_modules');
    linkPackages(modules);
    symlinkSync(repository, join(modules, 'svc'));
    expect(await world.svc(['test', ...files])).toMatchObject({ exitCode: 0 });
    const [file = ''] = files;
    writeFileSync(join(world.root, file), read(file).replace("'issues'", "'none'"));
    expect(await world.svc(['test', file])).toMatchObject({ exitCode: 1 });
  });
});

describe('what svc dryrun prints', () => {
  const hello = '{"channel_id":"C1","text":"It works"}';

  it('is the output of an action', async () => {
    const ended = await dryrun('send-message', 'demo', '--input', hello, '--validate');
    const out = '{\n  "id": "1770000100.000100",\n  "channel_id": "C1"\n}\n';
    expect(ended).toMatchObject({ exitCode: 0, out });
    expect(ended.err).toContain('http [200] POST /chat.postMessage');
  });

  it('is what a sync would save, with counts first', async () => {
    const ended = await dryrun('projects', 'demo');
    const [first, second] = ended.out.split('\n');
    expect(first).toBe(
      'The dry run would produce the following results: {"updated":0,"added":3,"deleted":0}',
    );
    expect(second).toBe(
      'A batch save call would save the following data to the TicketCollection model:',
    );
  });

  it('is one document with --json', async () => {
    const { api } = world.fakes.of('zendesk');
    api.dataset('tickets').delete([101]);
    const { out } = await dryrun('zendesk/syncs/tickets', 'demo', '--json');
    api.reset();
    const printed = JSON.parse(out) as { messages: object[] };
    expect(printed).toMatchObject({
      status: 'success',
      results: { added: 4, updated: 0, deleted: 1 },
      error: null,
    });
    expect(printed.messages).toContainEqual(
      expect.objectContaining({ kind: 'save', model: 'Ticket' }),
    );
    expect(printed.messages).toContainEqual(expect.objectContaining({ kind: 'delete' }));
  });

  it('runs actions that an action sets off, and keeps metadata and locks here', async () => {
    const ended = await dryrun('calls', 'demo', '--diagnostics');
    expect(ended).toMatchObject({ exitCode: 0, out: 'no output\n' });
    expect(ended.err).toContain('"metadata":{"a":{"b":1},"c":2}');
    expect(ended.err).toContain('"posted":{"id":"');
    expect(ended.err).toContain('lock true');
    expect(ended.err).toMatch(/Took \d+\.\d\d s; this process: /);
  });

  it('comes ten messages at a time where somebody can be asked', async () => {
    const args = ['dryrun', 'many', 'demo', '-e', 'dev'];
    const variables = { SVC_HOSTPORT: world.gateway.url, SVC_SECRET_KEY_DEV: world.gateway.key };
    const more = [...args, '--no-dependency-update'];
    const ended = await world.svc(more, { variables, answers: ['n'] });
    expect(ended).toMatchObject({
      exitCode: 0,
      questions: [expect.stringContaining('continue y/n?')],
    });
  });
});

describe('svc connect', () => {
  const svc = (line: string) => world.svc(line.split(' '));

  it('an account, by a link or with its credentials', async () => {
    const link = await svc('connect stripe -e dev');
    expect(link).toMatchObject({ exitCode: 0 });
    expect(link.out).toMatch(/^http\S+\/connect\/ui\/\?session_token=\S+\n$/);
    const again = await svc('connect stripe demo -e dev --json');
    expect(JSON.parse(again.out)).toHaveProperty('connect_link');
    const imported = world.fakes.of('ashby').played.importable();
    const options = ['-e', 'dev', '--provider', 'ashby', '--credentials', JSON.stringify(imported)];
    const made = await world.svc(['connect', 'hiring', 'me', ...options]);
    expect(made).toMatchObject({ exitCode: 0, out: 'Connected me of hiring\n' });
    expect(made.err).toContain('Created the integration hiring of ashby');
    const renewed = await world.svc(['connect', 'hiring', 'me', ...options, '--json']);
    expect(JSON.parse(renewed.out)).toMatchObject({ connection_id: 'me', provider: 'ashby' });
    expect(renewed.out + renewed.err).not.toContain(imported['username']);
  });

  it('no account where something is wrong, and no secret in the message', async () => {
    const wrong = await world.svc(['connect', 'stripe', 'x', '-e', 'dev', '--credentials', 'k3y']);
    expect(wrong).toMatchObject({ exitCode: 1, out: '' });
    expect(wrong.err).toBe('Could not read --credentials: it is not JSON\n');
    expect(await svc('connect -e dev')).toMatchObject({ exitCode: 1, out: '' });
    const { exitCode, err } = await svc('connect nothing -e dev --provider nowhere');
    expect([exitCode, err]).toEqual([1, expect.stringContaining('nowhere')]);
  });
});

describe('svc dryrun --replay', () => {
  it('gives the saved answers, without a service', async () => {
    const variables = { SVC_HOSTPORT: 'http://127.0.0.1:9', CI: '1' };
    const ended = await world.svc(['dryrun', 'projects', '--replay', '--json'], { variables });
    expect(ended).toMatchObject({ exitCode: 0 });
    const { messages } = JSON.parse(ended.out) as { messages: { records: object[] }[] };
    const saved = mocksOf('jira/syncs/projects');
    expect(messages.flatMap(({ records }) => records)).toEqual(
      saved.svc.batchSave['TicketCollection'],
    );
  });

  it.each([
    [['waits'], 12, 'slack/tests/waits.test.json does not exist'],
    [['tickets'], 12, 'choose with --integration'],
    [['projects', '--input', '{}'], 1, '--input cannot be combined with --replay'],
    [[], 1, 'dryrun --replay takes a function'],
  ])('ends as it should for %j', async (words, exitCode, message) => {
    const ended = await world.svc(['dryrun', '--replay', ...words]);
    expect(ended).toMatchObject({ exitCode, out: '' });
    expect(ended.err).toContain(message);
  });
});

describe('a dry run that fails', () => {
  it.each([
    [
      'an ActionError',
      ['send-message', 'demo', '--input', '{"channel_id":"C9","text":"It works"}'],
      'An error occurred during execution\naction_script_runtime_error\n{\n  "type": "channel_not_found",\n  "message": "There is no such channel, or the app may not see it"\n}',
    ],
    [
      "a provider's refusal",
      ['asks', 'demo'],
      'script_http_error\n{\n  "status": 404,\n  "body": {\n    "error": "not_found"',
    ],
    [
      'any other throw',
      ['throws', 'demo'],
      'script_internal_error\n{\n  "name": "TypeError",\n  "message": "no such thing",\n  "stacktrace": [',
    ],
    [
      'a wrong input',
      ['send-message', 'demo', '--input', '{"channel_id":1}'],
      'invalid_action_input\n  text: required, expected string\n  channel_id: expected string, got number',
    ],
    [
      'a wrong record',
      ['odd', 'demo', '--validate'],
      'invalid_sync_record\n  more: unknown field, allowed: ',
    ],
    [
      'an unknown function',
      ['nothing', 'demo'],
      'index.ts names no function "nothing". It names\n  github/syncs/issues\n',
    ],
    ['an unknown connection', ['projects', 'nobody'], '(not_found)'],
    ['a name of two functions', ['tickets', 'demo'], 'choose with --integration'],
  ])('ends with 12 for %s', async (_what, args, message) => {
    const ended = await dryrun(...args);
    expect(ended).toMatchObject({ exitCode: 12 });
    expect(ended.err).toContain(message);
  });

  it.each([
    [['send-message', 'demo', '--input', '{'], 'Could not read --input'],
    [['issues', 'demo', '-c', '{"a":{}}'], '--checkpoint takes a flat JSON object'],
    [['issues', 'demo', '-m', '[]'], '--metadata takes a JSON object'],
    [['issues', 'demo', '-l', 'soon'], '--lastSyncDate takes a date'],
    [['issues'], 'Missing: Connection'],
    [['issues', 'demo', 'more'], "Too many arguments for 'dryrun'"],
  ])('ends with 1 for %j', async (args, message) => {
    const ended = await dryrun(...args);
    expect(ended).toMatchObject({ exitCode: 1, out: '' });
    expect(ended.err).toContain(message);
  });

  it('only warns of a wrong record without --validate', async () => {
    const ended = await dryrun('odd', 'demo');
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.err).toContain('warn: Invalid record payload of Item: more: unknown field');
  });

  it('only warns of a wrong input where that is chosen', async () => {
    const args = ['send-message', 'demo', '--input', '{"channel_id":"C1","text":5}'];
    const ended = await dryrun(...args, '--input-validation', 'warn');
    expect(ended.err).toContain('warn: invalid_action_input: text: expected string, got number');
    expect(ended.err).not.toContain('An error occurred');
    const refused = await dryrun(...args, '--input-validation', 'never');
    expect(refused.exitCode).toBe(1);
    expect(refused.err).toContain('--input-validation takes error or warn');
  });

  it('ends with 130 at Ctrl-C', async () => {
    const args = ['dryrun', 'waits', 'demo', '-e', 'dev'];
    const ended = await world.svc(args, { interrupt: AbortSignal.timeout(500) });
    expect(ended).toMatchObject({ exitCode: 130 });
    expect(ended.err).toContain('Interrupted');
  });
});

describe('the key of a dry run', () => {
  async function keyWith(scopes: readonly string[]): Promise<Record<string, string>> {
    const { gateway } = world;
    const key = gateway.accountKey;
    const listed = await gateway.call('GET', '/environments', { key });
    const { data } = listed.body as { data: { id: number; name: string }[] };
    const made = await gateway.call('POST', '/environment/api-keys', {
      key,
      body: {
        environment_id: data.find(({ name }) => name === 'dev')?.id,
        display_name: scopes.join(),
        scopes,
      },
    });
    const { secret } = (made.body as { data: { secret: string } }).data;
    return { SVC_HOSTPORT: gateway.url, SVC_SECRET_KEY_DEV: secret, CI: '1' };
  }
  const documented = ['environment:connections:read', 'environment:integrations:read'];

  it('needs the documented scopes and no more', async () => {
    const variables = await keyWith([...documented, 'environment:proxy']);
    const args = ['dryrun', 'projects', 'demo', '-e', 'dev'];
    expect(await world.svc(args, { variables })).toMatchObject({ exitCode: 0 });
  });

  it("prints the service's own message where a scope is missing", async () => {
    const args = ['dryrun', 'projects', 'demo', '-e', 'dev'];
    const ended = await world.svc(args, { variables: await keyWith(documented) });
    expect(ended).toMatchObject({ exitCode: 12 });
    expect(ended.err).toContain('environment:proxy');
    expect(await world.svc(args, { variables: { SVC_HOSTPORT: world.gateway.url } })).toMatchObject(
      {
        exitCode: 1,
      },
    );
  });
});
