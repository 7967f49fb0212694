import type { Context } from './context.ts';
import { CommandFailure, type ExitCode } from './exit.ts';

/** The environment of a command, and its key. */
export interface Target {
  readonly environment: string;
  readonly secretKey: string;
}

/**
 * The environment from the arguments or from a prompt, with its key.
 * @throws CommandFailure with the given code when either is missing
 */
export async function targetOf(
  context: Context,
  named: string | undefined,
  options: { readonly canAsk: boolean; readonly question: string; readonly exitCode: ExitCode },
): Promise<Target> {
  const { canAsk, question, exitCode } = options;
  const environment = named ?? (canAsk ? await context.prompt(`${question}: `) : '');
  if (environment === '') {
    throw new CommandFailure('Name the environment', { exitCode, isUsage: true });
  }
  const existing = context.environment.secretKey(environment);
  if (existing !== null) return { environment, secretKey: existing };
  const variable = context.environment.secretKeyVariable(environment);
  const secretKey = canAsk ? await context.prompt(`API key of ${environment} (${variable}): `) : '';
  if (secretKey !== '') return { environment, secretKey };
  throw new CommandFailure(`No API key: set ${variable}, in .env or the environment`, { exitCode });
}
