import { Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { type Client, ApiError, createClient } from '#client/index.ts';
import { printableLines } from '#kernel/printable.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import type { CompilerParts, ProjectCompiler } from './compiler/compile.ts';
import type { Environment } from './environment.ts';
import { CommandFailure, exitCodes } from './exit.ts';
import type { Output } from './output.ts';
import type { OwnPackage } from './package.ts';
import type { Program } from './run-program.ts';

/** The dependencies of commands; `main.ts` creates the real ones. */
export interface Context {
  /** The project: the user's current folder. */
  readonly root: string;
  readonly own: OwnPackage;
  readonly environment: Environment;
  readonly output: Output;
  /** Whether the user can answer a question. */
  readonly isTerminal: boolean;
  prompt(question: string): Promise<string>;
  /** As `prompt`, without showing what is typed. */
  promptSecret(question: string): Promise<string>;
  /** Calls the listener on Ctrl-C instead of ending; returns the function that removes it. */
  onInterrupt(listener: () => void): () => void;
  /** Calls the listener with each line that is typed while the command runs; returns the function that removes it. */
  onLine(listener: (line: string) => void): () => void;
  openSandbox(): Promise<Sandbox>;
  openCompiler(parts: CompilerParts): Promise<ProjectCompiler>;
  openClient(secretKey: string): Client;
  /** Runs a program of the service on this machine; resolves with its exit code. */
  runProgram(program: Program, args: readonly string[], signal?: AbortSignal): Promise<number>;
}

/** Aborted on Ctrl-C, which does not end the process until this is disposed of. */
export function stopOnInterrupt(
  context: Pick<Context, 'onInterrupt'>,
): { readonly signal: AbortSignal } & Disposable {
  const stopping = new AbortController();
  const stop = context.onInterrupt(() => stopping.abort());
  return { signal: stopping.signal, [Symbol.dispose]: stop };
}

/**
 * Prompts on the terminal; the question goes to stderr, so that stdout contains results only.
 * @throws CommandFailure on Ctrl-C
 */
export const promptOnTerminal = (question: string): Promise<string> =>
  promptWith(createInterface({ input: process.stdin, output: process.stderr }), question);

/** As `promptOnTerminal`, without showing what is typed. @throws CommandFailure on Ctrl-C */
export async function promptSecretOnTerminal(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // From here on the terminal shows nothing that is typed: the question comes after.
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(printableLines(question));
  try {
    return await promptWith(terminal, '');
  } finally {
    // The line feed that was typed was not shown either.
    process.stderr.write('\n');
  }
}

async function promptWith(terminal: Interface, question: string): Promise<string> {
  const stopping = new AbortController();
  terminal.on('SIGINT', () => stopping.abort());
  try {
    return (await terminal.question(printableLines(question), { signal: stopping.signal })).trim();
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    throw new CommandFailure('\nInterrupted', { exitCode: exitCodes.interrupted });
  } finally {
    terminal.close();
  }
}

/** Lines of standard input, which keep no command from ending. */
export function listenToLines(listener: (line: string) => void): () => void {
  const lines = createInterface({ input: process.stdin }).on('line', (line) =>
    listener(line.trim()),
  );
  return () => {
    lines.close();
    // A file, such as /dev/null, keeps no command from ending.
    if (process.stdin instanceof Socket) process.stdin.unref();
  };
}

/** Whether prompts are allowed: on a terminal, outside CI, and not disabled. */
export const mayPrompt = (context: Context, interactive: boolean | undefined): boolean =>
  context.isTerminal && !context.environment.isCi && interactive !== false;

/** The API for a command. */
export function openClient(options: {
  readonly host: string;
  readonly secretKey: string;
  readonly version: string;
}): Client {
  const { host, secretKey, version } = options;
  const userAgent = `svc-cli/${version}`;
  // A person decides whether to try again.
  const client = createClient({ url: host, key: secretKey, userAgent, retries: 0 });
  return {
    ...client,
    async request(operation, ...args) {
      const answer = await client.request(operation, ...args);
      if (typeof answer !== 'string') return answer;
      // Another server listens at this address.
      throw new ApiError('invalid_answer', 'The response of the service is not JSON.');
    },
  };
}
