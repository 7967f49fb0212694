import { parseArgs, type ParseArgsConfig } from 'node:util';
import { usageError } from './exit.ts';

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
    throw usageError(message.split('. ')[0] ?? message);
  }
}

/** @throws CommandFailure if it is no whole number */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError(`--${option} takes a whole number, not "${text}"`);
}

/** The entries of an option that takes several, with commas between them. */
export const entriesOf = (text: string | undefined): string[] | undefined =>
  text?.split(',').map((part) => part.trim());

/** An option that takes one of several words: the service checks it, and its refusal names them. */
export const uncheckedWord = (text: string | undefined) => text as never;

/** An option that takes some of several words, with commas between them. */
export const uncheckedWords = (text: string | undefined) => entriesOf(text) as never;
