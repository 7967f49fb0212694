import { fork, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, platform, setPriority } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '#kernel/errors.ts';
import type { HostAnswer, HostCalls, RunFailure, RunLimits, RunResult } from '#ports/sandbox.ts';
import { interrupted, outOfMemory } from './failures.ts';
import type { AbortReason, ChildSettings, FromChild, ToChild } from './messages.ts';

export interface ChildOptions {
  readonly runtime: string;
  readonly settings: ChildSettings;
  /** Resident memory at which the whole process is ended. */
  readonly residentMbMax: number;
  /** It holds only background runs. */
  readonly isBackground: boolean;
  /** How long it has had no run when `onIdle` is called. */
  readonly idleMs: number;
  readonly onIdle: (child: SandboxChild) => void;
  /** It accepts no more runs; called before it has ended. */
  readonly onRetired: () => void;
  readonly onExit: (child: SandboxChild) => void;
}

export interface ChildOrder {
  readonly bundle: string;
  readonly fileName: string;
  readonly order: string;
  readonly limits: RunLimits;
  readonly signal: AbortSignal;
}

interface ActiveRun {
  readonly host: HostCalls;
  readonly end: (result: RunResult) => void;
  /** Ends the process if the process does not end the run in time. */
  deadline: NodeJS.Timeout | null;
  isSuspect: boolean;
}

const program = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url));
/** Niceness of processes for background runs; below that of the owners (src/app/threads/start-threads.ts). */
const backgroundNiceness = 10;
const watchEveryMs = 50;
/** Beyond a run's own limits: how long the child may take to end it. */
const childLateMs = 2_000;
const startMs = 30_000;
const timerMsMax = 2 ** 31 - 1;

/** One child process, seen from the supervisor. */
export class SandboxChild {
  /** Resolves when runs can start. @throws Error when the process could not start */
  readonly ready: Promise<void>;
  started = 0;
  /** Runs that have a place, also before the process is ready. */
  size = 0;
  /** The background runs among them. */
  background = 0;
  readonly isBackground: boolean;
  #lastRun = 0;
  #isEnding = false;
  readonly #process: ChildProcess;
  readonly #options: ChildOptions;
  readonly #runs = new Map<number, ActiveRun>();
  readonly #exited = Promise.withResolvers<undefined>();
  #watch: NodeJS.Timeout | null = null;
  #idle: NodeJS.Timeout | undefined;
  #freshMb = 0;

  constructor(options: ChildOptions) {
    this.#options = options;
    this.isBackground = options.isBackground;
    this.#process = fork(program, [], {
      // Without it the zone is that of the machine.
      env: { TZ: 'UTC' },
      cwd: '/',
      execArgv: [
        '--no-node-snapshot', // isolated-vm needs it
        '--permission',
        '--allow-addons',
        '--allow-fs-read=*',
        '--disable-warning=SecurityWarning',
        '--disable-warning=ExperimentalWarning',
        '--disallow-code-generation-from-strings',
        // V8 takes the outer loop of `for (;;) list[0] = new Array(1000);` for a short one and drops its check for
        // interrupts: such code ends neither at its limits nor for its memory.
        '--no-turboshaft-loop-unrolling',
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.ready = this.#start();
    this.ready.catch(() => undefined);
  }

  /** Takes a place for a run; the result gives it back. */
  enter(isBackground: boolean): () => void {
    const background = isBackground ? 1 : 0;
    clearTimeout(this.#idle);
    this.size += 1;
    this.background += background;
    return () => {
      this.size -= 1;
      this.background -= background;
      const { idleMs, onIdle } = this.#options;
      if (this.size === 0) this.#idle = setTimeout(() => onIdle(this), idleMs).unref();
    };
  }

  /** By how much its resident memory has grown since its start. */
  get grownMb(): number {
    return residentMb(this.#process.pid) - this.#freshMb;
  }

  /** Whether it accepts further runs. */
  get isOpen(): boolean {
    return !this.#isEnding;
  }

  async #start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const timer = setTimeout(
      () => reject(new Error('The sandbox process did not start.')),
      startMs,
    );
    this.#process.on('message', (message: FromChild) => {
      if (message.kind === 'ready') resolve(undefined);
      else this.#receive(message);
    });
    this.#process.on('error', reject);
    this.#process.on('exit', () => {
      reject(new Error('The sandbox process ended at its start.'));
      this.#gone();
    });
    const { runtime, settings } = this.#options;
    this.#send({ kind: 'init', runtime, settings });
    try {
      await promise;
      // Not before: on busy processors it would not start in time, again and again.
      if (this.isBackground) lower(this.#process.pid);
      this.#freshMb = residentMb(this.#process.pid);
    } catch (error) {
      this.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves at the end of the run, even when the process dies. */
  async run(order: ChildOrder, host: HostCalls): Promise<RunResult> {
    const { signal, ...rest } = order;
    const run = ++this.#lastRun;
    this.started += 1;
    const { promise, resolve } = Promise.withResolvers<RunResult>();
    const entry: ActiveRun = { host, end: resolve, deadline: null, isSuspect: false };
    this.#runs.set(run, entry);
    this.#watch ??= setInterval(() => this.#checkMemory(), watchEveryMs);
    const { wallMs, graceMs } = order.limits;
    this.#setDeadline(entry, wallMs + graceMs);
    const abort = () => {
      this.#send({ kind: 'abort', run, reason: reasonOf(signal) });
      this.#setDeadline(entry, graceMs);
    };
    if (!this.#send({ kind: 'run', run, ...rest })) this.#end(run, fail(interrupted));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  kill(): void {
    this.#isEnding = true;
    this.#process.kill('SIGKILL');
  }

  /** Accepts no new runs; ends with the last one. */
  retire(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#runs.size === 0) this.kill();
    this.#options.onRetired();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.#exited.promise;
  }

  #send(message: ToChild): boolean {
    if (!this.#process.connected) return false;
    // The callback receives the error of a closing channel; the exit handler informs the runs.
    this.#process.send(message, () => undefined);
    return true;
  }

  #receive(message: Exclude<FromChild, { kind: 'ready' }>): void {
    if (message.kind === 'exhausted') {
      this.retire();
      return;
    }
    const entry = this.#runs.get(message.run);
    if (entry === undefined) return;
    if (message.kind === 'ended') this.#end(message.run, message.result);
    else if (message.kind === 'suspect') entry.isSuspect = true;
    else void this.#answer(message, entry.host);
  }

  async #answer(call: Extract<FromChild, { kind: 'call' }>, host: HostCalls): Promise<void> {
    const { run, id } = call;
    try {
      const answer = await perform(host, call.method, call.args);
      const { json, body = '' } = typeof answer === 'string' ? { json: answer } : answer;
      this.#send({ kind: 'settle', run, id, isDone: true, json, body });
    } catch (error) {
      this.#send({ kind: 'settle', run, id, isDone: false, json: errorJson(error), body: '' });
    }
  }

  #end(run: number, result: RunResult): void {
    const entry = this.#runs.get(run);
    if (entry === undefined) return;
    this.#runs.delete(run);
    if (entry.deadline !== null) clearTimeout(entry.deadline);
    if (this.#runs.size === 0) {
      if (this.#watch !== null) clearInterval(this.#watch);
      this.#watch = null;
      if (this.#isEnding) this.kill();
    }
    entry.end(result);
  }

  /** Kills the process if the child's own timers did not end the run. */
  #setDeadline(entry: ActiveRun, afterMs: number): void {
    if (entry.deadline !== null) clearTimeout(entry.deadline);
    const wait = Math.min(afterMs + childLateMs, timerMsMax);
    entry.deadline = setTimeout(() => {
      entry.isSuspect = true;
      this.kill();
    }, wait);
  }

  #checkMemory(): void {
    if (residentMb(this.#process.pid) > this.#options.residentMbMax) this.kill();
  }

  /**
   * The failed run is the one that the child named, or the only one: in a process that takes no more runs, the memory may
   * be of an earlier run. Others were interrupted.
   */
  #gone(): void {
    const wasAlone = this.#runs.size === 1 && (this.isOpen || this.started === 1);
    this.#isEnding = true;
    for (const [run, entry] of this.#runs) {
      this.#end(run, fail(entry.isSuspect || wasAlone ? outOfMemory : interrupted));
    }
    this.#exited.resolve(undefined);
    this.#options.onExit(this);
  }
}

/** On Linux each thread has a priority of its own; later ones inherit it. */
function lower(pid: number | undefined): void {
  if (pid === undefined) return;
  const niceness = Math.max(getPriority(), backgroundNiceness);
  try {
    const threads = platform() === 'linux' ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];
    for (const thread of threads) setPriority(thread, niceness);
  } catch {
    // It has ended already: its exit reports that.
  }
}

const fail = (error: RunFailure): RunResult => ({ status: 'error', error });

async function perform(
  host: HostCalls,
  method: string,
  args: string,
): Promise<HostAnswer | string> {
  const call = Object.hasOwn(host, method) ? host[method as keyof HostCalls] : undefined;
  if (call === undefined)
    throw new GatewayError('forbidden', { message: `svc.${method} is not available here.` });
  return call(args);
}

/** Only errors meant for functions reveal their content. */
function errorJson(error: unknown): string {
  if (error instanceof GatewayError) {
    const { payload, errors } = error.details;
    return JSON.stringify({
      name: 'Error',
      message: error.message,
      code: error.code,
      status: error.status,
      payload,
      errors,
    });
  }
  return JSON.stringify({
    name: 'Error',
    message: 'The service could not answer the call.',
    code: 'server_error',
  });
}

function reasonOf(signal: AbortSignal): AbortReason {
  const reason: unknown = signal.reason;
  if (reason instanceof GatewayError && reason.code === 'execution_timeout') {
    return { code: 'execution_timeout', message: reason.message };
  }
  return { code: 'script_aborted', message: 'The run was cancelled.' };
}

/** Resident memory of a process as Linux counts it; 0 elsewhere, where the child's own monitor remains. */
function residentMb(pid: number | undefined): number {
  try {
    const pages = readFileSync(`/proc/${pid ?? 0}/statm`, 'latin1').split(' ')[1];
    return (Number(pages) * 4096) / 1024 ** 2;
  } catch {
    return 0;
  }
}
