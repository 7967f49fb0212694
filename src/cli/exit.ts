/** Exit codes of the command line (docs/reference/cli.md#exit-codes). */
export const exitCodes = {
  success: 0,
  /** Usage errors, not a project, and failures without a code of their own. */
  failure: 1,
  /** No key, or a refused one. */
  keyRefused: 3,
  /** Not in the current state, or not confirmed. */
  refused: 4,
  /** Two things that should be equal differ; of an import, what has come and the source. */
  differs: 5,
  compileFailed: 10,
  /** Also not confirmed, or without a key. */
  deployFailed: 11,
  /** The function failed, or the function or connection does not exist. */
  dryRunFailed: 12,
  /** By Ctrl-C. */
  interrupted: 130,
  /** The reader of the results has closed the pipe, as `head` does. */
  readerGone: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with a sentence for the user and without a stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;
  /** Whether to print the usage of the command. */
  readonly isUsage: boolean;

  constructor(message: string, options: { exitCode?: ExitCode; isUsage?: boolean } = {}) {
    super(message);
    this.exitCode = options.exitCode ?? exitCodes.failure;
    this.isUsage = options.isUsage ?? false;
  }
}

/** The command was called wrongly. */
export const usageError = (message: string): CommandFailure =>
  new CommandFailure(message, { isUsage: true });
