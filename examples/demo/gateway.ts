import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '#client/index.ts';

const entry = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

interface Options {
  readonly folder: string;
  readonly key: string;
  readonly accountKey: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Request {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Call = <T = unknown>(method: string, path: string, request?: Request) => Promise<T>;

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  /** Full access key of the environment dev. */
  readonly key: string;
  /** With the environment's key. @throws ApiError when it is no success. */
  readonly call: Call;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** With the account's key. */
  readonly account: Call;
}

/** Starts the service as `npm start` does and waits for its line that says it is ready. */
export async function startGateway({ folder, key, accountKey, env }: Options): Promise<Gateway> {
  const child = spawn(process.execPath, [entry], {
    env: {
      ...process.env,
      SVC_PORT: '0',
      SVC_DATA_DIR: folder,
      SVC_LOG_LEVEL: 'warn',
      SVC_BOOTSTRAP_KEY_DEV: key,
      SVC_BOOTSTRAP_ACCOUNT_KEY: accountKey,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"event":"ready"')) resolve((JSON.parse(line) as { url: string }).url);
    });
    void exited.then(() => reject(new Error('the gateway ended before it was ready')));
  });
  console.log(`  ${url}`);
  return {
    url,
    key,
    ended: exited,
    call: caller(url, key),
    account: caller(url, accountKey),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function caller(url: string, key: string): Call {
  const client = createClient({ url, key });
  return <T>(method: string, path: string, request: Request = {}) =>
    client.send(method, path, request) as Promise<T>;
}
