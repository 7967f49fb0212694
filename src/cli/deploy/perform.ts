import { ApiError, type Client, type DeployPlan } from '#client/index.ts';
import type { Context } from '../context.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { refusalText } from '../refusal-text.ts';
import type { Deployment } from './package.ts';
import { isDestructive, isEmpty, planLines, resultLines } from './plan.ts';

const deployFailed = { exitCode: exitCodes.deployFailed } as const;

/** The user's prior consent, and whether a prompt is possible. */
export interface Consent {
  readonly autoConfirm: boolean;
  readonly allowDestructive: boolean;
  readonly allowBreaking: boolean;
  readonly canAsk: boolean;
}

/** How results are printed. */
export interface DeployOutput {
  readonly progress: (phase: string) => void;
  /** The result as one JSON document on stdout; the plan then goes to stderr. */
  readonly isJson: boolean;
}

/**
 * Prints the plan, asks before removals, and deploys.
 * @throws CommandFailure when the service or the user refuses
 */
export async function performDeployment(
  context: Pick<Context, 'output' | 'prompt'>,
  client: Client,
  deployment: Deployment,
  consent: Consent,
  { progress, isJson }: DeployOutput,
): Promise<void> {
  const { output } = context;
  try {
    progress('Comparing with what is deployed');
    const { request: body, preview } = deployment;
    const path = 'POST /functions/deployments/bundle/preview';
    const plan = await client.request(path, { body: preview });
    for (const line of planLines(plan, output.paint)) {
      if (isJson) output.note(line);
      else output.result(line);
    }
    if (isEmpty(plan) && !plan.syncs_pending) {
      const { syncs_pending: _pending, ...unchanged } = plan;
      if (isJson) output.result(JSON.stringify(unchanged));
      return;
    }
    await confirm(context, plan, consent);
    progress(`Deploying ${deployment.functions.length} functions`);
    const done = await client.request('POST /functions/deployments/bundle', { body });
    if (isJson) {
      output.result(JSON.stringify(done));
      return;
    }
    output.result('');
    for (const line of resultLines(done, deployment.version)) output.result(line);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new CommandFailure(`Error deploying:\n  ${refusalText(error)}`, deployFailed);
  }
}

/** @throws CommandFailure unless the plan removes and breaks nothing, or the user confirmed it */
async function confirm(
  context: Pick<Context, 'prompt'>,
  plan: DeployPlan,
  consent: Consent,
): Promise<void> {
  const isAllowed = consent.allowDestructive && consent.autoConfirm;
  const open = [
    ...(isDestructive(plan) && !isAllowed
      ? ['removes something: add --allow-destructive and --auto-confirm to confirm']
      : []),
    ...(plan.breaking.length > 0 && !consent.allowBreaking
      ? ['breaks readers of records: add --allow-breaking to confirm']
      : []),
  ];
  if (open.length === 0) return;
  if (!consent.canAsk) {
    const message = `A prompt is not possible, and this deployment\n  ${open.join('\n  ')}`;
    throw new CommandFailure(message, deployFailed);
  }
  const answer = await context.prompt('Are you sure you want to continue y/n? ');
  if (/^y(es)?$/i.test(answer)) return;
  throw new CommandFailure('Not deployed', deployFailed);
}
