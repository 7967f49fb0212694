import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, type Client } from '#client/index.ts';
import { processVariables } from '../environment.ts';
import { ownPackage } from '../package.ts';
import { programEnv, programs } from '../run-program.ts';

/** A gateway on this machine whose providers are fakes. */
export interface FakedGateway extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  readonly client: Client;
  /** Ends the process at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again with the same data. */
  restart(): Promise<void>;
}

interface Settings {
  /** Of its providers, for `SVC_PROVIDERS`. */
  readonly definitions: Readonly<Record<string, object>>;
  /** Hosts that the gateway may call although they are not public. */
  readonly hostPort: string;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: a new one. */
  readonly key?: string;
  readonly version: string;
}

export async function startFakedGateway(settings: Settings): Promise<FakedGateway> {
  const { definitions, hostPort, port = 0, version } = settings;
  const folder = new FolderOfProcess();
  const providers = join(folder.path, 'providers.json');
  writeFileSync(providers, JSON.stringify(definitions));
  const dataDir = join(folder.path, 'data');
  mkdirSync(dataDir);
  const key = settings.key ?? `svc_env_${randomBytes(32).toString('base64url')}`;
  const { PATH, NODE_COMPILE_CACHE } = processVariables();
  const env = {
    ...programEnv,
    PATH,
    NODE_COMPILE_CACHE,
    SVC_DATA_DIR: dataDir,
    SVC_LOG_LEVEL: 'error',
    SVC_BOOTSTRAP_KEY_DEV: key,
    SVC_PROVIDERS: providers,
    SVC_EGRESS_ALLOW: hostPort,
  };
  const start = (fixedPort = port): Promise<StartedProcess> =>
    startProcess({ ...env, SVC_PORT: String(fixedPort) }, folder);
  let started = await start();
  const clientOf = (url: string): Client =>
    createClient({ url, key, userAgent: `svc-cli/${version}`, retries: 2 });
  let client = clientOf(started.url);
  return {
    get url() {
      return started.url;
    },
    key,
    get client() {
      return client;
    },
    async kill() {
      started.child.kill('SIGKILL');
      await exitOf(started.child);
    },
    async restart() {
      started = await start(Number(new URL(started.url).port));
      client = clientOf(started.url);
    },
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      // Until then its port is taken.
      await exitOf(started.child);
    },
  };
}

async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  await once(child, 'exit');
}

interface StartedProcess {
  readonly child: ChildProcess;
  readonly url: string;
}

/** @throws Error with what it writes, if it ends before it is ready */
async function startProcess(
  env: NodeJS.ProcessEnv,
  folder: FolderOfProcess,
): Promise<StartedProcess> {
  const entry = join(ownPackage().root, 'dist/src/main.js');
  // In a group of its own: a Ctrl-C in the terminal is for this process alone.
  const child = spawn(process.execPath, [...programs.main, entry], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  folder.isUsedBy(child.pid ?? 0);
  const errors: string[] = [];
  createInterface(child.stderr).on('line', (line) => errors.push(line));
  const ready = new Promise<string>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      const url = /^svc listens on (\S+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`The gateway did not start:\n${errors.join('\n')}`);
  });
  const url = await Promise.race([ready, ended]);
  ended.catch(() => undefined);
  unref(child, child.stdout, child.stderr);
  return { child, url };
}

/**
 * A folder of a group of processes. When this process ends, however it does, a shell that reads from it ends the group
 * and removes the folder: a process that removes its own folder would go on writing to it with other threads.
 */
class FolderOfProcess implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), 'svc-fakes-'));
  readonly #keeper = spawn('/bin/sh', ['-c', endAndRemove, 'sh', this.path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });

  constructor() {
    unref(this.#keeper, this.#keeper.stdin);
  }

  /** @param group the id of its first process */
  isUsedBy(group: number): void {
    this.#keeper.stdin.write(`${group}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#keeper, 'exit');
    this.#keeper.ref();
    this.#keeper.stdin.end();
    await ended;
  }
}

/** The last line that it reads is the group. What the processes still had in hand may come after the first removal. */
const endAndRemove = `
group=
while read -r id; do group=$id; done
[ -z "$group" ] || kill -9 "-$group"
rm -rf "$1"; sleep 0.1; rm -rf "$1"`;

function unref(...parts: readonly unknown[]): void {
  for (const part of parts) (part as { unref?: () => void } | null)?.unref?.();
}
