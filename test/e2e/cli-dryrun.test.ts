import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  examplesFolder,
  openExampleWorld,
  pathOf,
  recordings,
  type ExampleWorld,
} from '#test/support/worlds/example-world.ts';
import { actionText, syncText } from '#test/support/worlds/functions-project.ts';

let world: ExampleWorld;
beforeAll(async () => {
  world = await openExampleWorld();
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
  add('slack/actions/calls.ts', actionText(callsText));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const callsText = `    const posted = await svc.triggerAction('post-message', { channel: '#a', text: 'b' });
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
  it.each(recordings)('keeps what $file asked for and did', async ({ file, args }) => {
    const ended = await dryrun(file, 'demo', '--save', ...args);
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.err).toContain(`Saved ${pathOf(file)}`);
    const kept: unknown = JSON.parse(readFileSync(join(examplesFolder, pathOf(file)), 'utf8'));
    expect(JSON.parse(world.mocksOf(file))).toEqual(kept);
  });

  it('holds no credential', () => {
    const all = recordings.map(({ file }) => world.mocksOf(file)).join();
    expect(all).not.toContain(world.providers.apiKey);
    expect(all).not.toContain(world.gateway.key);
  });

  it('writes nothing to the service', async () => {
    const path = '/connections/demo?provider_config_key=hubspot';
    expect((await world.gateway.call('GET', path)).body).toMatchObject({ metadata: {} });
  });
});

describe('what svc dryrun prints', () => {
  it('is the output of an action', async () => {
    const input = '{"channel":"#general","text":"Hello"}';
    const ended = await dryrun('post-message', 'demo', '--input', input, '--validate');
    expect(ended).toMatchObject({ exitCode: 0, out: '{\n  "ts": "1767254400.000100"\n}\n' });
    expect(ended.err).toContain('http [200] POST /chat.postMessage');
  });

  it('is what a sync would save, with counts first', async () => {
    const ended = await dryrun('companies', 'demo');
    const [first, second] = ended.out.split('\n');
    expect(first).toBe(
      'The dry run would produce the following results: {"updated":0,"added":3,"deleted":0}',
    );
    expect(second).toBe('A batch save call would save the following data to the Company model:');
  });

  it('is one document with --json', async () => {
    const { out } = await dryrun('events', 'demo', '--json', '-c', '{"syncToken":"s"}');
    expect(JSON.parse(out)).toMatchObject({
      status: 'success',
      results: { added: 2, updated: 0, deleted: 1 },
      messages: [{ kind: 'save', model: 'CalendarEvent' }, { kind: 'delete' }],
      error: null,
    });
  });

  it('runs actions that an action sets off, and keeps metadata and locks here', async () => {
    const ended = await dryrun('calls', 'demo', '--diagnostics');
    expect(ended).toMatchObject({ exitCode: 0, out: 'no output\n' });
    expect(ended.err).toContain('"metadata":{"a":{"b":1},"c":2}');
    expect(ended.err).toContain('"posted":{"ts":"1767254400.000100"}');
    expect(ended.err).toContain('lock true');
    expect(ended.err).toMatch(/Took \d+\.\d\d s; this process: /);
  });

  it('comes ten messages at a time where somebody can be asked', async () => {
    const metadata = '{"projects":["A","B","C","D"]}';
    const args = ['dryrun', 'jira/syncs/issues', 'demo', '-e', 'dev', '-m', metadata];
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
    const { apiKey } = world.providers;
    const credentials = JSON.stringify({ type: 'API_KEY', apiKey });
    const options = ['-e', 'dev', '--provider', 'stripe', '--credentials', credentials];
    const made = await world.svc(['connect', 'payments', 'me', ...options]);
    expect(made).toMatchObject({ exitCode: 0, out: 'Connected me of payments\n' });
    expect(made.err).toContain('Created the integration payments of stripe');
    const renewed = await world.svc(['connect', 'payments', 'me', ...options, '--json']);
    expect(JSON.parse(renewed.out)).toMatchObject({ connection_id: 'me', provider: 'stripe' });
    expect(renewed.out + renewed.err).not.toContain(apiKey);
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
    const ended = await world.svc(['dryrun', 'companies', '--replay', '--json'], { variables });
    expect(ended).toMatchObject({ exitCode: 0 });
    const { messages } = JSON.parse(ended.out) as { messages: { records: object[] }[] };
    const saved = JSON.parse(world.mocksOf('freshdesk/syncs/companies')) as {
      svc: { batchSave: { Company: object[] } };
    };
    expect(messages.flatMap(({ records }) => records)).toEqual(saved.svc.batchSave.Company);
  });

  it.each([
    [['waits'], 12, 'slack/tests/waits.test.json does not exist'],
    [['issues'], 12, 'choose with --integration'],
    [['companies', '--input', '{}'], 1, '--input cannot be combined with --replay'],
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
      ['post-message', 'demo', '--input', '{"channel":"#nowhere","text":"x"}'],
      'An error occurred during execution\naction_script_runtime_error\n{\n  "message": "Slack refused: channel_not_found"\n}',
    ],
    [
      "a provider's refusal",
      ['close-ticket', 'demo', '--input', '{"id":"404","comment":"x"}'],
      'script_http_error\n{\n  "status": 404,\n  "body": {\n    "message": "nothing at /api/v2/tickets/404.json"',
    ],
    [
      'any other throw',
      ['throws', 'demo'],
      'script_internal_error\n{\n  "name": "TypeError",\n  "message": "no such thing",\n  "stacktrace": [',
    ],
    [
      'a wrong input',
      ['post-message', 'demo', '--input', '{"channel":1}'],
      'invalid_action_input\n  text: required, expected string\n  channel: expected string, got number',
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
    ['an unknown connection', ['companies', 'nobody'], '(not_found)'],
    ['a name of two functions', ['issues', 'demo'], 'choose with --integration'],
  ])('ends with 12 for %s', async (_what, args, message) => {
    const ended = await dryrun(...args);
    expect(ended).toMatchObject({ exitCode: 12 });
    expect(ended.err).toContain(message);
  });

  it.each([
    [['post-message', 'demo', '--input', '{'], 'Could not read --input'],
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
    const args = ['post-message', 'demo', '--input', '{"channel":"#general","text":5}'];
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
    const args = ['dryrun', 'companies', 'demo', '-e', 'dev'];
    expect(await world.svc(args, { variables })).toMatchObject({ exitCode: 0 });
  });

  it("prints the service's own message where a scope is missing", async () => {
    const args = ['dryrun', 'companies', 'demo', '-e', 'dev'];
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
