import { parseArgs, type ParseArgsConfig } from 'node:util';
import { CommandFailure } from './exit.ts';

/** Options of every command (docs/reference/cli.md#invocation). */
const globalOptions = {
  'auto-confirm': { type: 'boolean' },
  debug: { type: 'boolean' },
  interactive: { type: 'boolean' },
  'dependency-update': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * Positional arguments and options of a command.
 * @throws CommandFailure on an unknown option
 */
export function parseCommand<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...globalOptions, ...options },
      allowPositionals: true,
      allowNegative: true,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(message.split('. ')[0] ?? message, { isUsage: true });
  }
}
