import { ApiError, type Client } from '#client/index.ts';
import { mayPrompt, type Context } from './context.ts';
import { CommandFailure, exitCodes, type ExitCode } from './exit.ts';
import { refusalText } from './refusal-text.ts';

/** Help of commands for operators on their variables. */
export const accountHelp = `Variables
  SVC_ACCOUNT_KEY         API key of the account
  SVC_HOSTPORT            address of the service (http://localhost:3003)`;

/**
 * Runs the task with the account's key; a refusal of the service ends the command with its message.
 * @throws CommandFailure without a key
 */
export async function withAccount(
  context: Context,
  task: (client: Client) => Promise<void>,
): Promise<void> {
  const { accountKey } = context.environment;
  if (accountKey === null) {
    const message = 'No account key: set SVC_ACCOUNT_KEY';
    throw new CommandFailure(message, { exitCode: exitCodes.keyRefused });
  }
  await task(context.openClient(accountKey)).catch(failCommand);
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

/** @throws CommandFailure for a refusal of the service; other errors unchanged */
export function failCommand(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const exitCode = codes[error.status ?? 0] ?? exitCodes.failure;
  throw new CommandFailure(refusalText(error), { exitCode });
}
