/** A gateway whose records are written all the time (`load-child.ts`), and the commands about its projections. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import { roundsOf } from '../judges/long-run.ts';
import { seedOfRun } from '../judges/random.ts';
import { startChild } from './child.ts';
import { commandLine, type Ended } from './command-line.ts';

/** Between two writes of a stream: what is written meanwhile is rebuilt, too. */
const writePauseMs = roundsOf({ push: 800, all: 200 });

export interface LoadedGateway {
  readonly url: string;
  /** `svc projections` with the arguments. */
  svc(...args: readonly string[]): Promise<Ended>;
  /** Ends the writers; what they wrote is readable then. */
  stopWriting(): Promise<void>;
  kill(): Promise<void>;
  end(): Promise<void>;
}

export interface LoadedGateways extends AsyncDisposable {
  /** Of an environment key that reads the records. */
  readonly headers: Readonly<Record<string, string>>;
  /** Over the same data each time; the first start fills in so many records. */
  start(count: number): Promise<LoadedGateway>;
}

export async function openLoadedGateways(): Promise<LoadedGateways> {
  await using stack = new AsyncDisposableStack();
  const sandbox = stack.use(await openSandbox());
  const root = await mkdtemp(join(tmpdir(), 'svc-projections-cli-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const folder = await mkdtemp(join(tmpdir(), 'svc-projections-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const seed = seedOfRun();
  console.log(`rebuild under load: SVC_TEST_SEED=${seed}`);
  const key = `svc_env_${randomBytes(32).toString('base64url')}`;
  const accountKey = `svc_acct_${randomBytes(32).toString('base64url')}`;

  const opened = stack.move();
  async function start(count: number): Promise<LoadedGateway> {
    const child = startChild('./load-child.ts', [folder, count, seed, writePauseMs], {
      SVC_BOOTSTRAP_KEY_DEV: key,
      SVC_BOOTSTRAP_ACCOUNT_KEY: accountKey,
    });
    // A test that fails leaves it running.
    opened.defer(async () => {
      child.process.kill('SIGKILL');
      await child.ended;
    });
    const lines = child.lines[Symbol.asyncIterator]();
    const next = async (event: string): Promise<Record<string, unknown>> => {
      const line = await lines.next();
      if (line.done === true) throw new Error(`no ${event}:\n${child.errors.join('\n')}`);
      return line.value;
    };
    const url = (await next('ready'))['url'] as string;
    const variables = { SVC_HOSTPORT: url, SVC_ACCOUNT_KEY: accountKey };
    return {
      url,
      svc: (...args) => commandLine(['projections', ...args], { root, sandbox, variables }),
      async stopWriting() {
        child.process.stdin.write('stop\n');
        await next('stopped');
      },
      async kill() {
        child.process.kill('SIGKILL');
        await child.ended;
      },
      async end() {
        child.process.stdin.end();
        child.process.stdout.resume();
        const code = await child.ended;
        if (code !== 0) throw new Error(`ended with ${code}:\n${child.errors.join('\n')}`);
      },
    };
  }

  return {
    headers: {
      authorization: `Bearer ${key}`,
      'provider-config-key': 'load',
      'connection-id': 'load',
    },
    start,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
