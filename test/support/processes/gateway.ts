import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { checkAnswer } from '../judges/answers.ts';
import { deploymentEnv, inheritedEnv } from './deployment.ts';
import { limitsVariable } from './with-limits.ts';

const program = fileURLToPath(new URL('../../../dist/src/main.js', import.meta.url));
/** A build has the limits within its bundles: those of the sources can be replaced. */
const source = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const programWith = (env: GatewayOptions['env']): string =>
  env?.[limitsVariable] === undefined ? program : source;

/** A start that hangs is killed before the time limit of its test, so that no process is left. */
const startLimitMs = 240_000;

export interface GatewayOptions {
  /** Kept when given; otherwise made and removed with the gateway. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The program; default: that of this repository, built by `built-programs.ts`. */
  readonly entry?: string;
  /** The program of an earlier release: its answers are not held against the document of this tree. */
  readonly earlier?: string;
  /** What comes before the command of the process. */
  readonly within?: readonly string[];
  /** Takes the lines of stderr as they come, also before it is ready. */
  readonly onLine?: (line: string) => void;
}

/** What a test needs to call a gateway that it does not stop. */
export interface GatewayAccess {
  readonly url: string;
  /** Full access key of the test's environment: dev, or one of its own on a shared gateway. */
  readonly key: string;
  /** Full access key of another environment. */
  readonly prodKey: string;
  readonly accountKey: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface RunningGateway extends GatewayAccess, AsyncDisposable {
  readonly dataDir: string;
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  /** Lines of stderr so far. */
  readonly log: readonly string[];
  stop(): Promise<void>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the dev key. Null: no Authorization header. */
  readonly key?: string | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into any answer
  readonly body: any;
}

/** The keys are those of every test gateway with the same data folder. */
const keys = {
  key: `svc_env_${randomBytes(32).toString('base64url')}`,
  prodKey: `svc_env_${randomBytes(32).toString('base64url')}`,
  accountKey: `svc_acct_${randomBytes(32).toString('base64url')}`,
};

/** Starts the real service in a process of its own and waits until it is ready. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const isOwnFolder = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'svc-gateway-')));
  const [command, ...args] = [
    ...(options.within ?? []),
    process.execPath,
    options.earlier ?? options.entry ?? programWith(options.env),
  ];
  const child = spawn(command, args, {
    env: {
      ...inheritedEnv(),
      SVC_PORT: '0',
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'warn',
      SVC_BOOTSTRAP_KEY_DEV: keys.key,
      SVC_BOOTSTRAP_KEY_PROD: keys.prodKey,
      SVC_BOOTSTRAP_ACCOUNT_KEY: keys.accountKey,
      ...deploymentEnv(dataDir),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    options.onLine?.(line);
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = await readyUrl(child, exited, log);

  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const isDown = await Promise.race([exited.then(() => true), expired(30_000)]);
    if (!isDown) child.kill('SIGKILL');
    await exited;
  }
  return {
    ...accessTo(url, keys, options.earlier === undefined ? checkAnswer : () => undefined),
    dataDir,
    process: child,
    exited,
    log,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      if (isOwnFolder) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function expired(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}

async function readyUrl(child: ChildProcess, exited: Promise<number | null>, log: string[]) {
  const lines = createInterface({ input: child.stdout! });
  const ready = new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      if (!line.startsWith('{')) return;
      const event = JSON.parse(line) as { event?: string; url?: string };
      if (event.event === 'ready') resolve(event.url!);
    });
  });
  const gone = exited.then((code) => {
    throw new Error(
      `the gateway ended with ${String(code)} before it was ready:\n${log.join('\n')}`,
    );
  });
  const url = await Promise.race([ready, gone, expired(startLimitMs)]);
  if (url !== false) return url;
  child.kill('SIGKILL');
  throw new Error(`the gateway was not ready within ${startLimitMs} ms:\n${log.join('\n')}`);
}

type GatewayKeys = Pick<GatewayAccess, 'key' | 'prodKey' | 'accountKey'>;

export function accessTo(url: string, of: GatewayKeys, check = checkAnswer): GatewayAccess {
  const named = (options: CallOptions = {}) => ({
    ...options,
    key: options.key === undefined ? of.key : options.key,
  });
  return {
    url,
    ...of,
    call: (method, path, options) => call(url, method, path, { ...named(options), check }),
  };
}

async function call(
  base: string,
  method: string,
  path: string,
  options: CallOptions & { readonly check: typeof checkAnswer },
): Promise<Answer> {
  const { key = null, check } = options;
  const response = await fetch(new URL(path, base), {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await response.text();
  check(method, path, { status: response.status, headers: response.headers, text });
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as unknown) : text,
  };
}
