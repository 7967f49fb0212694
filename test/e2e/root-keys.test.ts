/* oxlint-disable typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '#test/support/processes/command-line.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

/** Enough for several batches. */
const connectionsMade = 450;
const atOnce = 50;
const newKey = () => randomBytes(32).toString('base64');

let folder: string;
const sandbox = await sharedSandbox();
let gateway: RunningGateway;
/** The key that the first start made. */
let oldKey: string;
const renewed = newKey();
const third = newKey();
const tokens = new Map<string, string>();

const dataDir = () => join(folder, 'data');
const start = (rootKeys: readonly string[] = [], faultPoint = '') =>
  startGateway({
    dataDir: dataDir(),
    env: {
      ...(rootKeys.length === 0 ? {} : { SVC_ENCRYPTION_KEY: rootKeys.join(',') }),
      ...(faultPoint === '' ? {} : { SVC_TEST_FAULT_POINT: faultPoint }),
    },
  });

async function connect(): Promise<string> {
  const id = randomUUID();
  const token = randomUUID();
  const body = {
    provider_config_key: 'oauth',
    connection_id: id,
    credentials: { type: 'OAUTH2', access_token: token },
  };
  succeeded(await gateway.call('POST', '/connections', { body }));
  tokens.set(id, token);
  return id;
}

const tokenOf = async (id: string): Promise<unknown> => {
  const path = `/connections/${id}?provider_config_key=oauth`;
  return succeeded(await gateway.call('GET', path)).credentials.access_token;
};

/** Every connection opens, whichever root key wraps its key. */
async function expectAllOpen(): Promise<void> {
  const ids = [...tokens.keys()];
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce);
    expect(await Promise.all(some.map(tokenOf))).toEqual(some.map((id) => tokens.get(id)));
  }
}

const shown = async () =>
  succeeded(await gateway.call('GET', '/root-keys', { key: gateway.accountKey })).data;

const svc = (line: string) =>
  commandLine(line.split(' '), {
    root: folder,
    sandbox,
    variables: { SVC_HOSTPORT: gateway.url, SVC_ACCOUNT_KEY: gateway.accountKey },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-root-keys-'));
  gateway = await start();
  oldKey = (await readFile(join(dataDir(), 'root.key'), 'utf8')).trim();
  const credentials = { type: 'OAUTH2', client_id: 'app', client_secret: randomUUID() };
  const body = { provider: 'airtable', unique_key: 'oauth', credentials };
  succeeded(await gateway.call('POST', '/integrations', { body }));
  for (let made = 0; made < connectionsMade; made += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, connect));
  }
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the root key', () => {
  it('is changed while reads and writes go on, and a crash in between loses nothing', async () => {
    await gateway.stop();
    gateway = await start([renewed, oldKey], 'root-keys:batch');
    const before = await shown();
    expect(before.root_keys).toMatchObject([
      { known: true, data_keys: 0, removable: false },
      { known: true, removable: false },
    ]);
    expect(before.root_keys[1].data_keys).toBeGreaterThan(connectionsMade);
    expect(before.sealing).toBe(before.root_keys[0].id);
    const account = { key: gateway.accountKey };
    // The process may be gone before its answer.
    await gateway.call('POST', '/root-keys/rewrap', account).catch(() => undefined);
    await gateway.exited;
    expect(gateway.process.signalCode).toBe('SIGKILL');

    gateway = await start([renewed, oldKey]);
    const [oldest = ''] = tokens.keys();
    const made: string[] = [];
    await eventually(
      async () => {
        made.push(await connect());
        expect(await tokenOf(oldest)).toBe(tokens.get(oldest));
        const { rewrap } = await shown();
        expect(rewrap.total).toBe(before.root_keys[1].data_keys);
        // What was wrapped before the crash was not lost.
        expect(rewrap.done).toBeGreaterThan(0);
        expect(rewrap.done).toBeLessThanOrEqual(rewrap.total);
        return rewrap.state as string;
      },
      (state) => state === 'ended',
    );
    expect(made.length).toBeGreaterThan(0);
    expect((await shown()).root_keys).toMatchObject([
      { known: true, removable: false },
      { known: true, data_keys: 0, removable: true },
    ]);
    await expectAllOpen();
  });

  it('shows its progress on the command line, which names no key', async () => {
    const { exitCode, out } = await svc('root-keys show');
    expect(exitCode).toBe(0);
    const rows = out
      .trim()
      .split('\n')
      .map((line) => line.split(/\s{2,}/));
    expect(rows.map(([, role, mayGo]) => [role, mayGo])).toEqual([
      ['role', 'removable'],
      ['wraps new keys', 'no'],
      ['opens', 'yes'],
    ]);
    expect(out).not.toContain(oldKey);
    expect(out).not.toContain(renewed);
    const again = await svc('root-keys rewrap');
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.err).toContain('Rewrapped 0 data keys');
    expect(JSON.parse((await svc('root-keys show --json')).out)).toMatchObject({
      rewrap: { state: 'ended', total: 0 },
    });
  });

  it('of before may be taken away, and is not missed', async () => {
    await gateway.stop();
    gateway = await start([third, renewed]);
    expect((await shown()).root_keys).toMatchObject([
      { data_keys: 0, removable: false },
      { removable: false },
    ]);
    await expectAllOpen();
  });

  it('that still wraps something is not started without', async () => {
    const id = await connect();
    await gateway.stop();
    await expect(start([renewed])).rejects.toThrow(
      /lacks the root key [0-9a-f]{16}, which still wraps 1 data keys/,
    );
    gateway = await start([renewed, third]);
    expect(await tokenOf(id)).toBe(tokens.get(id));
    expect((await svc('root-keys rewrap')).err).toContain('Rewrapped 1 data key\n');
    await gateway.stop();
    gateway = await start([renewed]);
    await expectAllOpen();
  });
});
