import type { Context } from './context.ts';
import { CommandFailure, usageError, type ExitCode } from './exit.ts';

/** The environment of a command, and its key. */
export interface Target {
  readonly environment: string;
  readonly secretKey: string;
}

/**
 * The environment that the arguments name, else that of `SVC_ENV`, with its key, which a terminal is asked for.
 * @throws CommandFailure with the given code when there is no key
 */
export async function targetOf(
  context: Context,
  named: string | undefined,
  { canAsk, exitCode }: { readonly canAsk: boolean; readonly exitCode: ExitCode },
): Promise<Target> {
  const environment = named ?? context.environment.name;
  const existing = context.environment.secretKey(environment);
  if (existing !== null) return { environment, secretKey: existing };
  const variable = context.environment.secretKeyVariable(environment);
  const secretKey = canAsk
    ? await context.promptSecret(`API key of ${environment} (${variable}): `)
    : '';
  if (secretKey !== '') return { environment, secretKey };
  const message = `No API key of ${environment}: set ${variable}, in .env or the environment`;
  throw new CommandFailure(message, { exitCode });
}

/**
 * The environment of a command that takes it as an argument too.
 * @throws CommandFailure when both name one, and not the same
 */
export function environmentNamed(
  positional: string | undefined,
  option: string | undefined,
): string | undefined {
  if (positional === undefined || option === undefined || positional === option) {
    return option ?? positional;
  }
  throw usageError(`Both "${positional}" and --environment "${option}" name the environment`);
}
