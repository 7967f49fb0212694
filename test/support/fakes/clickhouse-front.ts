import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../processes/child.ts';

/** Both hold what must be percent-encoded in a URL. */
const user = 'svc@test';
const password = 'p@ss/wörd:%1';
const configFile = 'config.xml';

/** A process that answers as a ClickHouse server does, on one port and one data folder for its life. */
export interface ClickHouseFront extends AsyncDisposable {
  /** With credentials; of a database that the first who opens it makes. */
  readonly url: string;
  readonly origin: string;
  /** Of the process that runs now; a restart changes it. */
  readonly pid: number;
  /** As by `kill -9`. */
  kill(): Promise<void>;
  /** Again on the same port and folder. */
  start(): Promise<void>;
  /** Takes connections, but answers nothing until `resume`. */
  pause(): void;
  resume(): void;
}

/** `config` is the XML of a server's configuration, for what of it the engine knows without a server. */
export async function startClickHouseFront({
  config = '<clickhouse/>',
}: { readonly config?: string } = {}): Promise<ClickHouseFront> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-clickhouse-'));
  await writeFile(join(folder, configFile), config);
  let running = await run(folder, 0);
  const { port } = running;
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  const kill = async (): Promise<void> => {
    running.child.process.kill('SIGKILL');
    await running.child.ended;
  };
  return {
    url: `http://${credentials}@127.0.0.1:${port}/gateway`,
    origin: `http://127.0.0.1:${port}`,
    get pid() {
      return running.child.process.pid ?? 0;
    },
    kill,
    async start() {
      running = await run(folder, port);
    },
    pause: () => void running.child.process.kill('SIGSTOP'),
    resume: () => void running.child.process.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function run(folder: string, port: number) {
  const args = [join(folder, 'data'), port, user, password, join(folder, configFile)];
  // Each statement of the engine holds a thread of the pool until it ends.
  const child = startChild('../fakes/clickhouse-front-child.ts', args, {
    UV_THREADPOOL_SIZE: '16',
  });
  for await (const line of child.lines) {
    if (typeof line['port'] === 'number') return { child, port: line['port'] };
  }
  assert.fail(`the front did not start: ${child.errors.join('\n')}`);
}
