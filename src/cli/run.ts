import { findCommand, overview, unknownCommand, usageOf } from './commands/help.ts';
import type { Command, Context } from './context.ts';
import { CommandFailure, exitCodes, type ExitCode } from './exit.ts';

/** Runs one command line and returns its exit code; never throws for errors of the user. */
export async function runCommandLine(args: readonly string[], context: Context): Promise<ExitCode> {
  const { output } = context;
  const at = args.findIndex((word) => !word.startsWith('-'));
  const name = at === -1 ? undefined : args[at];
  // Options before the command's name belong to it as well.
  const rest = args.filter((_word, index) => index !== at);
  const asksHelp = rest.some((word) => word === '--help' || word === '-h');
  if (name === undefined) return withoutCommand(args, context, asksHelp);

  const command = findCommand(name);
  if (command !== undefined && asksHelp) {
    output.result(usageOf(command));
    return exitCodes.success;
  }
  try {
    if (command === undefined) throw unknownCommand(name);
    await command.run(rest, context);
    return exitCodes.success;
  } catch (error) {
    return report(error, command, context);
  }
}

function withoutCommand(args: readonly string[], context: Context, asksHelp: boolean): ExitCode {
  const { output, own } = context;
  if (args.includes('--version')) output.result(own.version);
  else if (asksHelp) output.result(overview());
  else {
    output.note(overview());
    return exitCodes.failure;
  }
  return exitCodes.success;
}

function report(error: unknown, command: Command | undefined, context: Context): ExitCode {
  const { output } = context;
  if (error instanceof CommandFailure) {
    output.note(output.paint('red', error.message));
    if (error.isUsage && command !== undefined) output.note(`\n${usageOf(command)}`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.note(output.paint('red', `Unexpected failure: ${text}`));
  return exitCodes.failure;
}
