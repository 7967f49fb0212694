import { ApiError, type ApiClient } from './client.ts';
import { mayPrompt, type Context } from './context.ts';
import { CommandFailure, exitCodes, type ExitCode } from './exit.ts';
import { refusalText } from './refusal-text.ts';

/** The client for an operator. @throws CommandFailure without a key */
export function accountClient(context: Context): ApiClient {
  const { accountKey } = context.environment;
  if (accountKey !== null) return context.openClient(accountKey);
  throw new CommandFailure('No account key: set SVC_ACCOUNT_KEY', {
    exitCode: exitCodes.keyRefused,
  });
}

/** @throws CommandFailure without confirmation, now or beforehand */
export async function confirm(
  context: Context,
  values: {
    readonly yes?: boolean;
    readonly 'auto-confirm'?: boolean;
    readonly interactive?: boolean;
  },
  question: string,
): Promise<void> {
  if (values.yes === true || values['auto-confirm'] === true) return;
  const refused = { exitCode: exitCodes.refused } as const;
  if (!mayPrompt(context, values.interactive)) {
    throw new CommandFailure('A prompt is not possible: add --yes to confirm.', refused);
  }
  const answer = await context.prompt(`${question} y/n `);
  if (!/^y(es)?$/i.test(answer)) throw new CommandFailure('Nothing was done', refused);
}

const codes: Readonly<Record<number, ExitCode>> = {
  401: exitCodes.keyRefused,
  403: exitCodes.keyRefused,
  409: exitCodes.refused,
};

/** The service's refusal as a CommandFailure; other errors unchanged. */
export function asCommandFailure(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const exitCode = codes[error.status ?? 0] ?? exitCodes.failure;
  return new CommandFailure(refusalText(error), { exitCode });
}
