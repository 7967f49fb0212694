/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-argument, typescript/no-unsafe-return --
   a test looks into any answer */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { recoverKey } from '#test/support/processes/starts.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

interface Event {
  readonly environment: string;
  readonly seq: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly outcome: string;
  readonly ip_prefix: string | null;
  readonly details: object | null;
  readonly chain_hash: string;
}

const secret = 'value-that-nobody-may-see';
let folder: string;
let gateway: RunningGateway;
const sandbox = await sharedSandbox();
let made: { readonly id: string; readonly secret: string };

const account = (method: string, path: string, body?: object) =>
  gateway.call(method, path, { key: gateway.accountKey, ...(body ? { body } : {}) });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-audit-'));
  gateway = await startGateway();
  const [dev] = succeeded(await account('GET', '/environments')).data;
  const key = { environment_id: dev.id, display_name: 'ci', scopes: ['environment:proxy'] };
  made = succeeded(await account('POST', '/environment/api-keys', key)).data;
  await account('POST', '/environment/api-keys', key);
  succeeded(await account('POST', `/environment/api-keys/${made.id}/reveal`));
  const set = { body: { value: secret } };
  succeeded(await gateway.call('PUT', '/environment-variables/TOKEN', set));
  for (let n = 0; n < 5; n++) succeeded(await gateway.call('GET', '/environment-variables'));
  await gateway.call('DELETE', '/environment-variables/TOKEN', { key: made.secret });
  await gateway.call('DELETE', '/connections/nobody?provider_config_key=crm');
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const events = async (query = ''): Promise<Event[]> =>
  succeeded(await account('GET', `/audit${query}`)).data;
const all = () => eventually(events, (found) => found.length >= 7);
const svc = (...args: string[]) =>
  commandLine(['audit', ...args], {
    root: folder,
    sandbox,
    variables: { SVC_HOSTPORT: gateway.url, SVC_ACCOUNT_KEY: gateway.accountKey },
  });

describe('the audit trail', () => {
  it('says who did what, with which outcome and from where, and no secret', async () => {
    const found = await all();
    const seen = found.map(({ action, target, outcome }) => [action, target, outcome]);
    expect(seen).toEqual(
      expect.arrayContaining([
        ['api_key.create', `${made.id} ci`, 'success'],
        ['api_key.create', 'ci', 'conflict'],
        ['api_key.reveal', made.id, 'success'],
        ['environment-variables.set', 'TOKEN', 'success'],
        ['variable.read', '*', 'success'],
        ['environment-variables.delete', '*', 'forbidden'],
      ]),
    );
    // The five reads of a minute are one event, and one more when the minute is over.
    expect(seen.filter(([action]) => action === 'variable.read')).toHaveLength(1);
    expect(seen).toContainEqual(['connection.delete', 'crm/nobody', expect.any(String)]);
    for (const { actor, ip_prefix } of found) {
      expect(actor).toMatch(/^key:/);
      expect(ip_prefix).toBe('127.0.0.0/24');
    }
    const text = JSON.stringify(found);
    for (const hidden of [secret, made.secret, gateway.key]) expect(text).not.toContain(hidden);
  });

  it('is found by what happened, page by page, newest first', async () => {
    const found = await all();
    const revealed = await events('?action=api_key.reveal&outcome=success');
    expect(revealed.map(({ target }) => target)).toEqual([made.id]);
    const walked: Event[] = [];
    for (let cursor = ''; ;) {
      const page = succeeded(await account('GET', `/audit?limit=3${cursor}`));
      walked.push(...page.data);
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor as string}`;
    }
    expect(walked).toEqual(found);
    expect((await account('GET', '/audit?cursor=nonsense')).status).toBe(400);
    expect((await gateway.call('GET', '/audit')).status).toBe(403);
  });
});

describe('the chain of the audit trail', () => {
  it('is unbroken when it is computed again', async () => {
    await all();
    const verified = await eventually(
      () => svc('verify', '--json'),
      ({ exitCode }) => exitCode === 0,
    );
    const verdicts = linesOf(verified).map((line) => JSON.parse(line));
    expect(verdicts.length).toBeGreaterThanOrEqual(2);
    for (const { broken } of verdicts) expect(broken).toBeNull();
    const exported = await checkedFetch(`${gateway.url}/audit/export?environment=account&limit=1`, {
      headers: { authorization: `Bearer ${gateway.accountKey}` },
    });
    expect(JSON.parse(await exported.text())).toMatchObject({ environment: 'account', seq: 1 });
  });

  it('is exported up to the end that the owner names, however new that is', async () => {
    const { data } = succeeded(await account('GET', '/audit/chains')) as {
      data: { name: string | null; environment: string; length: number }[];
    };
    const { environment } = data.find(({ name }) => name === 'dev')!;
    for (let n = 0; n < 20; n++) {
      const set = { body: { value: String(n) } };
      succeeded(await gateway.call('PUT', '/environment-variables/REGION', set));
      const chains = succeeded(await account('GET', '/audit/chains')).data as typeof data;
      const { length } = chains.find((one) => one.environment === environment)!;
      const query = `environment=${environment}&from=${length}&limit=1`;
      const exported = await checkedFetch(`${gateway.url}/audit/export?${query}`, {
        headers: { authorization: `Bearer ${gateway.accountKey}` },
      });
      expect(await exported.text()).toContain(`"seq":${length}`);
    }
    succeeded(await gateway.call('DELETE', '/environment-variables/REGION'));
  });

  it('is found by the name of its environment, and an unknown name is a failure', async () => {
    const { data } = succeeded(await account('GET', '/audit/chains')) as {
      data: { name: string | null; environment: string }[];
    };
    const { environment } = data.find(({ name }) => name === 'dev')!;
    const byName = await svc('export', '--environment', 'dev');
    expect(byName.out).not.toBe('');
    expect(linesOf(byName).map((line) => JSON.parse(line))[0]).toMatchObject({ environment });
    for (const word of ['export', 'verify']) {
      const ended = await svc(word, '--environment', 'nowhere');
      expect(ended).toMatchObject({ exitCode: 1, out: '' });
      expect(ended.err).toContain('There is no chain "nowhere"');
    }
  });

  it.each([
    ['says something else', (lines: string[]) => lines.with(1, other(lines[1]!))],
    ['is missing', (lines: string[]) => lines.toSpliced(1, 1)],
    ['stands elsewhere', (lines: string[]) => lines.with(1, lines[2]!).with(2, lines[1]!)],
  ])('shows that an event %s', async (_what, change) => {
    await all();
    const exported = await svc('export', '--environment', 'account');
    expect(exported.exitCode).toBe(0);
    const lines = linesOf(exported);
    const file = join(folder, 'audit.ndjson');
    await writeFile(file, lines.join('\n'));
    expect((await svc('verify', '--file', file)).exitCode).toBe(0);
    await writeFile(file, change([...lines]).join('\n'));
    expect((await svc('verify', '--file', file)).exitCode).toBe(5);
  });
});

const other = (line: string): string => JSON.stringify({ ...JSON.parse(line), target: 'nobody' });

const linesOf = ({ out }: Ended): string[] => out.split('\n').filter((line) => line !== '');

describe('the key of the account, where it was lost', () => {
  it('is rebuilt on the stopped data folder, and audited', async () => {
    const { dataDir } = gateway;
    const running = await recoverKey(dataDir);
    expect(running.out).toBe('');
    expect(running.err).toContain('is in use by another process');
    await gateway.stop();
    const { out, err } = await recoverKey(dataDir);
    expect(err).toBe('');
    expect(out).toMatch(/^svc_acct_\S{43}\n$/);
    gateway = await startGateway({ dataDir });
    const found = await gateway.call('GET', '/environments', { key: out.trim() });
    expect(found.status).toBe(200);
    const [event] = await eventually(
      () => events('?action=account_key.recover'),
      ({ length }) => length === 1,
    );
    expect(event).toMatchObject({ environment: 'account', actor: 'operator:keys-recover' });
    expect((await svc('verify')).exitCode).toBe(0);
    await gateway.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
});
