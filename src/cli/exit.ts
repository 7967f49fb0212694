/** Exit codes of the command line (docs/reference/cli.md#exit-codes). */
export const exitCodes = {
  success: 0,
  /** Wrong use, not a project, and whatever has no code of its own. */
  failure: 1,
  /** No key, or one that the service refuses. */
  keyRefused: 3,
  /** Not in the present state, or nobody agreed to it. */
  refused: 4,
  /** Two generations of a projection are not the same. */
  differs: 5,
  compileFailed: 10,
  /** Also not confirmed, or no environment named. */
  deployFailed: 11,
  /** The function failed, or there is no such function or connection. */
  dryRunFailed: 12,
  /** By Ctrl-C. */
  interrupted: 130,
  /** Who read the results has gone, as `head` does once it has enough. */
  readerGone: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with a sentence for the user and no stack. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;
  /** Whether the help of the command says how to do it right. */
  readonly isUsage: boolean;

  constructor(message: string, options: { exitCode?: ExitCode; isUsage?: boolean } = {}) {
    super(message);
    this.exitCode = options.exitCode ?? exitCodes.failure;
    this.isUsage = options.isUsage ?? false;
  }
}
