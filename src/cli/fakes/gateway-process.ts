import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/**
 * The process removes its data and ends when this process has ended, however it ended: its standard input closes.
 * Threads and child processes get the same option, and do nothing.
 */
const endWithParent = `
import { rmSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread && process.argv[1]?.endsWith('main.js')) {
  process.stdin.on('end', () => {
    rmSync(process.env.SVC_FAKED_DATA, { recursive: true, force: true });
    process.kill(process.pid, 'SIGKILL');
  }).resume().unref();
}`;

export async function startFakedGateway(settings: Settings): Promise<FakedGateway> {
  const { definitions, hostPort, port = 0, version } = settings;
  const folder = mkdtempSync(join(tmpdir(), 'svc-fakes-'));
  const providers = join(folder, 'providers.json');
  writeFileSync(providers, JSON.stringify(definitions));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const key = settings.key ?? `svc_env_${randomBytes(32).toString('base64url')}`;
  const { PATH, NODE_COMPILE_CACHE } = processVariables();
  const env = {
    ...programEnv,
    PATH,
    NODE_COMPILE_CACHE,
    SVC_PORT: String(port),
    SVC_DATA_DIR: dataDir,
    SVC_LOG_LEVEL: 'error',
    SVC_BOOTSTRAP_KEY_DEV: key,
    SVC_PROVIDERS: providers,
    SVC_EGRESS_ALLOW: hostPort,
    SVC_FAKED_DATA: folder,
  };
  const start = async (fixedPort = port): Promise<StartedProcess> =>
    startProcess({ ...env, SVC_PORT: String(fixedPort) });
  let started = await start();
  const clientOf = (url: string): Client =>
    createClient({ url, key, userAgent: `svc-cli/${version}`, retries: 2 });
  let client = clientOf(started.url);
  const kill = async (): Promise<void> => {
    const { child } = started;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    get url() {
      return started.url;
    },
    key,
    get client() {
      return client;
    },
    kill,
    async restart() {
      started = await start(Number(new URL(started.url).port));
      client = clientOf(started.url);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface StartedProcess {
  readonly child: ChildProcess;
  readonly url: string;
}

/** @throws Error with what it writes, if it ends before it is ready */
async function startProcess(env: NodeJS.ProcessEnv): Promise<StartedProcess> {
  const entry = join(ownPackage().root, 'dist/src/main.js');
  const guard = `data:text/javascript,${encodeURIComponent(endWithParent)}`;
  const args = ['--import', guard, ...programs.main, entry];
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
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
  for (const stream of [child, child.stdin, child.stdout, child.stderr])
    (stream as { unref?: () => void }).unref?.();
  return { child, url };
}
