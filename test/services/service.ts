import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server in a process of its own, with its data in a temporary folder. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  /** Of the process that runs now; a restart changes it. */
  readonly pid: number;
  /** Its data and what it printed. */
  readonly folder: string;
  /** SIGKILL; the data stay. */
  kill(): Promise<void>;
  /** Ends it if it runs, and starts it on the same port with the same data; resolves when it answers. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open, and nothing answers. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export interface ServiceSpec {
  readonly name: string;
  readonly url: string;
  readonly command: string;
  args(folder: string): readonly string[];
  readonly cwd?: string;
  /** Beside the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Fills the folder of data, before the first start. */
  prepare?(folder: string): Promise<void>;
  /** Whether it answers; gets what the process has printed. */
  isReady(output: string): boolean | Promise<boolean>;
}

/** Within the time-out of hooks. One that cannot start ends, and is not waited for. */
const startDeadlineMs = 270_000;
const stopDeadlineMs = 20_000;

export async function startService(spec: ServiceSpec): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-service-'));
  const guard = startGuard(folder);
  const server = new Server(spec, folder, guard);
  try {
    await spec.prepare?.(folder);
    await server.restart();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * Ends what is left when this process dies, however it dies: kills the pid that the last line of its input
 * names, and removes the folder. In a session of its own, out of reach of Ctrl-C.
 */
function startGuard(folder: string) {
  const script =
    'while read -r line; do pid=$line; done; [ -z "$pid" ] || kill -9 "$pid"; rm -rf "$0"';
  return spawn('sh', ['-c', script, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

class Server implements Service {
  readonly url: string;
  readonly #spec: ServiceSpec;
  readonly folder: string;
  readonly #guard: ReturnType<typeof startGuard>;
  #child: ChildProcess | null = null;

  constructor(spec: ServiceSpec, folder: string, guard: ReturnType<typeof startGuard>) {
    this.#spec = spec;
    this.url = spec.url;
    this.folder = folder;
    this.#guard = guard;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.#spec.name} does not run.`);
    return pid;
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.#end('SIGTERM');
    const { folder } = this;
    const spec = this.#spec;
    const log = join(folder, 'output.log');
    await using file = await open(log, 'w');
    const child = spawn(spec.command, spec.args(folder), {
      cwd: spec.cwd ?? folder,
      env: { ...process.env, ...spec.env },
      stdio: ['ignore', file.fd, file.fd],
    });
    // Of a command that does not start; `end` and `ready` see that there is no process.
    child.on('error', (error) => process.stderr.write(`${spec.name}: ${error.message}\n`));
    child.on('exit', () => {
      if (this.#child === child) this.#child = null;
      this.#guard.stdin.write('\n');
    });
    this.#child = child;
    this.#guard.stdin.write(`${child.pid ?? ''}\n`);
    await this.#ready(child, log);
  }

  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    this.#guard.stdin.end();
    if (this.#guard.exitCode === null) await once(this.#guard, 'exit');
    await rm(this.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #ready(child: ChildProcess, log: string): Promise<void> {
    const deadline = performance.now() + startDeadlineMs;
    while (performance.now() < deadline && child.pid !== undefined && isRunning(child)) {
      if (await this.#spec.isReady(await readFile(log, 'utf8'))) return;
      await sleep(50);
    }
    const tail = (await readFile(log, 'utf8')).split('\n').slice(-40).join('\n');
    throw new Error(`${this.#spec.name} did not start on ${this.url}; it printed:\n${tail}`);
  }

  /** A stopped process takes no SIGTERM until it goes on. */
  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === null || child.pid === undefined || !isRunning(child)) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT');
    const late = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
    await exited;
    clearTimeout(late);
  }
}

const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;
