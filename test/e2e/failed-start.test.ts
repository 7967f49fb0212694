import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { failedStart as startThatFails, spawned, type Env } from '../support/starts.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-failed-start-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const failedStart = (env: Env) => startThatFails(folder, env);

/** What a start prints until it is asked to stop, once it has shown its keys. */
const shownKeys = () => printedUntil('account  ');

/** What a start prints until it is asked to stop, once it has printed the text. */
async function printedUntil(text: string): Promise<string> {
  const child = spawned(folder);
  let out = '';
  for await (const chunk of child.stdout!) {
    out += String(chunk);
    if (out.includes(text)) child.kill('SIGTERM');
  }
  return out;
}

async function takenPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a start that fails', () => {
  it('makes no keys that nobody sees', async () => {
    {
      await using taken = await takenPort();
      const { code, out, err } = await failedStart({ SVC_PORT: String(taken.port) });
      expect(err).toBe(
        `SVC_PORT: 127.0.0.1:${taken.port} is taken by another process; stop it or choose another port (0 = any that is free).\n`,
      );
      expect({ code, out }).toEqual({ code: 1, out: '' });
    }
    const keys = await shownKeys();
    expect(keys).toMatch(/^ {2}dev {6}svc_env_\S{43}$/m);
    expect(keys).toMatch(/^ {2}account {2}svc_acct_\S{43}$/m);
  });

  it('says that the address is not of this machine', async () => {
    const { code, err } = await failedStart({ SVC_HOST: '192.0.2.1', SVC_PORT: '3003' });
    expect(err).toBe(
      'SVC_HOST: 192.0.2.1 cannot be listened on (EADDRNOTAVAIL); name an address of this machine.\n',
    );
    expect(code).toBe(1);
  });

  it('names each mistake of the definitions', async () => {
    const file = join(folder, 'mine.yaml');
    await writeFile(file, 'crm:\n  display_name: 3\n  auth_mode: NONE\n  categories: [crm]\n');
    const { code, err } = await failedStart({ SVC_PROVIDERS: file });
    expect(err).toBe(
      [
        'SVC_PROVIDERS cannot be used:',
        '  mine.yaml: crm: display_name: Invalid input: expected string, received number',
        '  mine.yaml: crm: docs: Invalid input: expected string, received undefined',
        '',
      ].join('\n'),
    );
    expect(code).toBe(1);
  });

  it('says where it looked for definitions', async () => {
    const { code, err } = await failedStart({ SVC_PROVIDERS: join(folder, 'none') });
    expect(err).toBe(
      `SVC_PROVIDERS cannot be used:\n  ${join(folder, 'none')}: no such file or folder\n`,
    );
    expect(code).toBe(1);
  });

  it('says that its folder cannot be made', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { code, err } = await failedStart({ SVC_DATA_DIR: join(file, 'data') });
    expect(err).toBe(
      `SVC_DATA_DIR: ${join(file, 'data')} cannot be made (ENOTDIR); name a folder that this user may write to.\n`,
    );
    expect(code).toBe(1);
  });

  it('says that another process has its folder', async () => {
    await using running = await startGateway();
    const { code, err } = await failedStart({ SVC_DATA_DIR: running.dataDir });
    expect(err).toBe(
      `SVC_DATA_DIR: The event log in ${join(running.dataDir, 'log')} is in use by another process. ` +
        'Stop that one, or choose another folder.\n',
    );
    expect(code).toBe(1);
  });

  it('says that its root key is another one', async () => {
    await shownKeys();
    const other = randomBytes(32).toString('base64');
    const { code, err } = await failedStart({ SVC_ENCRYPTION_KEY: other });
    expect(err).toBe(
      'SVC_ENCRYPTION_KEY does not open what is stored here. Start with the key that was used before ' +
        '(to change it, put the new key first and keep the old one after it).\n',
    );
    expect(code).toBe(1);
  });

  it('says which root key is none, without showing it', async () => {
    const { code, err } = await failedStart({ SVC_ENCRYPTION_KEY: 'c2hvcnQ=' });
    expect(err).toBe(
      'SVC_ENCRYPTION_KEY: entry 1 must be 32 bytes in base64 (openssl rand -base64 32)\n',
    );
    expect(code).toBe(1);
  });

  it('for a key of no valid form names its setting, and leaves the first start to the next one', async () => {
    const wrong = {
      SVC_BOOTSTRAP_KEY_DEV: 'svc_env_tooshort',
      SVC_BOOTSTRAP_ACCOUNT_KEY: 'hunter2',
    };
    const { code, out, err } = await failedStart(wrong);
    expect(err.split('\n')).toEqual([
      expect.stringMatching(/^SVC_BOOTSTRAP_ACCOUNT_KEY: expected svc_acct_ and 43 characters of /),
      expect.stringMatching(/^SVC_BOOTSTRAP_KEY_DEV: expected svc_env_ and 43 characters of /),
      '',
    ]);
    expect(err).not.toMatch(/tooshort|hunter2/);
    expect({ code, out, left: await readdir(folder) }).toEqual({ code: 1, out: '', left: [] });
    expect(await shownKeys()).toMatch(/dev .*prod .*account /s);
  });

  it('for a setting leaves nothing behind', async () => {
    await using taken = await takenPort();
    const wrongs: Env[] = [
      { SVC_PORT: String(taken.port), SVC_PARTITIONS: '2' },
      { SVC_PROVIDERS: join(folder, 'none') },
      { SVC_EGRESS_ALLOW: 'nowhere' },
      { SVC_CLICKHOUSE_URL: 'http://user:secret@127.0.0.1:8123/no-name' },
    ];
    for (const wrong of wrongs) {
      const { code, err } = await failedStart(wrong);
      expect({ code, left: await readdir(folder) }).toEqual({ code: 1, left: [] });
      expect(err).toMatch(new RegExp(`^${Object.keys(wrong)[0]}.*\n`));
      expect(err).not.toMatch(/ at |secret/);
    }
  });

  it('says that the partitions of the log are fixed', async () => {
    await shownKeys();
    const { code, err } = await failedStart({ SVC_PARTITIONS: '8' });
    expect(err).toMatch(/^SVC_PARTITIONS is 8, .* has 4 partitions .* instead of 8 .*\n$/);
    expect(code).toBe(1);
  });

  it('for want of its root key makes no other one', async () => {
    await shownKeys();
    const file = join(folder, 'root.key');
    const kept = await readFile(file);
    await rm(file);
    const { code, err } = await failedStart({});
    expect(err).toMatch(/^The root key cannot be read from \S+root\.key: .*Restore the file .*\n$/);
    expect({ code, left: await readdir(folder) }).toEqual({
      code: 1,
      left: expect.not.arrayContaining(['root.key']) as unknown,
    });
    await writeFile(file, kept);
    expect(await printedUntil('svc listens on')).not.toContain('Keys of the first start');
  });
});

describe('a thread that ends unasked', () => {
  const hook = fileURLToPath(new URL('../support/end-thread.js', import.meta.url));

  it.each([
    ['log', 'exit', 'it ended with code 3'],
    ['owners', 'throw', 'RangeError: made to fail'],
    ['projection', 'exit', 'it ended with code 3'],
  ])('ends the process with one line: %s, by %s', async (thread, how, reason) => {
    await using gateway = await startGateway({
      dataDir: folder,
      env: { NODE_OPTIONS: `--import=${hook}` },
    });
    await writeFile(join(folder, `${how}-${thread}`), '');
    await gateway.exited;
    const lines = gateway.log.filter((line) => !line.includes('ExperimentalWarning'));
    const logged = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
    const fatal = logged.filter(({ level }) => level === 60);
    expect(fatal.map(({ msg }) => msg)).toEqual([`The ${thread} thread failed: ${reason}`]);
  });
});
