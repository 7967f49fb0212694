import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

let folder: string;
let gateway: RunningGateway;
const sandbox = await sharedSandbox();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-operators-'));
  const dataDir = join(folder, 'data');
  const first = await startGateway({ dataDir });
  await first.stop();
  {
    await using embedded = await openEmbeddedLog({ directory: join(dataDir, 'log') });
    const messages = ['a', 'b'].map((key) => ({ key, value: Buffer.from('?'), headers: {} }));
    await embedded.log.append([{ topic: 'svc.connections.v1', partition: 1, messages }]);
  }
  gateway = await startGateway({ dataDir });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

const svc = (
  line: string,
  more: {
    readonly answers?: readonly string[];
    readonly key?: string | null;
    readonly secret?: string;
  } = {},
): Promise<Ended> => {
  const key = more.key === undefined ? gateway.accountKey : more.key;
  const variables = {
    SVC_HOSTPORT: gateway.url,
    ...(key === null ? {} : { SVC_ACCOUNT_KEY: key }),
    ...(more.secret === undefined ? {} : { SVC_SECRET_KEY_DEV: more.secret }),
  };
  const { answers } = more;
  const terminal = answers === undefined ? {} : { answers };
  return commandLine(line.split(' '), { root: folder, sandbox, variables, ...terminal });
};
const rowsOf = ({ out }: Ended): string[][] =>
  out
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/));

describe('svc consumers', () => {
  it('lists the groups in columns, and as JSON', async () => {
    const listed = await svc('consumers list');
    expect(listed).toMatchObject({ exitCode: 0, err: '' });
    expect(rowsOf(listed)[0]).toEqual(['group', 'topic', 'resettable', 'lag']);
    expect(listed.out).toContain('svc.webhook-deliveries');
    const json = JSON.parse((await svc('consumers list --json')).out) as { name: string }[];
    expect(json.map(({ name }) => name)).toContain('svc.runners');
    expect((await svc('consumers show svc.runners')).err).toContain('nothing runs twice');
  });

  it('says what a reset would do, asks, and does it', async () => {
    const reset = 'consumers reset svc.sync-instances --to-start';
    const plan = await svc(`${reset} --dry-run`);
    expect(rowsOf(plan)[0]).toEqual(['partition', 'from', 'to', 'read again', 'skipped']);
    expect(await svc(reset)).toMatchObject({ exitCode: 4 });
    const refused = await svc(reset, { answers: ['n'] });
    expect(refused).toMatchObject({ exitCode: 4 });
    expect(refused.questions[0]).toContain('Move svc.sync-instances');
    const agreed = await svc(reset, { answers: ['y'] });
    expect(agreed).toMatchObject({ exitCode: 0 });
    expect(agreed.err).toContain('svc.sync-instances has moved.');
    const one = await svc('consumers reset svc.runners --to-end --partition 1 --yes --json');
    expect(JSON.parse(one.out)).toMatchObject({ partitions: [{ partition: 1, state: 'applied' }] });
  });

  it.each([
    ['consumers reset svc.record-owners --to-start -y', 4, 'only a hint'],
    ['consumers reset svc.runners', 1, 'Choose the position'],
    ['consumers reset svc.runners --to-start --to-end', 1, 'Choose the position'],
    ['consumers reset svc.runners --to-time soon', 1, 'takes a time'],
    ['consumers show nobody', 1, 'there are'],
    ['consumers frobnicate', 1, "Unknown command 'frobnicate'"],
    ['consumers show', 1, "Missing required argument 'group'"],
  ])('%s ends with %i', async (line, exitCode, reason) => {
    const ended = await svc(line);
    expect(ended).toMatchObject({ exitCode, out: '' });
    expect(ended.err).toContain(reason);
  });

  it('needs the key of the account', async () => {
    expect(await svc('consumers list', { key: null })).toMatchObject({ exitCode: 3 });
    expect(await svc('consumers list', { key: gateway.key })).toMatchObject({ exitCode: 3 });
  });
});

describe('svc people', () => {
  const list = async () =>
    JSON.parse((await svc('people list --json')).out) as {
      id: string;
      email: string;
      roles: object[];
      is_active: boolean;
    }[];

  it('invites a person, changes roles, and makes another link', async () => {
    const invited = await svc('people invite Ada@example.com --role dev:developer');
    expect(invited).toMatchObject({ exitCode: 0 });
    expect(invited.out).toMatch(/^http\S+#invitation=\S+\n$/);
    expect(invited.err).toContain('signs in as ada@example.com once, until');
    const [ada] = await list();
    expect(ada).toMatchObject({ email: 'ada@example.com', is_active: true });
    expect(ada?.roles).toEqual([{ environment: 'dev', role: 'developer', from: 'owner' }]);
    const changed = await svc('people role ada@example.com prod support');
    expect(rowsOf(changed)[1]?.[3]).toBe('dev:developer prod:support');
    expect(rowsOf(await svc(`people role ${ada?.id} dev none`))[1]?.[3]).toBe('prod:support');
    const again = await svc('people link ada@example.com');
    expect(again.out).toMatch(/#invitation=/);
    expect(again.out).not.toBe(invited.out);
  });

  it('signs a person out, and lets the person in again', async () => {
    expect(await svc('people sessions ada@example.com')).toMatchObject({ exitCode: 0 });
    expect(rowsOf(await svc('people sessions'))[0]?.[0]).toBe('session');
    expect((await svc('people end-sessions ada@example.com --yes')).out).toBe('Ended 0 sessions\n');
    const refused = await svc('people deactivate ada@example.com', { answers: ['n'] });
    expect(refused).toMatchObject({ exitCode: 4 });
    expect(refused.questions[0]).toContain('Sign ada@example.com out');
    await svc('people deactivate ada@example.com', { answers: ['y'] });
    expect(await list()).toMatchObject([{ is_active: false }]);
    const link = await svc('people link ada@example.com');
    expect(link).toMatchObject({ exitCode: 4, out: '' });
    expect(link.err).toContain('svc people activate ada@example.com');
    await svc('people activate ada@example.com');
    expect(await list()).toMatchObject([{ is_active: true }]);
  });

  it('ends one session', async () => {
    const code = await svc('people invite bob@example.com --role account:owner');
    const [, invitation] = code.out.trim().split('#invitation=');
    const signedIn = await fetch(`${gateway.url}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: gateway.url },
      body: JSON.stringify({ code: invitation }),
    });
    expect(signedIn.status).toBe(201);
    const [session] = JSON.parse((await svc('people sessions bob@example.com --json')).out) as {
      id: string;
    }[];
    expect((await svc(`people end-session ${session?.id} --yes`)).out).toBe('Ended 1 session\n');
    expect(JSON.parse((await svc('people sessions bob@example.com --json')).out)).toEqual([]);
  });

  it.each([
    ['people invite eve@example.com', 1, 'Give a role'],
    ['people invite eve@example.com --role developer', 1, '<environment>:<role>'],
    ['people invite eve@example.com --role nowhere:developer', 1, 'nowhere'],
    ['people role nobody@example.com dev developer', 1, 'There is no person'],
    ['people deactivate ada@example.com', 4, 'add --yes'],
  ])('%s ends with %i', async (line, exitCode, reason) => {
    const ended = await svc(line);
    expect(ended).toMatchObject({ exitCode, out: '' });
    expect(ended.err).toContain(reason);
  });
});

describe('svc status', () => {
  it('shows health, lag, dead letters and failing connections at one look', async () => {
    const shown = await svc('status');
    expect(rowsOf(shown)[0]).toEqual(['what', 'state', 'detail']);
    expect(shown.out).toMatch(/^service +ok +/m);
    expect(shown.out).toMatch(/^projection records +ok +lag \d+$/m);
    expect(shown.out).toMatch(/^dead letters +\w+ +\d+ parked$/m);
    const json = JSON.parse(
      (await svc('status dev --json', { secret: gateway.key })).out,
    ) as object;
    expect(Object.keys(json)).toEqual([
      'health',
      'projections',
      'consumers',
      'dead_letters',
      'connections',
    ]);
    expect(await svc('status', { key: null })).toMatchObject({ exitCode: 3 });
  });
});

describe('svc replay', () => {
  it('shows its effect, asks, and repeats only then', async () => {
    const planned = await svc('replay svc.webhook-deliveries --to-start --dry-run');
    expect(planned).toMatchObject({ exitCode: 0 });
    expect(rowsOf(planned)[0]).toEqual(['partition', 'from', 'to', 'read again', 'skipped']);
    expect(await svc('replay svc.webhook-deliveries --to-start')).toMatchObject({ exitCode: 4 });
    expect(await svc('replay nobody --to-start --yes')).toMatchObject({ exitCode: 1 });
  });
});

describe('svc topics', () => {
  it('lists the topics in columns, and as JSON', async () => {
    const listed = await svc('topics list');
    expect(listed).toMatchObject({ exitCode: 0, err: '' });
    expect(rowsOf(listed)[0]).toEqual(['topic', 'key', 'partitions', 'messages', 'lag']);
    expect(listed.out).toContain('svc.records.v1');
    const json = JSON.parse((await svc('topics --json')).out) as { name: string }[];
    expect(json.map(({ name }) => name)).toContain('svc.runs.v1');
    const one = JSON.parse((await svc('topics show svc.runs.v1')).out) as object;
    expect(one).toMatchObject({ value_schema: { name: 'RunChanged' } });
  });

  it('shows messages, unreadable ones too, page by page', async () => {
    const read = 'topics messages svc.connections.v1 --partition 1';
    const first = await svc(`${read} --limit 1`);
    expect(rowsOf(first)[1]?.[2]).toBe('b');
    expect(first.out).toContain('unreadable');
    const cursor = /--cursor (\S+)/.exec(first.err)?.[1] ?? '';
    expect(rowsOf(await svc(`${read} --limit 1 --cursor ${cursor}`))[1]?.[2]).toBe('a');
    const json = JSON.parse((await svc(`${read} --offset 0 --json`)).out) as object;
    expect(json).toMatchObject({ data: [{ key: 'a' }, { key: 'b' }], next_cursor: null });
    const keyed = await svc('topics messages svc.config.v1 --key environment/none');
    expect(keyed).toMatchObject({ exitCode: 0, err: '' });
    const since = await svc(`${read} --since 2020-01-01T00:00:00Z`);
    expect(rowsOf(since)).toHaveLength(3);
  });

  it.each([
    ['topics messages svc.internal.control.v1', 1, 'No public topic'],
    ['topics messages svc.runs.v1 --offset 1', 1, 'name it with partition'],
    ['topics messages svc.runs.v1 --offset one', 1, 'whole number'],
    ['topics messages', 1, "Missing required argument 'topic'"],
    ['topics produce', 1, "Unknown command 'produce'"],
    ['topics show svc.runs.v1 again', 1, 'Too many'],
  ])('%s ends with %i', async (line, exitCode, reason) => {
    const ended = await svc(line);
    expect(ended).toMatchObject({ exitCode, out: '' });
    expect(ended.err).toContain(reason);
  });

  it('needs the key of the account', async () => {
    expect(await svc('topics list', { key: gateway.key })).toMatchObject({ exitCode: 3 });
  });
});

describe('svc dead-letters', () => {
  it('lists, shows, retries and drops', async () => {
    let ids: string[] = [];
    // A reset of the group may have set the same messages aside once more.
    while (ids.length < 2) {
      const listed = await svc('dead-letters list --consumer svc.sync-instances --state parked');
      const [heads, ...rows] = rowsOf(listed);
      expect(heads).toEqual(['id', 'state', 'consumer', 'message', 'error', 'since']);
      ids = rows.map(([id]) => id ?? '');
    }
    const shown = await svc(`dead-letters show ${ids[0]}`);
    expect(JSON.parse(shown.out)).toMatchObject({ id: ids[0], message: { bytes: 1, value: null } });
    const retried = await svc(`dead-letters retry ${ids[0]}`);
    expect(retried).toMatchObject({ exitCode: 1 });
    expect(retried.err).toContain('Parked again');
    expect(await svc(`dead-letters drop ${ids[0]}`)).toMatchObject({ exitCode: 4 });
    expect(await svc(`dead-letters drop ${ids.join(' ')} --yes`)).toMatchObject({ exitCode: 0 });
    expect(await svc(`dead-letters retry ${ids[0]}`)).toMatchObject({ exitCode: 4 });
    const dropped = await svc('dead-letters list --state dropped --json');
    expect(JSON.parse(dropped.out)).toHaveLength(ids.length);
  });

  it('names what it does not know', async () => {
    expect(await svc('dead-letters bury')).toMatchObject({ exitCode: 1 });
    expect(await svc(`dead-letters show ${crypto.randomUUID()}`)).toMatchObject({ exitCode: 1 });
    expect(await svc('dead-letters list --state lost')).toMatchObject({ exitCode: 1 });
  });
});

describe('svc log', () => {
  it('needs a word and a folder', async () => {
    expect(await svc('log')).toMatchObject({ exitCode: 1 });
    expect(await svc('log copy somewhere')).toMatchObject({ exitCode: 1 });
  });
});
