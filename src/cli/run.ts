import { CommanderError } from 'commander';
import { commands } from './command-list.ts';
import type { Context } from './context.ts';
import { CommandFailure, exitCodes, type ExitCode } from './exit.ts';
import { openProgram } from './program.ts';

/** Runs one command line and returns its exit code; never throws for errors of the user. */
export async function runCommandLine(args: readonly string[], context: Context): Promise<ExitCode> {
  const { output } = context;
  const program = openProgram(context, (command, input) => command.run(input, context));
  try {
    await program.parseAsync(nameFirst(args), { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    // It has printed its message, or the help.
    if (error instanceof CommanderError) return error.exitCode as ExitCode;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const isExpected = error instanceof CommandFailure;
    output.note(output.paint('red', isExpected ? error.message : `Unexpected failure: ${text}`));
    return isExpected ? error.exitCode : exitCodes.failure;
  }
}

/** Options before the command's name belong to it as well; `generate client` names the command `generate:client`. */
function nameFirst(args: readonly string[]): string[] {
  if (args[0] === '--version') return ['version'];
  const at = args.findIndex((word) => !word.startsWith('-'));
  if (at === -1) return [...args];
  const [name = '', second = ''] = args.slice(at);
  const pair = `${name}:${second}`;
  const isPair = commands.some((command) => command.name === pair);
  return [isPair ? pair : name, ...args.toSpliced(at, isPair ? 2 : 1)];
}
