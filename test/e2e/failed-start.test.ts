import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  failedStart as startThatFails,
  spawned,
  type Env,
} from '#test/support/processes/starts.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-failed-start-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a start prints that fails, and what it leaves in the folder. */
async function failedStart(env: Env) {
  const ended = await startThatFails(folder, env);
  return { ...ended, left: await readdir(folder) };
}

/** A start that prints the text, over the folder; it runs until it is disposed of. */
async function startThatPrints(text: string) {
  const child = spawned(folder);
  const exited = once(child, 'close');
  let out = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      out += String(chunk);
      if (out.includes(text)) resolve();
    });
    child.once('exit', () => reject(new Error(`ended before it printed ${text}:\n${out}`)));
  });
  /** Resolves with all that it printed. */
  const stop = async (): Promise<string> => {
    child.kill('SIGTERM');
    await exited;
    return out;
  };
  return {
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
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

/** Nothing is made, and no key is shown. */
const nothing = { code: 1, out: '', left: [] };

describe('a first start that fails', () => {
  it('names the address that another process has', async () => {
    await using taken = await takenPort();
    // A start that had come further would fix the partitions.
    const { err, ...rest } = await failedStart({
      SVC_PORT: String(taken.port),
      SVC_PARTITIONS: '2',
    });
    expect(err).toBe(
      `SVC_PORT: 127.0.0.1:${taken.port} is taken by another process; stop it or choose another port (0 = any that is free).\n`,
    );
    expect(rest).toEqual(nothing);
  });

  it('says that the address is not of this machine', async () => {
    const { err, ...rest } = await failedStart({ SVC_HOST: '192.0.2.1', SVC_PORT: '3003' });
    expect(err).toBe(
      'SVC_HOST: 192.0.2.1 cannot be listened on (EADDRNOTAVAIL); name an address of this machine.\n',
    );
    expect(rest).toEqual(nothing);
  });

  it('names each mistake of the definitions', async () => {
    await using stack = new AsyncDisposableStack();
    const definitions = await mkdtemp(join(tmpdir(), 'svc-definitions-'));
    stack.defer(() => rm(definitions, { recursive: true }));
    const file = join(definitions, 'mine.yaml');
    await writeFile(file, 'crm:\n  display_name: 3\n  auth_mode: NONE\n  categories: [crm]\n');
    const { err, ...rest } = await failedStart({ SVC_PROVIDERS: file });
    expect(err).toBe(
      [
        'SVC_PROVIDERS cannot be used:',
        '  mine.yaml: crm.docs: required',
        '  mine.yaml: crm.display_name: expected string, got number',
        '',
      ].join('\n'),
    );
    expect(rest).toEqual(nothing);
  });

  it('says where it looked for definitions', async () => {
    const { err, ...rest } = await failedStart({ SVC_PROVIDERS: join(folder, 'none') });
    expect(err).toBe(
      `SVC_PROVIDERS cannot be used:\n  ${join(folder, 'none')}: no such file or folder\n`,
    );
    expect(rest).toEqual(nothing);
  });

  it('says that its folder cannot be made', async () => {
    const dataDir = join(fileURLToPath(import.meta.url), 'data');
    const { err, ...rest } = await failedStart({ SVC_DATA_DIR: dataDir });
    expect(err).toBe(
      `SVC_DATA_DIR: ${dataDir} cannot be created (ENOTDIR); name a folder that this user may write to.\n`,
    );
    expect(rest).toEqual(nothing);
  });

  it('says which root key is none, without showing it', async () => {
    const { err, ...rest } = await failedStart({ SVC_ENCRYPTION_KEY: 'c2hvcnQ=' });
    expect(err).toBe(
      'SVC_ENCRYPTION_KEY: entry 1 must be 32 bytes in base64 (openssl rand -base64 32)\n',
    );
    expect(rest).toEqual(nothing);
  });

  it('for keys of no valid form names their settings', async () => {
    const wrong = {
      SVC_BOOTSTRAP_KEY_DEV: 'svc_env_tooshort',
      SVC_BOOTSTRAP_ACCOUNT_KEY: 'hunter2',
    };
    const { err, ...rest } = await failedStart(wrong);
    expect(err.split('\n')).toEqual([
      expect.stringMatching(/^SVC_BOOTSTRAP_ACCOUNT_KEY: expected svc_acct_ and 43 characters of /),
      expect.stringMatching(/^SVC_BOOTSTRAP_KEY_DEV: expected svc_env_ and 43 characters of /),
      '',
    ]);
    expect(err).not.toMatch(/tooshort|hunter2/);
    expect(rest).toEqual(nothing);
  });

  it.each([
    ['SVC_EGRESS_ALLOW', 'nowhere'],
    ['SVC_CLICKHOUSE_URL', 'http://user:secret@127.0.0.1:8123/no-name'],
  ])('names the setting: %s', async (name, wrong) => {
    const { err, ...rest } = await failedStart({ [name]: wrong });
    expect(err).toMatch(new RegExp(`^${name}.*\n`));
    expect(err).not.toMatch(/ at |secret/);
    expect(rest).toEqual(nothing);
  });

  it('leaves the first start to the next one, which shows its keys', async () => {
    await using started = await startThatPrints('account  ');
    const printed = await started.stop();
    expect(printed).toMatch(/^ {2}dev {6}svc_env_\S{43}$/m);
    expect(printed).toMatch(/^ {2}prod {5}svc_env_\S{43}$/m);
    expect(printed).toMatch(/^ {2}account {2}svc_acct_\S{43}$/m);
  });
});

describe('a later start that fails', () => {
  it('says that its root key is another one', async () => {
    const other = randomBytes(32).toString('base64');
    const { code, err } = await failedStart({ SVC_ENCRYPTION_KEY: other });
    expect(err).toBe(
      'SVC_ENCRYPTION_KEY does not decrypt the stored secrets. Start with the key that was used before ' +
        '(to change it, put the new key first and keep the old one after it).\n',
    );
    expect(code).toBe(1);
  });

  it('names the file of its root key where that holds another one', async () => {
    const file = join(folder, 'root.key');
    const kept = await readFile(file);
    await writeFile(file, `${randomBytes(32).toString('base64')}\n`);
    const { code, err } = await failedStart({});
    await writeFile(file, kept);
    expect(err).toBe(
      `The root key in ${file} does not decrypt the stored secrets. ` +
        'Restore the file from its backup, or give the key in SVC_ENCRYPTION_KEY: nothing else opens what is sealed here.\n',
    );
    expect(code).toBe(1);
  });

  it('says that the partitions of the log are fixed', async () => {
    const { code, err } = await failedStart({ SVC_PARTITIONS: '8' });
    expect(err).toMatch(/^SVC_PARTITIONS is 8, .* has 4 partitions .*; required are 8 .*\n$/);
    expect(code).toBe(1);
  });

  it('for want of its root key makes no other one', async () => {
    const file = join(folder, 'root.key');
    const kept = await readFile(file);
    await rm(file);
    const { code, err, left } = await failedStart({});
    await writeFile(file, kept);
    expect(err).toMatch(/^The root key cannot be read from \S+root\.key: .*Restore the file .*\n$/);
    expect(code).toBe(1);
    expect(left).not.toContain('root.key');
  });

  it('says that another process has its folder, which makes no keys again', async () => {
    await using running = await startThatPrints('svc listens on');
    const { code, err } = await failedStart({});
    expect(err).toBe(
      `SVC_DATA_DIR: The event log in ${join(folder, 'log')} is in use by another process. ` +
        'Stop that one, or choose another folder.\n',
    );
    expect(code).toBe(1);
    expect(await running.stop()).not.toContain('Keys of the first start');
  });
});
