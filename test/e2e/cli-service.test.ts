import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyDelivery } from '#rules/signature.ts';
import { openWebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { argumentsHere, commandExamples } from '#test/support/judges/help-examples.ts';
import { openTemplateProject, type TemplateProject } from '#test/support/worlds/project-world.ts';
import { until } from '#test/support/worlds/runs.ts';

let world: TemplateProject;
beforeAll(async () => {
  world = await openTemplateProject([
    'freshdesk/tickets',
    'github/issues',
    'hubspot/contacts',
    'jira/projects',
    'slack/send-message',
    'stripe/charges',
    'zendesk/tickets',
  ]);
  const deployed = await world.svc(['deploy', 'dev']);
  if (deployed.exitCode !== 0) throw new Error(deployed.err);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const svc = (line: string) => world.svc(line.split(' '));
const read = (file: string): string => readFileSync(join(world.root, file), 'utf8');

describe('what is in an environment', () => {
  it('connections, all and one of them without its credentials', async () => {
    const listed = await svc('connections -e dev --integration stripe');
    expect(listed).toMatchObject({ exitCode: 0 });
    expect(listed.out).toMatch(
      /^connection +integration +provider +created +errors\ndemo +stripe +stripe +\S+\n$/,
    );
    const shown = await svc('connections demo -i stripe -e dev --json');
    expect(JSON.parse(shown.out)).toMatchObject({ connection_id: 'demo', provider: 'stripe' });
    const path = '/connections/demo?provider_config_key=stripe';
    const { credentials } = (await world.gateway.call('GET', path)).body as {
      credentials: { access_token: string };
    };
    expect(shown.out).not.toContain(credentials.access_token);
    expect(await svc('connections demo -e dev')).toMatchObject({ exitCode: 1 });
    expect(await svc('connections nobody -i stripe -e dev')).toMatchObject({ exitCode: 1 });
  });

  it('syncs: how they stand, and a run, a pause and a start of one', async () => {
    expect((await svc('sync list projects -e dev')).out).toMatch(
      /^sync +integration +connection +status +every +ended +next +records\nprojects +jira +demo /,
    );
    const all = await svc('sync list -e dev --json');
    const names = (JSON.parse(all.out) as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['projects', 'charges']));
    const run = await svc('sync run projects -e dev --connection demo --reset');
    expect(run).toMatchObject({ exitCode: 0, out: 'Running projects of demo of jira\n' });
    const paused = await svc('sync pause projects -i jira -e dev');
    expect(paused.out).toBe('Paused projects of every connection of jira\n');
    await until(async () => {
      const [one] = JSON.parse((await svc('sync list projects -e dev --json')).out) as object[];
      return one !== undefined && 'status' in one && one.status === 'PAUSED' ? one : null;
    });
    expect(await svc('sync start projects -e dev --json')).toMatchObject({
      exitCode: 0,
      out: '{"success":true}\n',
    });
  });

  it('syncs: what needs to be said more clearly', async () => {
    expect((await svc('sync run nothing -e dev')).err).toContain('No integration has');
    expect((await svc('sync run tickets -e dev')).err).toContain('choose with --integration');
    const emptied = await svc('sync run projects -e dev --reset --empty-cache');
    expect(emptied, 'nobody has agreed').toMatchObject({ exitCode: 4, out: '' });
  });

  it('records, line by line, to the end', async () => {
    const of = { provider_config_key: 'jira', connection_id: 'demo' };
    await world.gateway.call('POST', '/sync/trigger', { body: { ...of, syncs: ['projects'] } });
    const whole = await until(async () => {
      const ended = await svc('records TicketCollection demo -i jira -e dev --limit 2 --all');
      return ended.out.split('\n').length > 3 ? ended : null;
    });
    const ids = whole.out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toEqual(['10000', '10001', '10002']);
    const page = await svc('records TicketCollection demo -i jira -e dev --limit 2');
    const [, cursor = ''] = /--cursor (\S+),/.exec(page.err) ?? [];
    const rest = await svc(`records TicketCollection demo -i jira -e dev --cursor ${cursor}`);
    expect(rest.out).toMatch(/^\{.*"id":"10002".*\}\n$/);
    expect(await svc('records TicketCollection demo -e dev')).toMatchObject({ exitCode: 1 });
  });

  it('of an unknown name and an empty result of a known one differ', async () => {
    const model = await svc('records TicketColection demo -i jira -e dev');
    expect(model).toMatchObject({ exitCode: 1, out: '' });
    expect(model.err).toMatch(
      /No function of the integration "jira" declares the model "TicketColection".*TicketCollection/,
    );
    for (const line of ['sync list nothing -e dev', 'sync list nothing -i jira -e dev']) {
      const ended = await svc(line);
      expect(ended, line).toMatchObject({ exitCode: 1, out: '' });
      expect(ended.err).toMatch(/sync nothing$/m);
    }
    const none = await svc('records TicketCollection demo -i jira -e dev --filter deleted');
    expect(none).toMatchObject({ exitCode: 0, out: '', err: 'No records of TicketCollection.\n' });
  });

  it('webhooks and where they go', async () => {
    const client = { client_id: 'svc', client_secret: 'a secret' };
    const oauth = { token_url: 'https://auth.example/token', ...client };
    const body = { url: 'https://receiver.example/hook', oauth };
    const made = await world.gateway.call('POST', '/webhook-endpoints', { body });
    expect(made.status).toBeLessThan(300);
    expect((await svc('webhooks signing-key -e dev')).out).toMatch(/^whsec_[\w+/]{48}\n$/);
    const { out } = await svc('webhooks endpoints -e dev');
    expect(out).toMatch(/https:\/\/receiver\.example\/hook +oauth/);
    expect(await svc('webhooks list -e dev --json')).toMatchObject({ exitCode: 0 });
    expect(await svc('webhooks show -e dev')).toMatchObject({ exitCode: 1 });
    expect((await svc('webhooks bury -e dev')).err).toContain("Unknown command 'bury'");
  });

  it('webhooks as they are made, sent on to this machine and signed', async () => {
    await using receiver = await openWebhookReceiver();
    const interrupt = new AbortController();
    const { gateway } = world;
    const signingKey = 'whsec_YS1rZXktb2YtdGhlLWFwcGxpY2F0aW9u';
    const heard: string[] = [];
    const listening = world.svc(['listen', '-e', 'dev', '--forward', receiver.url, '--json'], {
      variables: {
        SVC_HOSTPORT: gateway.url,
        SVC_SECRET_KEY: gateway.key,
        SVC_WEBHOOK_SIGNING_KEY: signingKey,
      },
      interrupt: interrupt.signal,
      onResult: (line) => {
        // Syncs that run meanwhile have webhooks too.
        if ((JSON.parse(line) as { kind: string }).kind !== 'test') return;
        heard.push(line);
        interrupt.abort();
      },
    });
    const endpoints = await gateway.call('GET', '/webhook-endpoints');
    const [endpoint] = (endpoints.body as { data: { id: string }[] }).data;
    await until(async () => {
      await gateway.call('POST', `/webhook-endpoints/${endpoint?.id ?? ''}/test`);
      return heard[0] ?? null;
    });
    expect(await listening).toMatchObject({ exitCode: 0 });
    const shown = JSON.parse(heard[0] ?? '') as { payload: object };
    expect(shown).toMatchObject({ kind: 'test', forwarded: { status: 200 } });
    const body = JSON.stringify(shown.payload);
    const received = receiver.received.find((one) => one.body === body);
    expect(received).toBeDefined();
    const signature = received?.headers['x-svc-hmac-sha256'] as string;
    expect(verifyDelivery('a-key-of-the-application', received?.body ?? '', signature)).toBe(true);
    const headers = received?.headers as Record<string, string>;
    expect(new Webhook(signingKey).verify(received?.body ?? '', headers)).toEqual(shown.payload);
    expect(await svc('listen -e dev --forward file:///x')).toMatchObject({ exitCode: 1, out: '' });
    const variables = { SVC_HOSTPORT: gateway.url, SVC_WEBHOOK_SIGNING_KEY: 'whsec_' };
    const refused = await world.svc(['listen', '-e', 'dev'], { variables });
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.err).toContain('SVC_WEBHOOK_SIGNING_KEY is whsec_ without base64');
  });

  it('needs a key that the service takes', async () => {
    const variables = { SVC_HOSTPORT: world.gateway.url };
    expect(await world.svc(['connections', '-e', 'dev'], { variables })).toMatchObject({
      exitCode: 3,
    });
    const wrong = { ...variables, SVC_SECRET_KEY: 'svc_env_wrong' };
    const ended = await world.svc(['connections', '-e', 'dev'], { variables: wrong });
    expect(ended).toMatchObject({ exitCode: 3, out: '' });
  });
});

describe('what functions did', () => {
  it('as runs, one of them with what it asked for and saved', async () => {
    const rows = await until(async () => {
      const { out } = await svc('runs list -e dev --function projects --status succeeded --json');
      const found = JSON.parse(out) as { id: string; kind: string }[];
      return found.length > 0 ? found : null;
    });
    expect(rows[0]).toMatchObject({ kind: 'sync', function: 'projects' });
    expect((await svc('runs list -e dev')).out).toMatch(
      /^run +kind +function +connection +status +queued +took +readable/,
    );
    const id = rows[0]?.id ?? '';
    const shown = await svc(`runs show ${id} -e dev`);
    expect(shown.out).toMatch(
      /^sync .*\nsucceeded after [^]*\nafter +what +detail\n0 ms +queued\n/,
    );
    expect((await svc(`runs show ${id} -e dev --json`)).out).toContain('"timeline":[');
    expect(await svc(`runs cancel ${id} -e dev`)).toMatchObject({ exitCode: 1, out: '' });
    for (const line of ['runs show -e dev', 'runs show nothing -e dev'])
      expect(await svc(line)).toMatchObject({ exitCode: 1 });
  });

  it('as operations of the log with their messages', async () => {
    const rows = await until(async () => {
      const { out } = await svc('logs -e dev --type sync:run --sync projects --json');
      const found = JSON.parse(out) as { id: string }[];
      return found.length > 0 ? found : null;
    });
    expect((await svc('logs -e dev --state success')).out).toMatch(/^operation +type +state /);
    const messages = await svc(`logs ${rows[0]?.id ?? ''} -e dev`);
    expect(messages).toMatchObject({ exitCode: 0 });
    expect(messages.out).toContain('/rest/api/3/project/search');
    expect(await svc('logs -e dev --since soon')).toMatchObject({ exitCode: 1 });
    expect(await svc('runs list -e dev --since soon')).toMatchObject({ exitCode: 1 });
  });

  it.each([
    ['logs --follow --sync projects', 'syncConfigName'],
    ['runs tail --kind sync --function projects', 'function'],
  ])('as it changes, by %s until Ctrl-C', async (command, field) => {
    const interrupt = new AbortController();
    const lines: string[] = [];
    const following = world.svc(`${command} -e dev --json`.split(' '), {
      variables: { SVC_HOSTPORT: world.gateway.url, SVC_SECRET_KEY: world.gateway.key },
      interrupt: interrupt.signal,
      onResult: (line) => {
        lines.push(line);
        interrupt.abort();
      },
    });
    await until(async () => {
      await svc('sync run projects -i jira --connection demo -e dev');
      return lines[0] ?? null;
    });
    expect(await following).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(lines[0] ?? '')).toHaveProperty(field, 'projects');
    for (const wrong of ['logs --follow --search x', 'logs --level warn', 'runs tail --limit 1']) {
      expect(await svc(`${wrong} -e dev`)).toMatchObject({ exitCode: 1, out: '' });
    }
  });

  it('the history of a record, and a run that is taken back', async () => {
    const of = 'TicketCollection demo -i jira -e dev';
    const history = await svc(`records history ${of.replace('demo', 'demo 10000')}`);
    expect(history.out).toMatch(
      /^version +at +action +run +actor +payload\n1 +\S+ +added +\S+ +run:\S+ +\{"id":"10000".*\}\n$/,
    );
    const json = await svc(`records history ${of.replace('demo', 'demo 10000')} --json`);
    const { changes } = JSON.parse(json.out) as {
      changes: { run_id: string; last_modified_at: string }[];
    };
    const { run_id: runId, last_modified_at: savedAt } = changes[0]!;
    // A pause may have ended that run after some of the records.
    let own = 0;
    for (const id of ['10000', '10001', '10002']) {
      const { out } = await svc(`records history ${of.replace('demo', `demo ${id}`)} --json`);
      const [first] = (JSON.parse(out) as { changes: typeof changes }).changes;
      if (first?.run_id === runId) own += 1;
    }
    const dry = await until(async () => {
      const ended = await svc(`runs revert ${runId} -e dev --dry-run`);
      return ended.exitCode === 0 ? ended : null;
    });
    expect(dry.out).toMatch(/^model +deleted +updated +restored +unchanged +left\n/);
    expect(dry.out.replaceAll(/ +/g, ' ')).toContain(`\nTicketCollection ${own} 0 0 0 0\n`);
    expect(await svc(`runs revert ${runId} -e dev`)).toMatchObject({ exitCode: 4 });
    const done = await svc(`runs revert ${runId} -e dev --yes`);
    expect(done.out).toMatch(/Reverted by the run \S+\n$/);
    const deleted = await svc(`records ${of} --filter deleted --all`);
    expect(deleted.out.trim().split('\n')).toHaveLength(own);
    const before = await svc(`records ${of} --as-of ${savedAt} --filter deleted --all`);
    expect(before).toMatchObject({ exitCode: 0, out: '' });
    const again = await svc(`runs revert ${runId} -e dev --dry-run`);
    expect(again.err).toContain('Left alone: TicketCollection 10000 (changed_since by ');
  });
});

describe('svc pull', () => {
  it('fetches the source that was deployed, and replaces another only on request', async () => {
    const file = 'stripe/syncs/charges.ts';
    const source = read(file);
    rmSync(join(world.root, file));
    writeFileSync(
      join(world.root, 'index.ts'),
      read('index.ts').replace("import './stripe/syncs/charges.js';\n", ''),
    );
    expect(await svc('pull stripe charges -e dev')).toMatchObject({
      exitCode: 0,
      out: `Pulled ${file}\n`,
    });
    expect(read(file)).toBe(source);
    expect(read('index.ts')).toContain("import './stripe/syncs/charges.js';");
    appendFileSync(join(world.root, file), '// mine\n');
    expect(await svc('pull stripe charges -e dev')).toMatchObject({ exitCode: 4 });
    expect(read(file)).toContain('// mine');
    expect(await svc('pull stripe charges -e dev --sync --force')).toMatchObject({ exitCode: 0 });
    expect(read(file)).toBe(source);
    expect(await svc('pull stripe nothing -e dev')).toMatchObject({ exitCode: 1 });
  });
});

describe('svc init', () => {
  it('makes a project that deploys, connects and syncs as it says', async () => {
    const made = await svc('init made --no-dependency-update');
    expect(made.out).toContain('npx svc deploy ');
    const variables = {
      SVC_HOSTPORT: world.gateway.url,
      SVC_SECRET_KEY_DEV: world.gateway.prodKey,
      CI: '1',
    };
    const root = join(world.root, 'made');
    const inProject = (...args: string[]) => world.svc(args, { root, variables });
    // The functions of the demo belong to integrations of their own, and stay.
    expect(await inProject('demo')).toMatchObject({ exitCode: 0 });
    const deployed = await inProject('deploy');
    expect(deployed, deployed.err).toMatchObject({ exitCode: 0 });
    expect(deployed.err).toContain('Created the integration demo (provider demo-key)');
    expect(deployed.out).toContain('- contacts@v1.0.0');
    expect(deployed.out).not.toContain(' - demo-key');
    const credentials = '{"type":"API_KEY","apiKey":"demo"}';
    const connected = await inProject('connect', 'demo', 'me', '--credentials', credentials);
    expect(connected, connected.err).toMatchObject({ exitCode: 0 });
    const records = await until(async () => {
      const { out } = await inProject('records', 'Contact', 'me', '-i', 'demo', '--all');
      const lines = out.trimEnd().split('\n');
      return lines.length === 250 ? lines : null;
    });
    expect(JSON.parse(records[0] ?? '')).toMatchObject({ id: 'contact-001', name: 'Ada Adler' });
    const pruned = await inProject('deploy', '--prune');
    expect(pruned).toMatchObject({ exitCode: 11 });
    expect(pruned.out).toContain(' - demo-key -> contacts');
  });
});

describe('svc doctor', () => {
  const account = () => ({
    SVC_HOSTPORT: world.gateway.url,
    SVC_SECRET_KEY_DEV: world.gateway.key,
    SVC_ACCOUNT_KEY: world.gateway.accountKey,
    CI: '1',
  });

  it('says of each thing that it is well', async () => {
    const ended = await world.svc(['doctor'], { variables: account() });
    expect(ended).toMatchObject({ exitCode: 0, err: '' });
    for (const what of [
      'node',
      'functions',
      'service',
      'ready',
      'clock',
      'key of dev',
      'account key',
    ]) {
      expect(ended.out).toMatch(new RegExp(`^ok {4}${what} `, 'm'));
    }
  });

  it('says what is wrong, and how to fix it', async () => {
    const wrong = { ...account(), SVC_SECRET_KEY_DEV: 'svc_env_wrong', SVC_ACCOUNT_KEY: 'no' };
    const ended = await world.svc(['doctor'], { variables: wrong });
    expect(ended).toMatchObject({ exitCode: 1 });
    expect(ended.out).toMatch(/^fail {2}key of dev .*\n {6}create a new key/m);
    expect(ended.out).toMatch(/^fail {2}account key .*\n {6}set SVC_ACCOUNT_KEY/m);
    const away = await world.svc(['doctor', '--json'], {
      variables: { SVC_HOSTPORT: 'http://127.0.0.1:9' },
    });
    expect(away.exitCode).toBe(1);
    expect(JSON.parse(away.out)).toContainEqual(
      expect.objectContaining({
        what: 'service',
        state: 'fail',
        said: expect.any(String) as string,
        mend: expect.any(String) as string,
      }),
    );
  });
});

describe('the examples of the help', () => {
  it.each(commandExamples)('svc %s: %s', async (name, example) => {
    const variables = {
      SVC_HOSTPORT: world.gateway.url,
      SVC_SECRET_KEY: world.gateway.key,
      SVC_ACCOUNT_KEY: world.gateway.accountKey,
      CI: '1',
    };
    const interrupt = new AbortController();
    if (name === 'listen') interrupt.abort();
    const ended = await world.svc(argumentsHere(example), {
      variables,
      interrupt: interrupt.signal,
      // What watches until Ctrl-C has it at its first result, or has had it.
      onResult: () => name === 'dev' && interrupt.abort(),
    });
    expect(ended, ended.err).toMatchObject({ exitCode: 0 });
  });
});
