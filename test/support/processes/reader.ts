import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '#test/services/ports.ts';
import { inheritedEnv } from './deployment.ts';
import { accessTo, type GatewayAccess } from './gateway.ts';
import { npmWithoutRegistry } from './npm-without-registry.ts';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));

/** A block of commands, or a file with the path that the text before it names. */
export interface Block {
  readonly language: string;
  readonly text: string;
  readonly path: string | null;
}

/** The blocks of a page, in its order. */
export const blocksOf = (page: string): readonly Block[] =>
  [...page.matchAll(/(?:^Save as `([^`]+)`:\n\n)?^```(\w+)\n([^]*?)^```$/gm)].map(
    ([, path, language = '', text = '']): Block => ({ language, text, path: path ?? null }),
  );

export const pageOf = (file: string): string => readFileSync(join(checkout, file), 'utf8');

/** Commands, without comments; one of several lines is one. */
export const commandsOf = (text: string): readonly string[] =>
  text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));

/** A program that a reader leaves running. */
interface Watched {
  readonly child: ChildProcess;
  printed: string;
  type(line: string): void;
  /** Ctrl-C. Resolves when the program and all that it started have ended. */
  interrupt(): Promise<void>;
}

/**
 * Somebody who follows a page of the documentation word by word, with a checkout, an empty home, and no network. The
 * gateway listens on a free port instead of its own.
 */
export class Reader implements AsyncDisposable {
  readonly home = mkdtempSync(join(tmpdir(), 'svc-reader-'));
  readonly #begun = performance.now();
  readonly #watched: Watched[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #settings: NodeJS.ProcessEnv;
  #gateway: Watched | null = null;
  readonly address: string;

  /** Somebody who has typed nothing yet. @param variables of every terminal */
  static async open(variables: NodeJS.ProcessEnv = {}): Promise<Reader> {
    return new Reader(await freePort(), variables);
  }

  constructor(port: number, variables: NodeJS.ProcessEnv) {
    this.address = `http://127.0.0.1:${port}`;
    const own = { HOME: this.home, SVC_HOSTPORT: this.address, NO_COLOR: '1' };
    this.#env = {
      ...inheritedEnv(),
      ...npmWithoutRegistry(join(this.home, '.npm-of-test')),
      ...own,
      ...variables,
    };
    this.#settings = { SVC_PORT: String(port), SVC_DATA_DIR: join(this.home, '.gateway') };
  }

  /** `npm start`, until the gateway has printed its keys. */
  async startGateway(text: string): Promise<void> {
    this.#gateway = this.#begin(text, checkout, this.#settings);
    while (!/svc_acct_[\w-]{43}/.test(this.#gateway.printed)) {
      const { exitCode } = this.#gateway.child;
      if (exitCode !== null) throw new Error(`the gateway ended:\n${this.#gateway.printed}`);
      await wait(20);
    }
  }

  /** What the gateway has printed. */
  get printed(): string {
    return this.#gateway?.printed ?? '';
  }

  /** The key of dev, as the gateway printed it. */
  get key(): string {
    return /^ *dev +(svc_env_[\w-]{43})$/m.exec(this.printed)?.[1] ?? '';
  }

  /** The gateway, for what a test looks at. */
  get access(): GatewayAccess {
    return accessTo(this.address, { key: this.key, prodKey: '', accountKey: '' });
  }

  /** A new terminal, in the folder of the repository: it keeps its folder and variables from block to block. */
  terminal(): Terminal {
    const state = join(mkdtempSync(join(this.home, '.terminal-')), 'state');
    writeFileSync(state, `cd '${checkout}'\n`);
    return new Terminal(this, state);
  }

  save({ path, text }: Block, folder: string): void {
    const file = join(folder, path ?? '');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Types what a terminal has of a block. @returns what it prints */
  async type(text: string, state: string, mayFail: boolean): Promise<string> {
    const keep = `trap '{ export -p; echo "cd \\"$PWD\\""; } > "${state}"' EXIT`;
    const script = `. "${state}"\n${keep}\n${this.#typed(text)}`;
    const options = { cwd: checkout, env: this.#env, maxBuffer: 10_000_000 };
    try {
      const ran = await promisify(execFile)('bash', ['--norc', '-euc', script], options);
      return `${ran.stdout}${ran.stderr}`;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      if (!mayFail) throw new Error(`${text}\n${stdout}${stderr}`, { cause: error });
      return `${stdout}${stderr}`;
    }
  }

  /** Leaves a program running. */
  watch(text: string, state: string): Watched {
    return this.#begin(`. "${state}"\n${this.#typed(text)}`, checkout, {});
  }

  #typed(text: string): string {
    return text.replace('svc_env_…', this.key).replace('http://127.0.0.1:3003', this.address);
  }

  #begin(script: string, cwd: string, settings: NodeJS.ProcessEnv): Watched {
    const child = spawn('bash', ['--norc', '-euc', script], {
      cwd,
      env: { ...this.#env, ...settings },
      // In a group of its own: neither a shell nor npm passes every signal on.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const watched: Watched = {
      child,
      printed: '',
      type: (line) => void child.stdin.write(`${line}\n`),
      async interrupt() {
        const ended = once(child, 'close');
        process.kill(-(child.pid ?? 0), 'SIGINT');
        await ended;
      },
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (watched.printed += String(chunk)));
    }
    this.#watched.push(watched);
    return watched;
  }

  /** Since the reader began. */
  get seconds(): number {
    return Math.round((performance.now() - this.#begun) / 1000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watched of this.#watched.reverse()) {
      const { exitCode, signalCode } = watched.child;
      if (exitCode === null && signalCode === null) await watched.interrupt();
    }
    await rm(this.home, { recursive: true, force: true });
  }
}

export class Terminal {
  readonly #reader: Reader;
  readonly #state: string;

  constructor(reader: Reader, state: string) {
    this.#reader = reader;
    this.#state = state;
  }

  /** @returns what the block prints. @throws Error when it fails */
  run(text: string): Promise<string> {
    return this.#reader.type(text, this.#state, false);
  }

  /** What a block prints of which a command fails. */
  runFailing(text: string): Promise<string> {
    return this.#reader.type(text, this.#state, true);
  }

  /** Leaves a program running in this terminal. */
  watch(text: string): Watched {
    return this.#reader.watch(text, this.#state);
  }
}
