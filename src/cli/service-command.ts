import type { Answer, Client } from '#client/index.ts';
import { failCommand } from './account.ts';
import type { Options } from './command.ts';
import { mayPrompt, type Context } from './context.ts';
import { exitCodes, usageError } from './exit.ts';
import { wholeNumber } from './options.ts';
import { targetOf } from './secret-key.ts';

/** The option of every command that concerns one environment. */
export const environmentOption = [
  '-e, --environment <name>',
  'environment of the service (SVC_ENV, else dev)',
] as const;

/** Options of commands that read an environment of the service. */
export const serviceOptions = {
  environment: environmentOption,
  json: ['--json', 'the answer as JSON on stdout'],
} as const satisfies Options;

/** Options of commands that list entries. */
export const listOptions = {
  ...serviceOptions,
  integration: ['-i, --integration <id>', 'only of this integration'],
  connection: ['--connection <id>', 'only of this connection'],
  since: ['--since <time>', 'only from this time on'],
  limit: ['--limit <n>', 'at most this many (100)'],
} as const satisfies Options;

interface ListValues {
  readonly integration?: string | undefined;
  readonly connection?: string | undefined;
  readonly since?: string | undefined;
  readonly limit?: string | undefined;
}

/**
 * The query of a list.
 * @throws CommandFailure if `--since` is no time, or `--limit` no number
 */
export const listQuery = ({ integration, connection, since, limit }: ListValues) => ({
  provider_config_key: integration,
  connection_id: connection,
  since: sinceOf(since),
  limit: limitOf(limit),
});

/** @throws CommandFailure if it is no number */
export const limitOf = (input: string | undefined): number | undefined =>
  input === undefined ? undefined : wholeNumber('limit', input);

/** The time in ISO 8601. @throws CommandFailure if it is invalid */
export function sinceOf(input: string | undefined): string | undefined {
  if (input === undefined) return undefined;
  const at = new Date(input);
  if (Number.isNaN(at.getTime()))
    throw usageError(`--since takes a time such as 2026-05-01T12:00:00Z, not "${input}"`);
  return at.toISOString();
}

/** Their help on keys and exit codes. */
export const serviceHelp = `Variables
  SVC_ENV                        the environment without --environment (dev)
  SVC_SECRET_KEY_<ENVIRONMENT>   API key of the environment; SVC_SECRET_KEY otherwise
  SVC_HOSTPORT                   address of the service (http://localhost:3003)

Exit codes
  0 done   1 failed   3 key missing or refused   4 not in its current state`;

/** Runs the task with the environment's key; a refusal of the service ends the command with its message. */
export async function inEnvironment(
  context: Context,
  values: { readonly environment?: string | undefined; readonly interactive?: boolean | undefined },
  task: (client: Client) => Promise<void>,
): Promise<void> {
  const { secretKey } = await targetOf(context, values.environment, {
    canAsk: mayPrompt(context, values.interactive),
    exitCode: exitCodes.keyRefused,
  });
  await task(context.openClient(secretKey)).catch(failCommand);
}

type ConfiguredIntegration = Extract<Answer<'GET /scripts/config'>, readonly unknown[]>[number];

/** The integrations of the environment with their deployed functions. @throws ApiError */
export async function configuredIntegrations(
  client: Client,
): Promise<readonly ConfiguredIntegration[]> {
  const answer = await client.request('GET /scripts/config');
  return 'data' in answer ? [] : answer;
}
