import { ProjectCompiler, type CompilerParts } from '#cli/compiler/compile.ts';
import { openClient, type Context } from '#cli/context.ts';
import { readEnvironment } from '#cli/environment.ts';
import { outputTo } from '#cli/output.ts';
import { ownPackage } from '#cli/package.ts';
import { runCommandLine } from '#cli/program.ts';
import { runProgram } from '#cli/run-program.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { sayWhenLate } from '../judges/late.ts';
import { lent } from '../worlds/shared-sandbox.ts';

export interface Ended {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  /** Questions that were asked. */
  readonly questions: readonly string[];
}

/** Runs the command line in this process: with `answers` somebody sits at the terminal. */
export async function commandLine(
  args: readonly string[],
  options: {
    readonly root: string;
    readonly sandbox: Sandbox;
    readonly variables?: Readonly<Record<string, string>>;
    readonly answers?: readonly string[];
    /** Aborted: the user pressed Ctrl-C. */
    readonly interrupt?: AbortSignal;
    /** Default: one for each command. */
    readonly compilers?: KeptCompilers;
    /** Called with each result. */
    readonly onResult?: (line: string) => void;
  },
): Promise<Ended> {
  const { root, variables = {}, answers } = options;
  const written = { out: '', err: '' };
  const questions: string[] = [];
  const own = ownPackage();
  const environment = readEnvironment(root, variables);
  const answer = async (question: string): Promise<string> => {
    questions.push(question);
    return answers?.[questions.length - 1] ?? '';
  };
  const context: Context = {
    root,
    own,
    environment,
    output: outputTo(
      {
        write: (text) => {
          written.out += text;
          options.onResult?.(text.trimEnd());
        },
      },
      { write: (text) => (written.err += text) },
    ),
    isTerminal: answers !== undefined,
    prompt: answer,
    promptSecret: answer,
    onInterrupt: (listener) => {
      if (options.interrupt?.aborted === true) listener();
      options.interrupt?.addEventListener('abort', listener);
      return () => options.interrupt?.removeEventListener('abort', listener);
    },
    onLine: () => () => undefined,
    openSandbox: async () => lent(options.sandbox),
    openCompiler: async (parts) => options.compilers?.of(parts) ?? new ProjectCompiler(parts),
    runProgram: (...run) => runProgram(root, ...run),
    openClient: (secretKey) =>
      openClient({ host: environment.hostOf(secretKey), secretKey, version: own.version }),
  };
  using _ = sayWhenLate(() => `svc ${args.join(' ')}\n${written.out}${written.err}`);
  const exitCode = await runCommandLine(args, context);
  return { exitCode, ...written, questions };
}

/** The compilers of projects, kept between commands: a type checker takes seconds to begin. */
export class KeptCompilers implements AsyncDisposable {
  readonly #kept = new Map<string, LentCompiler>();

  of(parts: CompilerParts): ProjectCompiler {
    const known = this.#kept.get(parts.root) ?? new LentCompiler(parts);
    this.#kept.set(parts.root, known);
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const compiler of this.#kept.values()) await compiler.end();
  }
}

/** A command that disposes it leaves it open for the next. */
class LentCompiler extends ProjectCompiler {
  override async [Symbol.asyncDispose](): Promise<void> {
    // The test ends it.
  }

  end(): Promise<void> {
    return super[Symbol.asyncDispose]();
  }
}
