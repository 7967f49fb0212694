import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '#test/services/ports.ts';
import { probed } from '#test/support/processes/probe.ts';
import { spawned, type Env } from '#test/support/processes/starts.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-first-start-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const random = () => randomBytes(32).toString('base64url');
const given = {
  SVC_BOOTSTRAP_KEY_DEV: `svc_env_${random()}`,
  SVC_BOOTSTRAP_KEY_PROD: `svc_env_${random()}`,
  SVC_BOOTSTRAP_ACCOUNT_KEY: `svc_acct_${random()}`,
};

function start(env: Env) {
  const child = spawned(folder, env);
  let out = '';
  let all = '';
  child.stdout!.on('data', (chunk: Buffer) => (out += String(chunk)));
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk: Buffer) => (all += String(chunk)));
  }
  const exited = once(child, 'close');
  const stopped = async (): Promise<string> => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await exited;
    return all;
  };
  return {
    out: () => out,
    all: () => all,
    /** Resolves when the text is on stdout. */
    async printed(text: string): Promise<void> {
      while (!out.includes(text)) {
        if (child.exitCode !== null) throw new Error(`the gateway ended:\n${all}`);
        await sleep(10);
      }
    },
    /** All that it printed until it was stopped. */
    stopped,
    async [Symbol.asyncDispose]() {
      await stopped();
    },
  };
}

/** Signs in with the link that the output shows. @returns the environments of the session's keys, or `account` */
async function keysOfLink(base: string, out: string): Promise<readonly string[]> {
  const [, address, code] = /^Console, .*: (\S+)\/console#code=(\S+)$/m.exec(out) ?? [];
  expect(address).toBe(base);
  const answer = await fetch(`${base}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ code }),
  });
  const { keys } = (await answer.json()) as { keys: { environment: { name: string } | null }[] };
  return keys.map(({ environment }) => environment?.name ?? 'account');
}

describe('a start', () => {
  it('prints the keys that it made, and none that it was given', async () => {
    const { SVC_BOOTSTRAP_KEY_DEV } = given;
    const secrets = {
      SVC_BOOTSTRAP_KEY_DEV,
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    await using running = start({ ...secrets, SVC_LOG_LEVEL: 'trace' });
    await running.printed('account  ');
    const out = running.out();
    expect(out).toMatch(/^ {2}prod {5}svc_env_\S{43}\n {2}account {2}svc_acct_\S{43}\n$/m);
    for (const secret of Object.values(secrets)) expect(running.all()).not.toContain(secret);
  });

  it('is ready only once each key works, the first time and again', async () => {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    for (const time of ['first', 'second']) {
      await using running = start({ ...given, SVC_PORT: String(port) });
      while ((await probed(`${base}/ready`)) !== 200);
      const statuses = await Promise.all([
        probed(`${base}/connections`, given.SVC_BOOTSTRAP_KEY_DEV),
        probed(`${base}/connections`, given.SVC_BOOTSTRAP_KEY_PROD),
        probed(`${base}/environments`, given.SVC_BOOTSTRAP_ACCOUNT_KEY),
      ]);
      expect([time, ...statuses]).toEqual([time, 200, 200, 200]);
      await running.printed('svc listens on');
      await running.printed('#code=');
      expect(await keysOfLink(base, running.out())).toEqual(['account', 'dev', 'prod']);
      expect(await running.stopped()).not.toMatch(/svc_env_|svc_acct_|Keys of the first start/);
    }
  });
});

describe('--smoke', () => {
  const program = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
  const smoke = (env: Env) =>
    promisify(execFile)(process.execPath, [program, '--smoke'], {
      env: { ...process.env, SVC_DATA_DIR: folder, TMPDIR: folder, SVC_LOG_LEVEL: 'warn', ...env },
    });

  it('syncs the demo provider in a folder of its own, leaves nothing behind and exits 0', async () => {
    const { stdout } = await smoke({ SVC_HOST: '0.0.0.0', SVC_DEMO: 'no' });
    expect(stdout).toBe('The gateway works: it synced 250 records.\n');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('exits 1 with the reason where it cannot work', async () => {
    const servers = {
      SVC_LOG_URL: 'kafka://127.0.0.1:1',
      SVC_REGISTRY_URL: 'http://127.0.0.1:1',
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    await expect(smoke(servers)).rejects.toMatchObject({
      code: 1,
      stderr: '--smoke: needs the embedded log; leave SVC_LOG_URL out.\n',
    });
  });
});
